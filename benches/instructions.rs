//! Replays one workload for `benchmarks/instructions.py`, which counts its instructions under callgrind.
//!
//! Only [`measured_replay`] is counted, without start-up and recording. Without arguments all workloads are replayed.

mod workload;

use starmine::batch::Batch;
use workload::{Stage, Workload, finished};

const GAMES: usize = 64;
const STEPS: usize = 100;
/// Games that end in one replay, for each number of players.
const FINISHED: [(u8, u64); 2] = [(2, 467), (5, 299)];

/// The counted function; callgrind finds it by its name.
#[inline(never)]
fn measured_replay(workload: &mut Workload, batch: &mut Batch) {
    workload.replay(batch);
}

fn replay(stage: Stage, players: u8, expected: u64) {
    let mut workload = Workload::record(stage, players, GAMES, STEPS);
    let mut batch = workload.start();
    measured_replay(&mut workload, &mut batch);
    assert_eq!(finished(&batch), expected, "games that ended in the replay");
    println!("{} {players}: {} steps", stage.name(), workload.steps());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut replayed = 0;
    for (players, expected) in FINISHED {
        for stage in Stage::ALL {
            if arguments.is_empty() || arguments == [stage.name(), &players.to_string()] {
                replay(stage, players, expected);
                replayed += 1;
            }
        }
    }
    assert!(
        replayed > 0,
        "{arguments:?}: expected a stage and a number of players, such as: bits 2"
    );
}

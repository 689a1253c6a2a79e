//! The time of each stage of a step: `cargo bench --bench step`.
//!
//! Every replay must end the expected number of games, which shows that the steps were played.

mod workload;

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use workload::{Stage, Workload, finished};

const GAMES: usize = 1024;
const STEPS: usize = 100;
/// Games that end in one replay, for each number of players.
const FINISHED: [(u8, u64); 2] = [(2, 7641), (5, 4784)];

fn step(criterion: &mut Criterion) {
    for (players, expected) in FINISHED {
        let mut group = criterion.benchmark_group(format!("{players} players"));
        for stage in Stage::ALL {
            let mut workload = Workload::record(stage, players, GAMES, STEPS);
            group.throughput(Throughput::Elements(workload.steps() as u64));
            group.bench_function(stage.name(), |bencher| {
                bencher.iter_custom(|replays| {
                    (0..replays).map(|_| timed_replay(&mut workload, expected)).sum()
                });
            });
        }
        group.finish();
    }
}

fn timed_replay(workload: &mut Workload, expected: u64) -> Duration {
    let mut batch = workload.start();
    let start = Instant::now();
    workload.replay(&mut batch);
    let elapsed = start.elapsed();
    assert_eq!(finished(&batch), expected, "games that ended in the replay");
    elapsed
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = step
}
criterion_main!(benches);

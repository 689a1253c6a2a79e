//! The outputs of a batch.

use starmine::batch::{ObservationBuffer, Outputs};
use starmine::buffers::WriteOnly;
use starmine::rules::Variant;

/// A buffer for every output.
#[derive(Clone, PartialEq)]
pub struct Columns {
    pub obs: Vec<u8>,
    pub action_mask: Vec<bool>,
    pub reward: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
    pub current_player: Vec<i32>,
    pub score: Vec<i32>,
    pub final_score: Vec<i32>,
    pub final_length: Vec<i32>,
    pub final_ending: Vec<i8>,
    pub illegal_action: Vec<bool>,
}

impl Columns {
    /// Buffers for packed observations of `width` bytes a game, filled with values that no output has.
    pub fn new(variant: &Variant, num_envs: usize, width: usize) -> Columns {
        Columns {
            obs: vec![0xa5; num_envs * width],
            action_mask: vec![true; num_envs * variant.num_actions()],
            reward: vec![-99.0; num_envs],
            terminated: vec![true; num_envs],
            truncated: vec![true; num_envs],
            current_player: vec![-99; num_envs],
            score: vec![-99; num_envs],
            final_score: vec![-99; num_envs],
            final_length: vec![-99; num_envs],
            final_ending: vec![-99; num_envs],
            illegal_action: vec![true; num_envs],
        }
    }

    pub fn outputs(&mut self) -> Outputs<'_> {
        Outputs {
            obs: Some(ObservationBuffer::Bits(WriteOnly::new(&mut self.obs))),
            action_mask: Some(WriteOnly::new(&mut self.action_mask)),
            reward: Some(WriteOnly::new(&mut self.reward)),
            terminated: Some(WriteOnly::new(&mut self.terminated)),
            truncated: Some(WriteOnly::new(&mut self.truncated)),
            current_player: Some(WriteOnly::new(&mut self.current_player)),
            score: Some(WriteOnly::new(&mut self.score)),
            final_score: Some(WriteOnly::new(&mut self.final_score)),
            final_length: Some(WriteOnly::new(&mut self.final_length)),
            final_ending: Some(WriteOnly::new(&mut self.final_ending)),
            illegal_action: Some(WriteOnly::new(&mut self.illegal_action)),
            ..Outputs::default()
        }
    }

    /// Panics where an output of this game is not the expected one.
    pub fn compare_game(&self, expected: &Columns, game: usize, place: &str) {
        let num_envs = self.reward.len();
        macro_rules! compare {
            ($($name:ident)+) => {
                $({
                    let width = self.$name.len() / num_envs;
                    let range = game * width..(game + 1) * width;
                    let (found, expected) = (&self.$name[range.clone()], &expected.$name[range]);
                    let name = stringify!($name);
                    if let Some(index) = (0..width).find(|&at| found[at] != expected[at]) {
                        let (found, expected) = (&found[index], &expected[index]);
                        panic!("{place}, game {game}, {name}[{index}]: {found:?} for {expected:?}");
                    }
                })+
            };
        }
        compare!(reward terminated truncated illegal_action current_player score final_score);
        compare!(final_length final_ending action_mask obs);
    }
}

/// How much a search does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Roll-outs of one decision, over all moves.
    pub rollouts: u32,
    /// Milliseconds after which a decision is made with the roll-outs that it has; `None` for no limit. With a limit,
    /// results differ from run to run.
    pub milliseconds: Option<u32>,
    /// Possible own hands that are kept. A belief of no more hands is exact.
    pub hands: usize,
    /// What the mean score of a move must exceed that of the blueprint's move by.
    pub threshold: f64,
}

impl SearchOptions {
    /// The most roll-outs.
    pub const ROLLOUTS: u32 = 1_000_000_000;
    /// The most milliseconds.
    pub const MILLISECONDS: u32 = 1_000_000_000;
    /// The most hands.
    pub const HANDS: u32 = 100_000;
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { rollouts: 10_000, milliseconds: None, hands: 4_096, threshold: 0.1 }
    }
}

//! How much a search does, and how it chooses.

/// How a search judges the moves by their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// One seat searches, its teammates play by the blueprint (SPARTA: Lerer, Hu, Foerster and Brown, "Improving policies
    /// via search in cooperative partially observable games", 2020).
    Single,
    /// Every seat may search: each takes one step of mirror descent from the blueprint's probabilities towards better
    /// moves, and makes the likeliest one (Sokota et al., "The update-equivalence framework for decision-time planning",
    /// 2023).
    Mirror {
        /// What a point is worth in the logarithm of a probability.
        step: f64,
    },
}

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
    /// Length of a roll-out in moves, after which the policy's network values its position; `None` to play to the end.
    pub depth: Option<u32>,
    /// What the mean score of a move must exceed that of the blueprint's move by, with [`Method::Single`].
    pub threshold: f64,
    /// How it judges.
    pub method: Method,
}

impl SearchOptions {
    /// The most roll-outs.
    pub const ROLLOUTS: u32 = 1_000_000_000;
    /// The most milliseconds.
    pub const MILLISECONDS: u32 = 1_000_000_000;
    /// The greatest depth.
    pub const DEPTH: u32 = 1_000;
    /// The most hands.
    pub const HANDS: u32 = 100_000;
    /// The thresholds.
    pub const THRESHOLD: NumberRange =
        NumberRange { least: 0.0, most: 100.0, text: "a number from 0 to 100" };
    /// The steps of [`Method::Mirror`].
    pub const STEPS: NumberRange = NumberRange {
        least: f64::MIN_POSITIVE,
        most: 1e6,
        text: "a number above 0, up to 1000000",
    };
    /// The step of [`Method::Mirror`] where none is given.
    pub const STEP: f64 = 10.0;
}

/// The values that a number may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    least: f64,
    most: f64,
    /// The range in words.
    pub text: &'static str,
}

impl NumberRange {
    /// Whether a number is one of these values.
    #[must_use]
    pub fn contains(&self, number: f64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            rollouts: 10_000,
            milliseconds: None,
            hands: 4_096,
            depth: None,
            threshold: 0.1,
            method: Method::Single,
        }
    }
}

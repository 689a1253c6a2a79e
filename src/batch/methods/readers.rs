//! What a batch tells of its settings and its games.

use std::sync::Arc;

use crate::batch::{Axis, Batch, Observers, Options};
use crate::buffers::InstructionSet;
use crate::encode::Layout;
use crate::rules::{ActionSet, EpisodeSeed, Position, Seat, SeerView, Variant, View};

impl Batch {
    /// The rules that are played.
    #[must_use]
    pub const fn variant(&self) -> &Arc<Variant> {
        &self.config.variant
    }

    /// The named sections of an observation.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.config.layout
    }

    /// The settings of the batch.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.config.options
    }

    /// The instruction set that the batch runs on.
    #[must_use]
    pub const fn simd(&self) -> InstructionSet {
        self.config.simd
    }

    /// The number of games, called environments in reinforcement learning.
    #[must_use]
    pub const fn num_envs(&self) -> usize {
        self.seeds.len()
    }

    /// The seed that the batch was last seeded with.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of observation rows for each game: 1, or one for each seat.
    #[must_use]
    pub fn num_observers(&self) -> usize {
        self.config.num_observers()
    }

    /// The number of elements in an observation row: the length of the layout, or for
    /// [`Dtype::Bits`](crate::batch::Dtype::Bits) the bytes of whole 64-bit words.
    #[must_use]
    pub fn row_length(&self) -> usize {
        self.config.row_length()
    }

    /// Shows a game as a seat sees it. The view has no history.
    ///
    /// # Panics
    /// If there is no such game or no such seat, or an earlier call was interrupted halfway.
    ///
    /// ```
    /// # use starmine::batch::{Batch, Options};
    /// # use starmine::rules::{Seat, Variant};
    /// let variant = Variant::default();
    /// let batch = Batch::new(variant, 64, 1, Options::default())?;
    /// assert_eq!(batch.look(63, Seat::FIRST, |view| view.information_tokens()), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn look<T>(&self, game: usize, observer: Seat, look: impl FnOnce(&View<'_>) -> T) -> T {
        let position = self.position(game);
        look(&View::new(self.variant(), &position, observer))
    }

    /// Shows a game as a seat would see it with its own hand face up; otherwise as
    /// [`Batch::look`].
    ///
    /// # Panics
    /// As [`Batch::look`].
    pub fn look_as_seer<T>(
        &self,
        game: usize,
        observer: Seat,
        look: impl FnOnce(&SeerView<'_>) -> T,
    ) -> T {
        let position = self.position(game);
        look(&SeerView::new(self.variant(), &position, observer))
    }

    /// The position of one game.
    pub(crate) fn position(&self, game: usize) -> Position {
        assert!(game < self.num_envs(), "there is no game {game}");
        self.whole_games().position(game, &self.config.variant)
    }

    /// The episode that each game is in. `State::new` deals it again, unless its deck was given or a
    /// world was written.
    pub fn episodes(&self) -> impl ExactSizeIterator<Item = EpisodeSeed> + '_ {
        self.seeds.iter().map(|seed| seed.episode())
    }

    /// For each game the seat to act; `None` if the game is over.
    ///
    /// # Panics
    /// If an earlier call was interrupted halfway.
    pub fn to_act(&self) -> impl ExactSizeIterator<Item = Option<Seat>> + '_ {
        let games = self.whole_games();
        (0..self.num_envs()).map(|game| games.to_act(game))
    }

    /// The legal actions of the seat to act in a game; none if the game is over.
    ///
    /// # Panics
    /// If there is no such game, or an earlier call was interrupted halfway.
    #[must_use]
    pub fn legal_actions(&self, game: usize) -> ActionSet {
        assert!(game < self.num_envs(), "there is no game {game}");
        self.whole_games().legal_actions(game)
    }

    /// The shape of an output's array. The first axis counts the games. The array lacks the axis of
    /// observers where only the seat to act is observed.
    pub(crate) fn shape(&self, axes: &[Axis]) -> Vec<usize> {
        let is_in_array =
            |axis: &Axis| *axis != Axis::Observers || self.options().observers == Observers::All;
        let axes = axes.iter().copied().filter(is_in_array);
        [self.num_envs()].into_iter().chain(axes.map(|axis| axis.length(&self.config))).collect()
    }
}

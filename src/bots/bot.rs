use crate::rules::{Event, GameRng, Move, Position, Variant, View};

/// A turn that was played, as one seat saw it.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The table before the turn.
    pub before: View<'a>,
    /// What happened. The observer's own draw is hidden.
    pub event: Event,
    /// The table after the turn.
    pub after: View<'a>,
}

/// A player in one seat. It gets nothing but views of that seat, so it cannot look at
/// its own hand or at the deck.
pub trait Bot: BoxedClone + Send + Sync {
    /// A new game is dealt, of which this is the seat's view; all earlier games are over and
    /// forgotten. The bot makes its random choices with `rng` alone, so that a game can be
    /// replayed.
    fn start(&mut self, view: &View<'_>, rng: GameRng);

    /// A turn was played, by this seat or another one.
    fn observe(&mut self, turn: &Turn<'_>) {
        let _ = turn;
    }

    /// Whether [`Bot::observe`] is to be called at all.
    fn observes(&self) -> bool {
        true
    }

    /// The seat is to act.
    fn act(&mut self, view: &View<'_>) -> Move;
}

/// Not a player: it is shown the open table, its own hand too. An upper bound for those who are
/// not.
pub trait OpenBot: OpenBoxedClone + Send + Sync {
    /// The player to act is this one's.
    fn act(&mut self, variant: &Variant, position: &Position) -> Move;
}

/// Copies behind a box.
pub trait BoxedClone {
    /// A bot in the same state, which goes on by itself.
    fn boxed_clone(&self) -> Box<dyn Bot>;
}

impl<B: Bot + Clone + 'static> BoxedClone for B {
    fn boxed_clone(&self) -> Box<dyn Bot> {
        Box::new(self.clone())
    }
}

/// Copies behind a box.
pub trait OpenBoxedClone {
    /// One in the same state, which goes on by itself.
    fn boxed_clone(&self) -> Box<dyn OpenBot>;
}

impl<B: OpenBot + Clone + 'static> OpenBoxedClone for B {
    fn boxed_clone(&self) -> Box<dyn OpenBot> {
        Box::new(self.clone())
    }
}

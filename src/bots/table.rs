//! Bots of one kind at a table, for tests of their conventions.

use std::sync::Arc;

use super::bot::{Bot, Turn};
use crate::rules::{Card, EpisodeSeed, GameRng, Move, Parameters, Seat, State, Variant};

/// A game and the bots of all seats.
pub(super) struct Table<B> {
    pub state: State,
    pub bots: Vec<B>,
}

impl<B: Bot + Default> Table<B> {
    /// A base game with these cards on top of the deck: the hands, the oldest card first, and then
    /// the cards to draw. The rest of the deck is in index order.
    pub fn deal(players: u8, cards: &str) -> Table<B> {
        let parameters = Parameters { players, ..Parameters::default() };
        let variant = Arc::new(Variant::new(parameters).unwrap());
        let mut deck: Vec<Card> = cards.split(' ').map(|card| card.parse().unwrap()).collect();
        for card in variant.card_kinds() {
            let dealt = deck.iter().filter(|&&other| other == card).count();
            deck.extend((dealt..variant.copies(card).into()).map(|_| card));
        }
        Table::new(State::from_deck(variant, deck, Seat::FIRST).unwrap())
    }

    pub fn new(state: State) -> Table<B> {
        let bots = (0..state.variant().players()).map(|_| B::default()).collect();
        let mut table = Table { state, bots };
        table.start();
        table
    }

    /// Tells the bots that the game starts.
    pub fn start(&mut self) {
        for (seat, bot) in Seat::ALL.into_iter().zip(&mut self.bots) {
            bot.start(&self.state.view(seat), GameRng::for_seat(EpisodeSeed::default(), seat));
        }
    }

    /// The move that the bot to act chooses.
    pub fn choice(&mut self) -> Move {
        let seat = self.state.position().current_player;
        self.bots[seat.index()].act(&self.state.view(seat))
    }

    /// Plays a move, whoever chose it.
    pub fn play(&mut self, played: Move) {
        let before = self.state.clone();
        let action = before.variant().move_to_action(played).unwrap();
        self.state.apply(action).unwrap();
        let event = *self.state.history().last().unwrap();
        for (seat, bot) in Seat::ALL.into_iter().zip(&mut self.bots) {
            let after = self.state.view(seat);
            bot.observe(&Turn { before: before.view(seat), event: event.seen_by(seat), after });
        }
    }

    /// The moves that the bots choose in the next turns.
    pub fn moves(&mut self, turns: usize) -> Vec<String> {
        let moves = (0..turns).map(|_| {
            let chosen = self.choice();
            self.play(chosen);
            self.state.variant().edition().meaning(chosen)
        });
        moves.collect()
    }
}

//! Bots of one kind at a table, for tests of their conventions.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use super::player::Player;
use super::seats::Seats;
use crate::bots::bot::Bot;
use crate::rules::{Card, EpisodeSeed, GameRng, Move, Parameters, Seat, State, Variant};

/// A game and the bots of all seats.
pub(crate) struct BotTable<B> {
    pub state: State,
    seats: Seats,
    bots: PhantomData<B>,
}

impl<B: Bot + Default> BotTable<B> {
    /// A base game with these cards on top of the deck: the hands, the oldest card first, and then
    /// the cards to draw. The rest of the deck is in index order.
    pub fn deal(players: u8, cards: &str) -> BotTable<B> {
        let parameters = Parameters { players: players.into(), ..Parameters::default() };
        let variant = Arc::new(Variant::new(parameters).unwrap());
        let mut deck: Vec<Card> = cards.split(' ').map(|card| card.parse().unwrap()).collect();
        for card in variant.card_kinds() {
            let dealt = deck.iter().filter(|&&other| other == card).count();
            deck.extend((dealt..variant.copies(card).into()).map(|_| card));
        }
        BotTable::new(State::from_deck(variant, deck, Seat::FIRST).unwrap())
    }

    pub fn new(state: State) -> BotTable<B> {
        let players = vec![Player::bot(B::default()); state.variant().players().into()];
        let mut table = BotTable { state, seats: Seats::new(players), bots: PhantomData };
        table.start();
        table
    }

    /// The bots by seat.
    pub fn bots(&self) -> Vec<&B> {
        fn bot<B: Bot>(player: &Player) -> &B {
            let Player::Bot(bot) = player else { panic!("all seats have bots") };
            (&**bot as &dyn Any).downcast_ref().unwrap()
        }
        self.seats.players().iter().map(bot).collect()
    }

    /// Tells the bots that the game starts.
    pub fn start(&mut self) {
        let rng = |seat| GameRng::for_seat(EpisodeSeed::default(), seat);
        self.seats.start(self.state.view(Seat::FIRST), rng);
    }

    /// The move that the bot to act chooses.
    pub fn choice(&mut self) -> Move {
        let seat = self.state.current_player();
        self.seats.bot(seat).unwrap().act(&self.state.view(seat))
    }

    /// Plays a move, whoever chose it.
    pub fn play(&mut self, played: Move) {
        let before = self.state.clone();
        self.state.play(played).unwrap();
        self.seats.tell(before.view(Seat::FIRST), self.state.view(Seat::FIRST), None);
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

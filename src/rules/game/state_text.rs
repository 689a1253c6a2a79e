//! The table as text: a state shows all of it, a view what its seat may see.

use std::fmt::{self, Display, Formatter};

use crate::rules::cards::card::Card;
use crate::rules::game::state::State;
use crate::rules::small_index::{Offset, Seat};
use crate::rules::views::view::View;

/// Shows tokens, fireworks, each hand with its hints, and the discard pile.
impl Display for State {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (variant, position) = (self.variant(), self.position());
        write_counts(formatter, &self.view(Seat::default()))?;
        for seat in variant.seats() {
            let acting = self.ending().is_none() && seat == position.current_player;
            write!(formatter, "seat {seat} {}  ", if acting { "->" } else { "  " })?;
            let cards = position.hand(variant, seat).map(Some);
            write_hand(formatter, &self.view(seat), Offset::OWN, cards)?;
        }
        write_end(formatter, &self.view(Seat::default()))
    }
}

/// Shows the same as a state, with the observer's cards hidden. Next to each seat is its offset,
/// which hints use.
impl Display for View<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write_counts(formatter, self)?;
        for seat in self.variant().seats() {
            let acting = self.ending().is_none() && seat == self.current_player();
            let offset = self.offset(seat);
            let whose =
                if offset == Offset::OWN { "you".to_owned() } else { format!("+{offset} ") };
            write!(formatter, "seat {seat} {whose} {}  ", if acting { "->" } else { "  " })?;
            if offset == Offset::OWN {
                let hidden = std::iter::repeat_n(None, self.hand_size(offset));
                write_hand(formatter, self, offset, hidden)?;
            } else {
                write_hand(formatter, self, offset, self.hand(offset).map(Some))?;
            }
        }
        write_end(formatter, self)
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<String>>().join(" ")
}

/// Writes the counters and the fireworks.
fn write_counts(formatter: &mut Formatter<'_>, view: &View<'_>) -> fmt::Result {
    let variant = view.variant();
    let information = (view.information_tokens(), variant.max_information_tokens());
    let lives = (view.life_tokens(), variant.max_life_tokens());
    if let Some(history) = view.history() {
        write!(formatter, "turn {}  ", history.len())?;
    }
    write!(formatter, "score {}/{}", view.score(), variant.max_score())?;
    write!(formatter, "  information {}/{}", information.0, information.1)?;
    write!(formatter, "  lives {}/{}", lives.0, lives.1)?;
    writeln!(formatter, "  deck {}", view.deck_size())?;
    let edition = variant.edition();
    let stacks = variant.all_suits().zip(view.fireworks());
    let stacks = stacks.map(|(suit, height)| format!("{}{height}", edition.letter(suit)));
    writeln!(formatter, "fireworks  {}", join(stacks))
}

/// Writes the cards of a hand, a hidden one as `??`, and what hints named of each.
fn write_hand(
    formatter: &mut Formatter<'_>,
    view: &View<'_>,
    offset: Offset,
    cards: impl Iterator<Item = Option<Card>>,
) -> fmt::Result {
    let edition = view.variant().edition();
    for (knowledge, card) in view.hand_knowledge(offset).iter().zip(cards) {
        let suit = knowledge.hinted_suit(view.variant()).map_or('-', |suit| edition.letter(suit));
        let rank =
            knowledge.hinted_rank(view.variant()).map_or("-".into(), |rank| rank.to_string());
        let card = card.map_or("??".to_owned(), |card| edition.card(card));
        write!(formatter, " {card}[{suit}{rank}]")?;
    }
    writeln!(formatter)
}

/// The discarded cards: in the order of their turns, or by suit and rank where turns are not kept.
fn discards(view: &View<'_>) -> Vec<Card> {
    match view.history() {
        Some(history) => {
            history.filter(|event| !event.added).filter_map(|event| event.card).collect()
        }
        None => {
            let copies = |card| std::iter::repeat_n(card, view.discarded(card).into());
            view.variant().card_kinds().flat_map(copies).collect()
        }
    }
}

/// Writes the discard pile, and who is to act or how the game ended.
fn write_end(formatter: &mut Formatter<'_>, view: &View<'_>) -> fmt::Result {
    let edition = view.variant().edition();
    let discards = join(discards(view).into_iter().map(|card| edition.card(card)));
    writeln!(formatter, "discards   {}", if discards.is_empty() { "-" } else { &discards })?;
    match view.ending() {
        Some(ending) => write!(formatter, "over: {ending}"),
        None => write!(formatter, "seat {} to act", view.current_player()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules::{EpisodeSeed, Move, Parameters, Slot, Variant};

    #[test]
    fn a_view_without_turns_shows_its_discards_and_names_no_turn() {
        let variant = Arc::new(Variant::new(Parameters::default()).unwrap());
        let mut state = State::new(variant, EpisodeSeed::new(7));
        state.play(Move::Play { slot: Slot::OLDEST }).unwrap();
        state
            .legal_moves()
            .find(|found| matches!(found, Move::Hint { .. }))
            .map(|hint| state.play(hint));
        state.play(Move::Discard { slot: Slot::OLDEST }).unwrap();
        let kept = state.view(Seat::FIRST);
        let bare = View::new(state.variant(), state.position(), Seat::FIRST);
        assert!(kept.history().is_some() && bare.history().is_none());
        let (kept, bare) = (kept.to_string(), bare.to_string());
        assert!(kept.starts_with("turn 3  score") && bare.starts_with("score"), "{bare}");
        let discards = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("discards")).unwrap().to_owned();
            let mut cards: Vec<String> =
                line.split_whitespace().skip(1).map(str::to_owned).collect();
            cards.sort();
            cards
        };
        assert_eq!(discards(&kept), discards(&bare));
        assert!(!discards(&bare).contains(&"-".to_owned()));
    }
}

//! A state as text.

use std::fmt::{self, Display, Formatter};

use super::state::State;

/// Shows tokens, fireworks, each hand with its hints, and the discard pile.
impl Display for State {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.write_counts(formatter)?;
        let (variant, edition) = (self.variant(), self.variant().edition());
        let stacks = variant.suits().zip(self.position().fireworks(variant));
        let stacks = stacks.map(|(suit, height)| format!("{}{height}", edition.letter(suit)));
        writeln!(formatter, "fireworks  {}", join(stacks))?;
        for seat in 0..usize::from(variant.players()) {
            self.write_hand(formatter, seat)?;
        }
        let discards = join(self.discard_pile().map(|card| edition.card(card)));
        writeln!(formatter, "discards   {}", if discards.is_empty() { "-" } else { &discards })?;
        match self.ending() {
            Some(ending) => write!(formatter, "over: {ending}"),
            None => write!(formatter, "seat {} to act", self.position().current_player()),
        }
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<String>>().join(" ")
}

impl State {
    fn write_counts(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (variant, position) = (self.variant(), self.position());
        let information = (position.information_tokens(), variant.max_information_tokens());
        let lives = (position.life_tokens(), variant.max_life_tokens());
        write!(
            formatter,
            "turn {}  score {}/{}",
            self.length(),
            self.score(),
            variant.max_score()
        )?;
        write!(formatter, "  information {}/{}", information.0, information.1)?;
        write!(formatter, "  lives {}/{}", lives.0, lives.1)?;
        writeln!(formatter, "  deck {}", position.deck_size())
    }

    fn write_hand(&self, formatter: &mut Formatter<'_>, seat: usize) -> fmt::Result {
        let (variant, position) = (self.variant(), self.position());
        let edition = variant.edition();
        let acting = self.ending().is_none() && seat == position.current_player();
        write!(formatter, "seat {seat} {}  ", if acting { "->" } else { "  " })?;
        for (slot, card) in position.hand(variant, seat).enumerate() {
            let knowledge = position.hands[seat].knowledge[slot];
            let suit = knowledge.hinted_suit(variant).map_or('-', |suit| edition.letter(suit));
            let rank = knowledge.hinted_rank(variant).map_or("-".into(), |rank| rank.to_string());
            write!(formatter, " {}[{suit}{rank}]", edition.card(card))?;
        }
        writeln!(formatter)
    }
}

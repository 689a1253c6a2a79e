//! A variant as text.

use std::fmt::{self, Display, Formatter};

use crate::rules::variants::switches::SWITCHES;
use crate::rules::variants::variant::Variant;

impl Display for Variant {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} players, ", self.players())?;
        write!(formatter, "{} colours x {} ranks, ", self.colors(), self.ranks())?;
        write!(formatter, "hand of {}, ", self.hand_size())?;
        write!(formatter, "{} information tokens, ", self.max_information_tokens())?;
        write!(formatter, "{} life tokens", self.max_life_tokens())?;
        for switch in SWITCHES.iter().filter(|switch| switch.is_on(self.parameters())) {
            write!(formatter, ", {}", switch.name.replace('_', " "))?;
        }
        Ok(())
    }
}

//! Cards, and sets of cards, copies and slots: what is in the deck, and what is known of cards that are hidden.

pub(in crate::rules) mod bit_set;
pub(in crate::rules) mod card;
pub(in crate::rules) mod card_set;
pub(in crate::rules) mod deck;
pub(in crate::rules) mod knowledge;
pub(in crate::rules) mod outlook;
pub(in crate::rules) mod select;
pub(in crate::rules) mod slot_set;

//! Two bots that play by hat guessing, an idea of Cox, De Silva, DeOrsey, Kenter, Retter and
//! Tobin, "How to make the perfect fireworks display: two strategies for Hanabi", 2015.
//!
//! Each hint, and each discard of one of several useless cards, sends a number to all other seats
//! at once. The number is the sum of one term for each receiver, modulo the number of messages.
//! A receiver sees all other hands, computes their terms, and so finds its own term. The term
//! answers questions about its hand, and everybody can derive the questions from the common
//! knowledge.
//!
//! - `hand_knowledge`, `suits_or_ranks`: what may be in a hand, and the suits and ranks of these kinds
//! - `public_knowledge`: what all seats know, and the messages
//! - `private_knowledge`: what the seat to act knows, and the scores of its cards and hints
//! - `quuxplusone`: `info`, `InfoBot` of Arthur O'Dwyer's <https://github.com/Quuxplusone/Hanabi>
//! - `hanabi_rs`: `information`, the information strategy of Jeff Wu's <https://github.com/WuTheFWasThat/hanabi.rs>

mod hanabi_rs;
mod hand_knowledge;
mod private_knowledge;
mod public_knowledge;
mod quuxplusone;
mod suits_or_ranks;

pub use hanabi_rs::InformationStrategy;
pub use quuxplusone::InfoBot;

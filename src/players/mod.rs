//! Players by their text: bots, trained policies, and searches with one of them.
//!
//! A [`PlayerSpec`] is parsed from a text and makes a [`Player`](crate::bots::Player) for a variant.

// - `player_spec`: the forms of a player, and how each makes a `Player`
// - `text`: parses and displays the text of a player; `search_text`: splits the text of a search into
//   its parts; `policy_source`: a policy in a text
// - `stored_players`: players in stored batches and pickles, with the weights of their policies
// - `error`: why a text names no player

mod error;
mod player_spec;
mod policy_source;
mod search_text;
mod stored_players;
#[cfg(test)]
mod tests;
mod text;

pub use error::PlayerSpecError;
pub use player_spec::PlayerSpec;
pub(crate) use search_text::SearchText;
pub(crate) use stored_players::StoredPlayer;

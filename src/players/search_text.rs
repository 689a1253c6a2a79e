//! The parts of a search's text. No part is checked here, and no file is read.

/// The parts of the text of a player that searches, such as `search: smart; rollouts=1000`.
///
/// Neither the blueprint nor the options are checked, so that no policy's file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText<'a> {
    /// The blueprint's text.
    pub blueprint: &'a str,
    /// The names and the values of the options, in their order.
    pub options: Vec<(&'a str, &'a str)>,
}

impl SearchText<'_> {
    /// Prefix of a player that searches; its blueprint and its options follow.
    pub(super) const PREFIX: &'static str = "search:";

    /// The parts of a text; `None` for the text of another player.
    #[must_use]
    pub fn of(text: &str) -> Option<SearchText<'_>> {
        let mut blueprint = text.trim_start().strip_prefix(SearchText::PREFIX)?.trim();
        let mut options = Vec::new();
        while let Some((before, last)) = blueprint.rsplit_once(';') {
            let Some((name, value)) = last.split_once('=') else { break };
            let (name, value) = (name.trim(), value.trim());
            // A rule with a condition has spaces.
            if name.contains(char::is_whitespace) {
                break;
            }
            options.push((name, value));
            blueprint = before.trim_end();
        }
        options.reverse();
        Some(SearchText { blueprint, options })
    }
}

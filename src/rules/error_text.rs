//! The text of an error with its causes.

use std::error::Error;

/// The text of an error and those of its sources, the outermost first. A source whose text is in
/// the text so far is left out.
pub fn error_text(error: &(dyn Error + 'static)) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(source) = next {
        let inner = source.to_string();
        if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        next = source.source();
    }
    text
}

//! Enums whose values have public names, such as editions and endings, and the error for an unknown
//! name.

use std::str::FromStr;

use strum::VariantArray;
use thiserror::Error;

/// An enum whose values have public names, which Python and stored files use. `strum` derives the
/// names.
pub trait Named: VariantArray + FromStr + Into<&'static str> + Copy {
    /// What messages call the values, such as `edition`.
    const KIND: &'static str;

    /// All values in order.
    const ALL: &'static [Self] = Self::VARIANTS;

    /// The name that Python sees.
    #[must_use]
    fn name(self) -> &'static str {
        self.into()
    }

    /// The value with this name.
    ///
    /// # Errors
    /// [`UnknownNameError`] if no value has this name.
    fn from_name(name: &str) -> Result<Self, UnknownNameError> {
        let names = || Self::ALL.iter().map(|value| value.name());
        name.parse().map_err(|_| UnknownNameError::new(Self::KIND, name, names()))
    }
}

/// Defines an enum whose values have public names. `$kind` is its [`Named::KIND`], and `$case` the
/// case of the names.
macro_rules! named {
    ($kind:literal, $case:literal, $(#[$attribute:meta])* $type:ident { $($values:tt)+ }) => {
        $(#[$attribute])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
            strum::EnumString, strum::IntoStaticStr, strum::VariantArray,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $type {
            $($values)+
        }

        impl Named for $type {
            const KIND: &'static str = $kind;
        }
    };
}

pub(crate) use named;

/// An unknown name of a preset, an encoder, a bot or another named value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{kind}={name:?} is not known: did you mean {nearest:?}? Expected one of {}", known.join(", "))]
pub struct UnknownNameError {
    /// What the name was given for, such as `variant`.
    pub kind: Box<str>,
    /// The name that was given.
    pub name: Box<str>,
    /// The known name that is most similar to it.
    pub nearest: Box<str>,
    /// All known names.
    pub known: Box<[String]>,
}

impl UnknownNameError {
    /// The error for the name of a `kind` that is not among the known names.
    pub fn new(
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = impl Into<String>>,
    ) -> UnknownNameError {
        let known: Box<[String]> = known.into_iter().map(Into::into).collect();
        let nearest = nearest(name, &known).into();
        UnknownNameError { kind: kind.into(), name: name.into(), nearest, known }
    }
}

fn nearest<'a>(name: &str, known: &'a [String]) -> &'a str {
    let name = name.to_lowercase();
    let similarity = |known: &String| strsim::jaro_winkler(&name, &known.to_lowercase());
    let nearest = known.iter().max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
    nearest.map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Edition;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["standard", "hard", "crowning-piece"];
        let error = |name| UnknownNameError::new("variant", name, known);
        assert_eq!(
            error("standrad").to_string(),
            "variant=\"standrad\" is not known: did you mean \"standard\"? \
             Expected one of standard, hard, crowning-piece"
        );
        for (name, nearest) in [("HARD", "hard"), ("hrd", "hard"), ("crowning", "crowning-piece")] {
            assert_eq!(&*error(name).nearest, nearest);
        }
    }

    #[test]
    fn values_are_found_by_their_names() {
        for &edition in Edition::ALL {
            assert_eq!(Edition::from_name(edition.name()), Ok(edition));
        }
        let error = Edition::from_name("ikebanna").unwrap_err();
        assert_eq!((&*error.kind, &*error.nearest), ("edition", "ikebana"));
    }
}

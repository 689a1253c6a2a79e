//! Enums whose values have public names, such as editions and endings, and the error for an unknown
//! name.

use thiserror::Error;

/// Defines an enum whose values have public names, which also stand in stored files. Messages call
/// a value `$kind`, such as `edition`.
macro_rules! named {
    ($kind:literal, $(#[$attribute:meta])* $type:ident {
        $($(#[$about:meta])* $value:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$about])* #[serde(rename = $name)] $value,)+
        }

        impl $type {
            /// All values in order.
            pub const ALL: &'static [$type] = &[$($type::$value),+];

            /// The name, as texts and stored files have it. [`str::parse`] reads it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::rules::UnknownNameError;

            fn from_str(name: &str) -> Result<$type, crate::rules::UnknownNameError> {
                let name_of = |value: &$type| value.name();
                crate::rules::find_named($kind, $type::ALL, name_of, name).copied()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

pub(crate) use named;

/// An unknown name of a preset, an encoder, a bot or another named value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{kind}={name:?} is not known: {}", self.hint())]
pub struct UnknownNameError {
    /// What the name was given for, such as `variant`.
    pub kind: Box<str>,
    /// The name that was given.
    pub name: Box<str>,
    /// The known name that is most similar to it, if one is near.
    pub nearest: Option<Box<str>>,
    /// All known names.
    pub known: Box<[String]>,
}

impl UnknownNameError {
    /// The error for the name of a `kind` that is not among the known names.
    pub(crate) fn new(
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = impl Into<String>>,
    ) -> UnknownNameError {
        let known: Box<[String]> = known.into_iter().map(Into::into).collect();
        let nearest = nearest(name, &known).map(Box::from);
        UnknownNameError { kind: kind.into(), name: name.into(), nearest, known }
    }

    /// The known names, after the nearest one if there is one.
    #[must_use]
    pub fn hint(&self) -> String {
        let known = self.known.join(", ");
        match &self.nearest {
            Some(nearest) => format!("did you mean {nearest:?}? Expected one of {known}"),
            None => format!("expected one of {known}"),
        }
    }
}

/// The row of a table with this name. Messages call a row `kind`, such as `variant`.
pub(crate) fn find_named<'a, T>(
    kind: &str,
    rows: &'a [T],
    name_of: impl Fn(&'a T) -> &'a str,
    name: &str,
) -> Result<&'a T, UnknownNameError> {
    let found = rows.iter().find(|row| name_of(row) == name);
    found.ok_or_else(|| UnknownNameError::new(kind, name, rows.iter().map(name_of)))
}

/// The least Jaro-Winkler similarity (0 to 1) of a name that is suggested. Names that differ by one
/// edit are near, too.
const NEAR: f64 = 0.7;

/// The longest text that is compared: the time grows with the product of both lengths.
const LONGEST: usize = 100;

fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let similarity = |known: &String| strsim::jaro_winkler(&name, &known.to_lowercase());
    let short = known.iter().filter(|known| known.len() <= LONGEST);
    let nearest = short.max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
    let is_near = |known: &&String| {
        similarity(known) >= NEAR || strsim::osa_distance(&name, &known.to_lowercase()) <= 1
    };
    nearest.filter(is_near).map(String::as_str)
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
            assert_eq!(error(name).nearest.as_deref(), Some(nearest));
        }
    }

    #[test]
    fn far_names_are_not_suggested() {
        for (name, known) in [
            ("variant", "max_information_tokens"),
            ("seed", "edition"),
            ("illegal_action", "max_life_tokens"),
            ("ignore", "raise"),
            ("search: smart", "best-response-smart"),
        ] {
            let error = UnknownNameError::new("name", name, [known]);
            assert_eq!(error.nearest, None);
            assert_eq!(
                error.to_string(),
                format!("name={name:?} is not known: expected one of {known}")
            );
        }
        for (name, known) in
            [("tow", "two"), ("max_lives", "max_life_tokens"), ("threads", "num_threads")]
        {
            let error = UnknownNameError::new("name", name, [known]);
            assert_eq!(error.nearest.as_deref(), Some(known));
        }
    }

    #[test]
    fn values_are_found_by_their_names() {
        for &edition in Edition::ALL {
            assert_eq!(edition.name().parse(), Ok(edition));
        }
        let error = "ikebanna".parse::<Edition>().unwrap_err();
        assert_eq!((&*error.kind, error.nearest.as_deref()), ("edition", Some("ikebana")));
    }
}

//! Operators of sets that are stored as the bits of one word.

/// Implements `&`, `|` and `-` for a set, and their assigning forms.
macro_rules! set_operators {
    ($set:ident) => {
        impl std::ops::BitAnd for $set {
            type Output = $set;

            fn bitand(self, other: $set) -> $set {
                $set(self.0 & other.0)
            }
        }

        impl std::ops::BitOr for $set {
            type Output = $set;

            fn bitor(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }
        }

        impl std::ops::Sub for $set {
            type Output = $set;

            fn sub(self, other: $set) -> $set {
                $set(self.0 & !other.0)
            }
        }

        impl std::ops::BitAndAssign for $set {
            fn bitand_assign(&mut self, other: $set) {
                self.0 &= other.0;
            }
        }

        impl std::ops::BitOrAssign for $set {
            fn bitor_assign(&mut self, other: $set) {
                self.0 |= other.0;
            }
        }

        impl std::ops::SubAssign for $set {
            fn sub_assign(&mut self, other: $set) {
                self.0 &= !other.0;
            }
        }
    };
}

pub(crate) use set_operators;

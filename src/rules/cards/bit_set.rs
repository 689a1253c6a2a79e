//! Sets that are stored as the bits of one word.

/// Implements what such sets share: the empty set, comparisons, the operators `&`, `|` and `-`, and
/// their assigning forms.
macro_rules! bit_set {
    ($set:ident) => {
        impl $set {
            /// The empty set.
            pub const EMPTY: $set = $set(0);

            /// Whether the set is empty.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether every element is in the other set too.
            #[must_use]
            pub const fn is_subset(self, other: $set) -> bool {
                self.0 & !other.0 == 0
            }

            /// Whether the sets share an element.
            #[must_use]
            pub const fn intersects(self, other: $set) -> bool {
                self.0 & other.0 != 0
            }
        }

        bit_set!($set: BitAnd bitand, BitAndAssign bitand_assign, &);
        bit_set!($set: BitOr bitor, BitOrAssign bitor_assign, |);
        bit_set!($set: Sub sub, SubAssign sub_assign, & !);
    };
    ($set:ident: $trait:ident $name:ident, $assigning:ident $assign:ident, $($operator:tt)+) => {
        impl std::ops::$trait for $set {
            type Output = $set;

            fn $name(self, other: $set) -> $set {
                $set(self.0 $($operator)+ other.0)
            }
        }

        impl std::ops::$assigning for $set {
            fn $assign(&mut self, other: $set) {
                *self = std::ops::$trait::$name(*self, other);
            }
        }
    };
}

pub(crate) use bit_set;

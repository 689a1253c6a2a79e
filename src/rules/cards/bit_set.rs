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

/// Makes a set of one type of element a collection of them. `$at` gives the element with an index.
macro_rules! set_of {
    ($set:ident, $element:ident, $at:expr) => {
        impl $set {
            /// Adds an element, and returns whether it was not in the set.
            pub const fn insert(&mut self, element: $element) -> bool {
                let is_new = !self.contains(element);
                self.0 |= 1 << element.index();
                is_new
            }

            /// Removes an element, and returns whether it was in the set.
            pub const fn remove(&mut self, element: $element) -> bool {
                let was_in = self.contains(element);
                self.0 &= !(1 << element.index());
                was_in
            }
        }

        impl IntoIterator for $set {
            type Item = $element;
            type IntoIter = crate::rules::SetIter<$element>;

            fn into_iter(self) -> Self::IntoIter {
                crate::rules::SetIter { rest: self.0.into(), at: $at }
            }
        }

        impl IntoIterator for &$set {
            type Item = $element;
            type IntoIter = crate::rules::SetIter<$element>;

            fn into_iter(self) -> Self::IntoIter {
                (*self).into_iter()
            }
        }

        impl Extend<$element> for $set {
            fn extend<I: IntoIterator<Item = $element>>(&mut self, elements: I) {
                elements.into_iter().for_each(|element| _ = self.insert(element));
            }
        }

        impl FromIterator<$element> for $set {
            fn from_iter<I: IntoIterator<Item = $element>>(elements: I) -> $set {
                let mut set = $set::EMPTY;
                set.extend(elements);
                set
            }
        }
    };
}

pub(crate) use {bit_set, set_of};

/// The elements of a set in ascending order.
#[derive(Clone, Debug)]
pub struct SetIter<T> {
    pub(in crate::rules) rest: u128,
    pub(in crate::rules) at: fn(usize) -> T,
}

impl<T> Iterator for SetIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.rest == 0 {
            return None;
        }
        let index = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some((self.at)(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.rest.count_ones() as usize;
        (length, Some(length))
    }
}

impl<T> ExactSizeIterator for SetIter<T> {}

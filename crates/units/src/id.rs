//! Ids: numbers of things of one kind, as types, so that ids of different kinds do not mix.

/// Declares an id: a number of 32 bits for things of one kind, which are numbered from 0.
///
/// ```
/// linkpool_units::id! {
///     /// A train.
///     pub struct TrainId;
/// }
/// let names = ["Adler", "Rocket"];
/// assert_eq!(names[TrainId::new(1).index()], "Rocket");
/// ```
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $visibility:vis struct $name:ident;) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        $visibility struct $name(u32);

        #[allow(dead_code)]
        impl $name {
            /// The id that stands for none.
            $visibility const NONE: $name = $name(u32::MAX);

            /// The thing number `index`.
            ///
            /// # Panics In debug builds, if `index` does not fit into 32 bits. Callers refuse so
            /// many things before.
            #[inline]
            $visibility const fn new(index: usize) -> $name {
                debug_assert!(index <= u32::MAX as usize);
                $name(index as u32)
            }

            /// Its place in a list of all things of its kind.
            #[inline]
            $visibility const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id `places` after this one.
            #[inline]
            $visibility const fn plus(self, places: u32) -> $name {
                $name(self.0 + places)
            }

            /// The first `count` ids.
            #[inline]
            $visibility fn first(
                count: usize,
            ) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone {
                (0..count).map($name::new)
            }
        }

        // Packets and keys of timers hold ids as plain numbers.
        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> $name {
                $name(number)
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(id: $name) -> u32 {
                id.0
            }
        }

        impl From<$name> for u64 {
            #[inline]
            fn from(id: $name) -> u64 {
                id.0.into()
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A host: hosts are the first nodes of a fabric.
    pub struct HostId;
}

//! The numbers of subflows.

use std::ops::{Index, IndexMut};

linkpool_units::id! {
    /// A subflow of a connection, which has at most 32. Subflow 0 opens the connection. It indexes
    /// lists that have an entry for each subflow.
    #[derive(serde::Serialize)]
    pub struct SubflowId;
}

impl SubflowId {
    /// The subflow that opens the connection.
    pub const FIRST: SubflowId = SubflowId::new(0);

    /// Does it open the connection?
    #[inline]
    pub const fn is_first(self) -> bool {
        self.index() == 0
    }

    /// Its bit in a set of subflows.
    #[inline]
    pub(crate) const fn bit(self) -> u32 {
        1 << self.index()
    }

    /// Is it in the set `subflows`, of one bit each?
    #[inline]
    pub(crate) const fn is_in(self, subflows: u32) -> bool {
        subflows & self.bit() != 0
    }
}

macro_rules! index {
    ($($list:ty),*) => {$(
        impl<T> Index<SubflowId> for $list {
            type Output = T;

            #[inline]
            fn index(&self, s: SubflowId) -> &T {
                &self[s.index()]
            }
        }

        impl<T> IndexMut<SubflowId> for $list {
            #[inline]
            fn index_mut(&mut self, s: SubflowId) -> &mut T {
                &mut self[s.index()]
            }
        }
    )*};
}

index!([T], Vec<T>);

//! The numbers of subflows.

use smallvec::SmallVec;
use std::ops::{Index, IndexMut};

linkpool_units::id! {
    /// The number of a subflow of a connection. A connection has at most 32 subflows, and subflow 0
    /// opens it. The number indexes lists that have an entry for each subflow.
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

    /// Is it in the set `subflows`, which has a bit for each subflow?
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

index!([T], Vec<T>, SmallVec<[T; 1]>);

//! A number of headers in the queue of a port.

/// A number of headers, and bytes of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Headers {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Headers {
    /// More than any queue ever holds.
    pub(crate) const ENDLESS: Headers = Headers { packets: u32::MAX, bytes: u64::MAX };

    /// Has it room for `other`?
    #[inline]
    pub(crate) fn has_room_for(self, other: Headers) -> bool {
        other.packets <= self.packets && other.bytes <= self.bytes
    }

    /// The lesser of each.
    pub(crate) fn min(self, other: Headers) -> Headers {
        Headers { packets: self.packets.min(other.packets), bytes: self.bytes.min(other.bytes) }
    }

    /// It without `other`, or nothing.
    pub(crate) fn less(self, other: Headers) -> Headers {
        Headers { packets: self.packets.saturating_sub(other.packets), bytes: self.bytes.saturating_sub(other.bytes) }
    }
}

//! Handles: names of endpoints at their hosts.

use linkpool_transport::SubflowId;

/// Names an endpoint at its host, and a subflow of it: 16 bits of slot, 11 of generation, 5 of
/// subflow.
///
/// The generation distinguishes a late packet of a closed connection from a packet of the
/// connection that uses its slot now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Handle(u32);

const SUBFLOW_BITS: u32 = 5;
const GENERATION_BITS: u32 = 11;

impl Handle {
    pub(crate) fn new(slot: usize, generation: u32) -> Handle {
        let generation = generation & ((1 << GENERATION_BITS) - 1);
        Handle((slot as u32) << (GENERATION_BITS + SUBFLOW_BITS) | generation << SUBFLOW_BITS)
    }
    #[inline]
    pub(crate) fn slot(self) -> usize {
        (self.0 >> (GENERATION_BITS + SUBFLOW_BITS)) as usize
    }
    #[inline]
    pub(crate) fn of_subflow(self, subflow: SubflowId) -> u32 {
        self.0 | u32::from(subflow)
    }
    /// From a packet or a timer key: the endpoint without the subflow, and the subflow.
    #[inline]
    pub(crate) fn split(raw: u32) -> (Handle, SubflowId) {
        let subflow = raw & ((1 << SUBFLOW_BITS) - 1);
        (Handle(raw & !((1 << SUBFLOW_BITS) - 1)), subflow.into())
    }
    pub(crate) fn raw(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_take_apart() {
        let h = Handle::new(65_535, 2047 + 2048);
        let (back, subflow) = Handle::split(h.of_subflow(SubflowId::new(31)));
        assert_eq!((back, subflow), (h, SubflowId::new(31)));
        assert_eq!(h.slot(), 65_535);
        assert_ne!(Handle::new(3, 1), Handle::new(3, 2));
    }
}

//! Hosts: what lives on them, and how it looks on the wire.

pub(crate) mod balancer;
pub(crate) mod endpoint;
pub(crate) mod hosts;
pub(crate) mod senders;
pub(crate) mod slots;
pub(crate) mod wire;

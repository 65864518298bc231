//! Hosts: their endpoints, and the common state of all hosts of a partition.
//!
//! [`endpoint`] and [`family`] are the interface for families of transports, [`component`] the interface for
//! components beside the endpoints.

pub(crate) mod component;
pub(crate) mod connection;
pub(crate) mod encoding;
pub(crate) mod endpoint;
mod entering;
pub(crate) mod family;
pub(crate) mod handle;
pub(crate) mod hosts;
pub(crate) mod inbox;
pub(crate) mod io;
pub(crate) mod kinds;
pub(crate) mod measured;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod ndp;
pub(crate) mod nic;
pub(crate) mod outcomes;
mod reset;
pub(crate) mod roce;
pub(crate) mod rtts;
pub(crate) mod slots;
pub(crate) mod tcp;
pub(crate) mod timer;
pub(crate) mod uet;
pub(crate) mod uet_packet;

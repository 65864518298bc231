//! What starts flows during a run, and what hosts do that no packet brings about.

pub(crate) mod agenda;
pub(crate) mod feed;
pub(crate) mod placement;
pub(crate) mod processes;
pub(crate) mod waits;

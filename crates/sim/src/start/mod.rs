//! What starts flows during a run, and what follows from their ends: components beside the endpoints.

pub(crate) mod arrivals;
pub(crate) mod followers;
pub(crate) mod goal;
pub(crate) mod placement;
pub(crate) mod processes;

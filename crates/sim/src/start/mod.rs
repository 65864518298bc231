//! Components beside the endpoints that start flows during a run and follow their ends.

pub(crate) mod arrivals;
pub(crate) mod driver;
pub(crate) mod followers;
pub(crate) mod goal;
pub(crate) mod placement;
pub(crate) mod processes;
pub(crate) mod ranks;
pub(crate) mod serving;

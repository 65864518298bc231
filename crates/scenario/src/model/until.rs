//! The condition that ends a run early.

use linkpool_settings::{Bounds, settings};

settings! {
    /// The run ends when this many flows have finished.
    #[derive(Eq)]
    pub struct Until {
        /// Number of flows.
        flows: u64, required 1_000, within Bounds::POSITIVE;
        /// The label of the flows that count.
        label: String, required "long".to_string();
    }
}

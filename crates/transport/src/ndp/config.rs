//! The settings of NDP.

use linkpool_units::Time;

/// The settings of an NDP transport; both ends of its connections have them.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full packet, bytes.
    pub mss: u16,
    /// Packets of the first window, sent without a handshake (section 3.2).
    pub initial_window: u32,
    /// A packet is sent again so long after it was sent, if nothing is heard of it. The last
    /// resort: header loss and link failures.
    pub rto: Time,
    /// Largest factor by which timeouts in a row lengthen the RTO.
    pub max_backoff: u32,
    /// Do PULLs of these connections go before PULLs of others at the receiving host (section 3.2)?
    pub priority: bool,
    /// When a path is left out; none: never.
    pub penalties: Option<Penalties>,
}

/// When paths are left out for a while (section 3.2.1). The paper asks for outliers and gives no
/// numbers; these are ours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Penalties {
    /// ACKs, NACKs and losses of a path before it is judged.
    pub samples: u32,
    /// A path is an outlier if its share of NACKs and losses is above this multiple of the share of
    /// all other paths together.
    pub ratio: f64,
    /// And above this.
    pub least_share: f64,
    /// Permutations for which an outlier is left out; twice as many when it is an outlier again.
    pub rounds: u32,
    /// The most permutations for which it is left out.
    pub most_rounds: u32,
}

impl Default for Penalties {
    fn default() -> Penalties {
        Penalties { samples: 20, ratio: 2.0, least_share: 0.1, rounds: 4, most_rounds: 256 }
    }
}

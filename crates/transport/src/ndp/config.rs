//! The settings of NDP.

use linkpool_units::Time;

/// The settings of an NDP transport, for both ends of its connections.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full packet, bytes.
    pub mss: u16,
    /// Packets of the first window, sent without a handshake (section 3.2).
    pub initial_window: u32,
    /// The time after which a packet without any answer is sent again, and a PULL that brings
    /// nothing. It is the last resort against lost headers and failed links.
    pub rto: Time,
    /// Largest factor by which timeouts in a row lengthen the RTO. A sender without packets in
    /// flight waits this multiple of the RTO for a PULL.
    pub max_backoff: u32,
    /// Does the receiving host send PULLs of these connections before other PULLs (section 3.2)?
    pub priority: bool,
    /// The rule by which paths are left out; `None`: never.
    pub penalties: Option<Penalties>,
}

/// The rule by which paths are left out for some time (section 3.2.1). The paper says to leave out
/// outliers, and gives no numbers. The numbers are ours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Penalties {
    /// ACKs, NACKs and losses of a path before it is judged.
    pub samples: u32,
    /// A path is an outlier if its share of NACKs and losses is above this multiple of the share of
    /// all other paths together.
    pub ratio: f64,
    /// The share must also be above this.
    pub least_share: f64,
    /// Number of permutations for which an outlier is left out. It doubles when the path is an
    /// outlier again.
    pub rounds: u32,
    /// The most permutations for which it is left out.
    pub most_rounds: u32,
}

impl Default for Penalties {
    fn default() -> Penalties {
        Penalties { samples: 20, ratio: 2.0, least_share: 0.1, rounds: 4, most_rounds: 256 }
    }
}

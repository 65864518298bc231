//! Pauses of ports, as they are told: what has changed, and why.

use crate::fabric::LinkId;
use linkpool_units::Time;

/// Why a switch told its neighbour to pause, or to go on: what had come by the link, of one priority, and was still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseReason {
    /// When it decided so.
    pub told: Time,
    /// Bytes above the reserve, in the shared buffer.
    pub shared: u64,
    /// Bytes in the headroom.
    pub headroom: u64,
    /// So many bytes of the shared buffer it might have used.
    pub threshold: u64,
    /// The link for which most of them waited.
    pub behind: Option<LinkId>,
}

/// What has changed at a port that is paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PauseEvent {
    /// The priority is paused.
    Pause,
    /// It stays paused for longer: the frame was repeated.
    Refresh,
    /// It goes on.
    Resume,
    /// It goes on by itself: the pause is over, and the frame was not repeated.
    Lapse,
}

/// A pause of a priority of a port begins, goes on, or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseChange {
    /// When it takes effect at the port.
    pub at: Time,
    /// The link of the port.
    pub link: LinkId,
    /// The priority.
    pub priority: u8,
    /// What has changed.
    pub event: PauseEvent,
    /// Why; of a pause that is over by itself, why it had begun.
    pub reason: PauseReason,
}

/// A pause that holds packets back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// When it began at the port.
    pub since: Time,
    /// The priority.
    pub priority: u8,
    /// Why.
    pub reason: PauseReason,
}

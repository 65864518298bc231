//! Timer keys of a node: the kind of the timer in the upper half, its owner in the lower half.
//! Timers of one instant expire in order of their keys.

/// An endpoint asked to be woken; the lower half is its handle with the subflow.
pub(crate) const ENDPOINT: u64 = 0;
/// The next flows known before the run are to be given to their hosts.
pub(crate) const ARRIVALS: u64 = 1 << 32;
/// A flow must stop; the lower half is the handle of its sender.
pub(crate) const STOP: u64 = 2 << 32;
/// The queue of a link, in the lower half, is sampled.
pub(crate) const SAMPLE_QUEUE: u64 = 3 << 32;
/// The windows of a host's senders are sampled.
pub(crate) const SAMPLE_CWND: u64 = 4 << 32;
/// The rates of a host's senders are sampled.
pub(crate) const SAMPLE_RATE: u64 = 5 << 32;
/// A message in the host's inbox is due.
pub(crate) const INBOX: u64 = 6 << 32;
/// The counters of a link, in the lower half, are sampled.
pub(crate) const SAMPLE_COUNTERS: u64 = 7 << 32;
/// The measured period begins or ends.
pub(crate) const PERIOD: u64 = 8 << 32;
/// The next turn of the host's endpoints that pace together is due; the lower half is what the turns are
/// for.
pub(crate) const TURNS: u64 = 9 << 32;

/// A message has passed the adapter of the host.
pub(crate) const NIC: u64 = 10 << 32;

/// The kind of `key`.
#[inline]
pub(crate) fn kind(key: u64) -> u64 {
    key & !0 << 32
}

//! The congestion state of a subflow.

/// The state of one subflow that congestion control reads and sets.
///
/// Windows are in packets of one MSS, with fractions; times in picoseconds.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct CongestionState {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow start threshold, packets; infinite: unlimited.
    pub ssthresh: f64,
    /// Smoothed RTT, ps; 0 before the first sample.
    pub srtt: f64,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to be sent.
    pub snd_nxt: u64,
    /// The window has been cut. A further mark cuts it only after more than this byte has been
    /// acknowledged.
    pub cut_until: u64,
    /// Is the handshake done, and has the subflow not failed?
    pub established: bool,
    /// Is it in fast recovery?
    pub in_recovery: bool,
    /// Switches on its path to the receiver, as known when it opened.
    pub hops: u32,
}

impl CongestionState {
    /// Is this the first marked ACK of a window (RFC 8257, section 3.3: at most one cut per window
    /// of data)? If so, the next window begins.
    #[inline]
    pub fn first_mark_of_window(&mut self) -> bool {
        let first = self.snd_una > self.cut_until;
        if first {
            self.cut_until = self.snd_nxt;
        }
        first
    }

    /// Cuts the window to `cwnd` and leaves slow start.
    #[inline]
    pub fn cut_to(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.ssthresh = cwnd;
    }

    /// Is it in slow start (RFC 5681, section 3.1)? If both are equal, it is in congestion
    /// avoidance.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window that a coupled increase uses. In recovery this is ssthresh, since the window is
    /// inflated.
    #[inline]
    pub fn coupled_window(&self) -> f64 {
        if self.in_recovery { self.ssthresh } else { self.cwnd }
    }

    /// Is it established with a known RTT? Only then can it be compared with other subflows.
    #[inline]
    pub fn is_coupled(&self) -> bool {
        self.established && self.srtt > 0.0
    }

    /// The rate in packets per ps of a subflow whose RTT is known.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.coupled_window() / self.srtt
    }
}

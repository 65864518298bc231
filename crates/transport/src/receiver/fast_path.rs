//! The fast path of data.
//!
//! Most data continues its subflow, on which nothing is missing. If each packet is acknowledged, that
//! ACK says what has arrived and nothing else. [`Receiver::on_data`] asks for delayed ACKs, PSH, SACKs,
//! windows and faults. Here no question is left but that for the place of the data, and the steps are
//! those of [`Receiver::on_data`], in the same order.

use super::{Delivery, Receiver};
use crate::id::SubflowId;
use crate::segment::{Output, Segment};
use crate::seq::Seq;

impl Receiver {
    /// May data take the fast path? No ACK is delayed then, so none is pending, no mark is kept for one,
    /// and quick ACKs and PSH have no effect.
    pub(super) fn has_fast_path(&self) -> bool {
        self.config.ack_every == 1 && self.window.is_none() && self.faulty.is_none()
    }

    /// As [`Receiver::on_data`] for data of subflow `s`, which a switch has marked if `ce`. Returns
    /// `None`, and does nothing, if the data cannot take the fast path.
    #[inline(always)]
    pub(super) fn on_data_fast(
        &mut self,
        s: SubflowId,
        (seq, data_seq, len, last): (Seq, Seq, u16, bool),
        ce: bool,
        out: &mut impl Output,
    ) -> Option<Delivery> {
        let arrived = self.arrived.get_mut(s.index()).filter(|_| self.fast)?;
        let start = arrived.next();
        if seq != Seq::of(start) || arrived.has_gap() {
            return None;
        }
        let len = u64::from(len);
        arrived.insert(start, start + len);
        let data_start = data_seq.near(self.data.next());
        if !self.data.insert(data_start, data_start + len) {
            self.duplicate_bytes += len;
        }
        if last {
            self.end = data_start + len;
        }
        let (ack, data_ack) = (Seq::of(start + len), Seq::of(self.data.next()));
        out.send(s, Segment::Ack { ack, data_ack, ece: ce, options: None });
        Some(self.delivery())
    }
}

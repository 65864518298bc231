//! Faults of receivers in the implementation of AMP's and MMPTCP's authors.

use super::Receiver;
use crate::id::SubflowId;
use crate::multipath::Faults;
use crate::segment::{Output, Segment};
use crate::seq::{FIRST_BYTE, Seq};

/// The subflows of a receiver that acknowledges data or FINs wrongly.
#[derive(Debug)]
pub(super) struct Faulty {
    faults: Faults,
    subflows: Vec<Lagging>,
}

/// A subflow of it.
#[derive(Clone, Copy, Debug)]
struct Lagging {
    /// The end of what is acknowledged.
    acked: u64,
    /// Where the FIN stands that has arrived and is not answered.
    fin: Option<u64>,
}

impl Faulty {
    /// `None` if none of `faults` is of this kind.
    pub(super) fn new(faults: Faults) -> Option<Box<Faulty>> {
        (faults.held_unacknowledged || faults.fin_timeouts).then(|| Box::new(Faulty { faults, subflows: Vec::new() }))
    }

    /// The end of what is acknowledged on subflow `s`.
    pub(super) fn acked(&self, s: SubflowId) -> u64 {
        self.subflows[s.index()].acked
    }
}

impl Receiver {
    /// Segment `start..end` of subflow `s` has arrived: sets what is acknowledged. `continues`:
    /// its data is the next of the connection's stream. `new`: it was not held before.
    ///
    /// With [`Faults::held_unacknowledged`], what is acknowledged moves over segments that are held
    /// only when a segment continues both its subflow and the connection's stream, and then on all
    /// subflows. The other subflows send no ACK then.
    #[cold]
    pub(super) fn acknowledge_faultily(&mut self, s: SubflowId, (start, end): (u64, u64), continues: bool, new: bool) {
        let Some(faulty) = &mut self.faulty else { return };
        faulty.subflows.resize(self.subflows.len(), Lagging { acked: FIRST_BYTE, fin: None });
        let held_count = faulty.faults.held_unacknowledged;
        let in_order = start == faulty.subflows[s.index()].acked;
        if !held_count || in_order && continues {
            for (lagging, arrived) in faulty.subflows.iter_mut().zip(&self.arrived) {
                lagging.acked = arrived.next();
            }
        } else if in_order && new {
            faulty.subflows[s.index()].acked = end;
        }
    }

    /// A FIN at `seq` of subflow `s` has arrived, which is answered only if it is in order.
    pub(super) fn on_subflow_fin(&mut self, s: SubflowId, seq: Seq, out: &mut impl Output) {
        let Some(faulty) = self.faulty.as_mut().filter(|faulty| faulty.faults.fin_timeouts) else { return };
        let Some(arrived) = self.arrived.get(s.index()) else { return };
        faulty.subflows.resize(self.subflows.len(), Lagging { acked: FIRST_BYTE, fin: None });
        faulty.subflows[s.index()].fin = Some(seq.near(arrived.next()));
        self.answer_fin(s, out);
    }

    /// Answers a FIN of subflow `s` that everything before it has reached.
    #[cold]
    pub(super) fn answer_fin(&mut self, s: SubflowId, out: &mut impl Output) {
        let Some(lagging) = self.faulty.as_mut().and_then(|faulty| faulty.subflows.get_mut(s.index())) else { return };
        if let Some(fin) = lagging.fin.take_if(|fin| *fin <= lagging.acked) {
            out.send(s, Segment::SubflowFin { seq: Seq::of(fin) });
        }
    }
}

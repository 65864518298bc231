//! The flowlets that switches remember: packets of a flow without a long gap between them.

use super::Choice;
use crate::fabric::Fabric;
use crate::packet::{Packet, hash};
use linkpool_units::Time;

/// Entries of a switch's table of flowlets. Flows whose hashes fall together share one, as they do
/// in hardware.
const FLOWLETS: usize = 4096;

/// The tables of flowlets of all switches, with a value for each flowlet.
#[derive(Debug)]
pub(super) struct FlowletTables<T> {
    /// Packets of a flow that come so far apart, or further, are of two flowlets.
    gap: Time,
    /// By node; the tables are made when the first packet comes.
    tables: Vec<Vec<Flowlet<T>>>,
}

/// The last packets of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flowlet<T> {
    /// A packet from then on begins a new flowlet.
    expires: Time,
    pub(super) value: T,
}

impl<T: Copy + Default> FlowletTables<T> {
    pub(super) fn new(gap: Time, fabric: &Fabric) -> FlowletTables<T> {
        FlowletTables { gap, tables: vec![Vec::new(); fabric.nodes()] }
    }

    /// The value that `packet` finds, and whether it continues its flowlet.
    #[inline]
    pub(super) fn entry(&mut self, choice: Choice<'_>, packet: &Packet) -> (&mut T, bool) {
        let table = &mut self.tables[choice.node.index()];
        if table.is_empty() {
            table.resize(FLOWLETS, Flowlet::default());
        }
        let flowlet = &mut table[place(choice, packet)];
        let continues = packet.arrival < flowlet.expires;
        flowlet.expires = packet.arrival + self.gap;
        (&mut flowlet.value, continues)
    }

    /// Sets the value of the flowlet of `packet`, which has found one.
    pub(super) fn set(&mut self, choice: Choice<'_>, packet: &Packet, value: T) {
        self.tables[choice.node.index()][place(choice, packet)].value = value;
    }
}

/// The place of the flow of `packet` in a table.
#[inline]
fn place(choice: Choice<'_>, packet: &Packet) -> usize {
    hash(choice.salt ^ u32::from(packet.dst()), packet) as usize % FLOWLETS
}

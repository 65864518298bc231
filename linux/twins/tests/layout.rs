//! `intf.rs` says what `intf.h` says.

use linkpool_linux_control::intf::{Ack, COUNTERS, Conn, Endpoint, Entry, Event, FIX_BITS, Params, Path, SUBFLOWS};
use std::mem::{offset_of, size_of};

#[test]
fn rust_and_c_agree_on_sizes_and_offsets() {
    let ours = [
        [size_of::<Params>(), offset_of!(Params, join_bytes), offset_of!(Params, cwnd_min)].as_slice(),
        &[offset_of!(Params, suppression), offset_of!(Params, observe)],
        &[size_of::<Endpoint>(), offset_of!(Endpoint, port), offset_of!(Endpoint, id)],
        &[size_of::<Path>(), offset_of!(Path, srtt), offset_of!(Path, cut_until), offset_of!(Path, established)],
        &[offset_of!(Path, backup), offset_of!(Path, own), offset_of!(Path, delivered), offset_of!(Path, losses)],
        &[offset_of!(Path, local), offset_of!(Path, remote)],
        &[size_of::<Conn>(), offset_of!(Conn, first), offset_of!(Conn, opened), offset_of!(Conn, suppressed)],
        &[offset_of!(Conn, releases), offset_of!(Conn, paths), size_of::<Entry>(), offset_of!(Entry, conn)],
        &[size_of::<Ack>(), offset_of!(Ack, marked), offset_of!(Ack, round_ended)],
        &[size_of::<Event>(), offset_of!(Event, token), offset_of!(Event, kind), offset_of!(Event, first)],
        &[offset_of!(Event, flight), SUBFLOWS, FIX_BITS as usize, COUNTERS.len()],
    ];
    assert_eq!(ours.concat(), linkpool_linux_twins::layout());
}

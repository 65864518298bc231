//! The reports of a receiver: the examples of RFC 2018, section 7, and RFC 2883, section 4, in
//! packets.

use crate::common::reno;
use crate::common::script::{Script, receiver};
use linkpool_transport::{Config, LossRecovery, Receiver};

fn connected() -> Script<Receiver> {
    let mut script = receiver(Config { recovery: LossRecovery::Sack, ..reno() });
    script.run(
        "0      < syn
                > synack",
    );
    script
}

/// RFC 2018, section 7, case 1: the first four of eight arrive, nothing beyond.
#[test]
fn without_a_gap_there_are_no_blocks() {
    connected().run(
        "10us   < pkt 0
                > ack 1
                < pkt 1
                > ack 2
                < pkt 2
                > ack 3
                < pkt 3
                > ack 4",
    );
}

/// Case 2: the first of eight is lost.
#[test]
fn one_block_grows() {
    connected().run(
        "10us   < pkt 1
                > ack 0 sack 1-2
                < pkt 2
                > ack 0 sack 1-3
                < pkt 3
                > ack 0 sack 1-4
                < pkt 7
                > ack 0 sack 7-8,1-4",
    );
}

/// Case 3: the second, fourth, sixth and eighth are lost; the fourth and then the second come
/// again.
#[test]
fn the_latest_block_comes_first() {
    connected().run(
        "10us   < pkt 0
                > ack 1
                < pkt 2
                > ack 1 sack 2-3
                < pkt 4
                > ack 1 sack 4-5,2-3
                < pkt 6
                > ack 1 sack 6-7,4-5,2-3
                < pkt 3
                > ack 1 sack 2-5,6-7
                < pkt 1
                > ack 5 sack 6-7",
    );
}

/// An ACK has room for three: the ranges reported longest ago are left out, and come back when
/// others go.
#[test]
fn three_blocks_at_most() {
    connected().run(
        "10us   < pkt 1
                > ack 0 sack 1-2
                < pkt 3
                > ack 0 sack 3-4,1-2
                < pkt 5
                > ack 0 sack 5-6,3-4,1-2
                < pkt 7
                > ack 0 sack 7-8,5-6,3-4
                < pkt 6
                > ack 0 sack 5-8,3-4,1-2",
    );
}

/// The same on a subflow of several, beside a data ACK: of four ranges the latest three. A D-SACK is
/// one of the three, and so is the range that holds the duplicate.
#[test]
fn three_blocks_at_most_beside_a_data_ack() {
    connected().run(
        "10us   < s1 syn join
                > s1 synack
         20us   < s1 pkt 0 data 0
                > s1 ack 1
                < s1 pkt 2 data 2
                > s1 ack 1 sack 2-3
                < s1 pkt 4 data 4
                > s1 ack 1 sack 4-5,2-3
                < s1 pkt 6 data 6
                > s1 ack 1 sack 6-7,4-5,2-3
                < s1 pkt 8 data 8
                > s1 ack 1 sack 8-9,6-7,4-5
                < s1 pkt 0 data 0
                > s1 ack 1 sack 0-1,8-9,6-7
                < s1 pkt 4 data 4
                > s1 ack 1 sack 4-5,4-5,8-9
                < s1 pkt 1 data 1
                > s1 ack 3 sack 4-5,8-9,6-7      // 4-5 is the one reported last",
    );
}

/// RFC 2883, section 4.1.1: a duplicate below the ACK.
#[test]
fn a_duplicate_of_what_is_acknowledged() {
    connected().run(
        "10us   < pkt 0
                > ack 1
                < pkt 1
                > ack 2
                < pkt 0
                > ack 2 sack 0-1
                < pkt 2
                > ack 3",
    );
}

/// Section 4.1.2: a duplicate while there is a gap elsewhere.
#[test]
fn a_duplicate_and_a_gap() {
    connected().run(
        "10us   < pkt 0
                > ack 1
                < pkt 2
                > ack 1 sack 2-3
                < pkt 0
                > ack 1 sack 0-1,2-3",
    );
}

/// Section 4.1.3: a duplicate beyond the gap, with the block that holds it.
#[test]
fn a_duplicate_beyond_the_gap() {
    connected().run(
        "10us   < pkt 0
                > ack 1
                < pkt 2
                > ack 1 sack 2-3
                < pkt 2
                > ack 1 sack 2-3,2-3
                < pkt 3
                > ack 1 sack 2-4
                < pkt 5
                > ack 1 sack 5-6,2-4
                < pkt 3
                > ack 1 sack 3-4,2-4,5-6",
    );
}

/// Blocks are of the subflow's stream, the data ACK of the connection's: subflow 1 brings what is
/// missing of the stream, and subflow 0 reports its gap all the same.
#[test]
fn blocks_are_of_their_subflow() {
    connected().run(
        "10us   < s1 syn join
                > s1 synack
         20us   < pkt 1
                > ack 0 sack 1-2
                < s1 pkt 0 data 0
                > s1 ack 1 data 2
                = delivered 2000
                < pkt 2
                > ack 0 data 3 sack 1-3
                < s1 pkt 2 data 4
                > s1 ack 1 data 3 sack 2-3
                < pkt 0
                > ack 3                 // new on its subflow: no duplicate is reported
                = delivered 3000 duplicates 1000",
    );
}

/// A receiver that has not agreed to SACKs reports nothing.
#[test]
fn nothing_without_sack() {
    receiver(reno()).run(
        "0      < syn
                > synack
                < pkt 1
                > ack 0
                < pkt 1
                > ack 0",
    );
}

/// A probe of a shut window carries no data, so that none of it has come twice.
#[test]
fn a_segment_without_data_is_no_duplicate() {
    connected().run(
        "10us   < pkt 0
                > ack 1
         20us   < pkt 0+999 data 1 len 0
                > ack 1",
    );
}

//! Any number of threads writes the same bytes, and so does a second run on one: random scenarios,
//! and each feature by itself.

use crate::common::written::{differ, written};
use crate::common::{cases, random, scenario};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn any_number_of_threads_writes_the_same_bytes(text in random::scenarios()) {
        let s = scenario(&text);
        let one = written(&s, 1);
        for threads in [1, 2, 3] {
            prop_assert_eq!(differ(&one, &written(&s, threads)), Vec::<String>::new(), "{} threads", threads);
        }
    }
}

/// A fat-tree of 16 hosts under load, with a feature: one, two, three and seven threads write
/// the same bytes.
fn same_bytes(routing: &str, queue: &str, transport: &str, workload: &str, more: &str) {
    let s = scenario(&format!(
        "duration = \"6ms\"\ndrain = \"10ms\"\nseed = 3\n\
         [topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
         [routing]\n{routing}\n[queue]\n{queue}\n\
         [transport.t]\n{transport}\nmin_rto = \"1ms\"\n{workload}\n{more}\n\
         [record]\nqueue = {{ every = \"100us\", links = [\"e0.0->h0\"] }}\n"
    ));
    let one = written(&s, 1);
    assert!(one["flows.parquet"].len() > 4_000, "flows have run");
    for threads in [2, 3, 7] {
        assert_eq!(differ(&one, &written(&s, threads)), Vec::<String>::new(), "{threads} threads");
    }
}

const FIFO: &str = "limit = 40\nmark = 10";
const DCTCP: &str = "control = \"dctcp\"";
const PERMUTATION: &str = "[[workload.permutation]]\ntransport = \"t\"\nsize = \"200KB\"\njitter = \"20us\"";
const INCAST: &str =
    "[[workload.incast]]\ntransport = \"t\"\nsenders = 12\nreceiver = 0\nsize = \"30KB\"\nevery = \"2ms\"";

#[test]
fn links_that_fail_and_change() {
    let changes = "[[change]]\nat = \"1ms\"\nuntil = \"3ms\"\nlinks = [\"e0.0<->a0.0\"]\nstate = \"down\"\n\
                   [[change]]\nat = \"2ms\"\nlinks = [\"a1.0<->c0\"]\nrate = \"300Mbps\"\n\
                   [[change]]\nlinks = [\"e2.0<->a2.0\"]\nloss = 0.01";
    same_bytes("reconverge = \"500us\"", FIFO, DCTCP, PERMUTATION, changes);
}

#[test]
fn cables_that_are_drawn_flap_and_lose_bits() {
    let changes = "[[change]]\nat = \"500us\"\nuntil = \"4ms\"\nbetween = \"switch<->switch\"\ncount = 2\nstate = \"down\"\n\
                   repeat = { every = \"400us\", lasts = \"150us\", redraw = true }\n\
                   [[change]]\nbetween = \"edge->aggregation\"\nshare = 0.5\nbit_errors = 1e-6\n\
                   [[change]]\nat = \"1ms\"\nuntil = \"2ms\"\nlayer = \"core\"\ncount = 1\nstate = \"down\"\n\
                   [[change]]\nat = \"3ms\"\nlayer = \"core\"\ncount = 1\nrate_factor = 0.1";
    same_bytes("reconverge = \"100us\"", FIFO, DCTCP, PERMUTATION, changes);
}

#[test]
fn adaptive_routing() {
    let changes =
        "[[change]]\nat = \"1ms\"\nuntil = \"3ms\"\nbetween = \"edge<->aggregation\"\ncount = 2\nstate = \"down\"";
    same_bytes("kind = \"adaptive\"\nreconverge = \"500us\"", FIFO, DCTCP, PERMUTATION, changes);
    let gap = "kind = \"adaptive\"\ngap = \"20us\"\nreconverge = \"never\"";
    same_bytes(gap, "limit = 40\nmark = 10\ndiscipline = \"priority\"", DCTCP, PERMUTATION, changes);
}

#[test]
fn mmptcp() {
    let transport = "control = \"mmptcp\"\nsubflows = 4\nswitch_bytes = \"50KB\"\ndupack_threshold = \"auto\"";
    same_bytes("kind = \"ecmp\"", FIFO, transport, PERMUTATION, "");
}

#[test]
fn plb() {
    let transport = "control = \"dctcp\"\npaths = \"plb\"\nplb_rounds = 2\nplb_suspend = \"1ms\"";
    same_bytes("kind = \"ecmp\"", FIFO, transport, PERMUTATION, "");
}

#[test]
fn reps() {
    let transport = "control = \"dctcp\"\npaths = \"reps\"\ndupack_threshold = \"auto\"";
    same_bytes("kind = \"ecmp\"", FIFO, transport, PERMUTATION, "");
}

#[test]
fn spraying_by_switches() {
    same_bytes("kind = \"spray\"", FIFO, "control = \"dctcp\"\nrecovery = \"rack\"", PERMUTATION, "");
}

#[test]
fn red() {
    let queue = "limit = 40\nred = { min = 5, max = 15, weight = 0.02 }";
    same_bytes("kind = \"ecmp\"", queue, "control = \"reno\"", INCAST, "");
}

#[test]
fn shared_buffers() {
    let queue = "shared_buffer = { size = \"100KB\", alpha = 1 }\nmark = 10";
    same_bytes("kind = \"ecmp\"", queue, DCTCP, INCAST, "");
}

#[test]
fn jobs() {
    let workload =
        "[[workload.partition-aggregate]]\ntransport = \"t\"\nservers = 4\nanswer = \"8KB\"\ngap = \"100us\"";
    same_bytes("kind = \"ecmp\"", FIFO, DCTCP, workload, "");
}

#[test]
fn closed_loops() {
    let workload =
        "[[workload.random]]\ntransport = \"t\"\nto = \"other-racks\"\nsize = \"5KB\"\nrepeat = \"each\"\nat_most = 1";
    same_bytes("kind = \"ecmp\"", FIFO, DCTCP, workload, "");
}

#[test]
fn a_central_scheduler() {
    let workload = "[[workload.stride]]\ntransport = \"t\"\nstep = 4";
    same_bytes("placement = { period = \"1ms\" }", FIFO, "control = \"dctcp\"\npaths = \"placed\"", workload, "");
}

#[test]
fn collectives() {
    let workload = "[[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nranks = 8\nsize = \"100KB\"\n\
                    [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"all-to-all\"\nranks = 8\nsize = \"100KB\"\nstart = \"1ms\"\nlabel = \"all\"";
    same_bytes("kind = \"ecmp\"", FIFO, DCTCP, workload, "");
}

/// Captures of RoCE with telemetry, and of UET.
#[test]
fn captures_of_roce_and_uet() {
    let more = "[record.capture]\nhosts = [\"h0\", \"h5\"]\nlinks = [\"a0.0->c0\", \"c0->a0.0\"]";
    same_bytes("kind = \"ecmp\"", FIFO, "control = \"hpcc\"", PERMUTATION, more);
    let trimming = "discipline = \"trimming\"\nlimit = \"20KB\"";
    let uet = "control = \"uet\"\nreceiver_credit = true\n[transport.unused]\ncontrol = \"reno\"";
    same_bytes("kind = \"ecmp\"", trimming, uet, PERMUTATION, more);
}

/// With several threads core switches are split by output: packets on a link to the core come to several
/// partitions, and the links of a core switch belong to several.
#[test]
fn records_of_links_to_and_from_the_core() {
    let more = "[measure]\nwarm_up = \"500us\"\ncut_off = \"5ms\"\n[record.counters]\nevery = \"300us\"\n\
                [record.capture]\nlinks = [\"a0.0->c0\", \"c0->a0.0\", \"c0->a3.0\", \"a3.1->c2\"]";
    same_bytes("kind = \"ecmp\"", FIFO, DCTCP, PERMUTATION, more);
}

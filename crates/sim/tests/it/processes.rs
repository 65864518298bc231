//! Flows that others start: jobs, closed loops, rounds, and runs that end when enough is done.

use crate::common::{Run, run, run_on, scenario};
use linkpool_sim::FlowOutcome;
use linkpool_units::{HostId, Time};
use std::collections::HashMap;

const TREE: &str = "[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n[queue]\nlimit = 100\nmark = 20\n\
                    [transport.t]\ncontrol = \"dctcp\"\nmin_rto = \"5ms\"\n";

fn tree(top: &str, workload: &str) -> Run {
    run(&format!("duration = \"20ms\"\n{top}\n{TREE}{workload}"))
}

/// Hosts `S1`, `S2` and `R` at one switch, 1 Gbps, 10 us a link, packets of 1,000 bytes with 40 of
/// them headers and ACKs of 40.
fn one_job(servers: u32) -> Run {
    run(&format!(
        "duration = \"1ms\"\ndrain = \"99ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\ndelay = \"10us\"\n\
         [transport.t]\ncontrol = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\n\
         [[workload.partition-aggregate]]\ntransport = \"t\"\nservers = {servers}\nrequest = \"1920B\"\nanswer = \"3840B\"\n\
         gap = \"2ms\"\nlabel = \"job\"\n"
    ))
}

/// A handshake takes two times two links: 4 (10 us + 0.32 us). A request of two packets is sent at
/// once; the last bit of the second arrives after 8 us for the first, 8 us for the second, 10 us, 8
/// us at the switch, 10 us. The answer likewise, with four packets. Three small packets go before
/// what matters, 0.32 us each: the third of both handshakes before the data, and the ACK of the
/// request before the SYN of the answer.
#[test]
fn a_job_on_an_idle_network_takes_what_it_should() {
    let r = one_job(1);
    let us = |n: f64| Time::from_secs_f64(n * 1e-6);
    let handshake = 4.0 * 10.32;
    let carries = |packets: f64| 8.0 * packets + 10.0 + 8.0 + 10.0;
    let [job] = &r.outcome.jobs[..] else { panic!("{:?}", r.outcome.jobs) };
    assert_eq!((job.job.start, job.job.flows, job.job.number), (Time::ZERO, 2, 0));
    assert_eq!(job.job.end, Some(us(2.0 * handshake + carries(2.0) + carries(4.0) + 3.0 * 0.32)));
    // The next would start after `duration`.
    assert_eq!(r.outcome.flows.len(), 2);
    let answer = &r.outcome.flows[1].planned;
    assert_eq!(answer.flow.start, us(handshake + carries(2.0) + 0.32));
    assert_eq!(r.plan.labels[answer.label.index()], "job");
    assert_eq!(r.plan.labels[r.outcome.flows[0].planned.label.index()], "job request");
}

/// Two servers: both requests leave the client, and both answers come to it, one behind the other.
#[test]
fn two_servers_share_the_link_of_the_client() {
    let r = one_job(2);
    let [job] = &r.outcome.jobs[..] else { panic!("{:?}", r.outcome.jobs) };
    let alone = one_job(1).outcome.jobs[0].job.end.unwrap();
    let more = job.job.end.unwrap() - alone;
    // At least four packets of answer more; at most these, two of request, and what small packets
    // there are.
    assert!(more >= Time::from_us(32) && more < Time::from_us(8 * 6 + 8), "{more}");
}

#[test]
fn jobs_follow_each_other_along_a_chain() {
    let r = tree("", "[[workload.partition-aggregate]]\ntransport = \"t\"\nservers = 5\nchains = 3\n");
    let jobs = &r.outcome.jobs;
    assert!(jobs.len() > 12, "{} jobs", jobs.len());
    assert_eq!(jobs.iter().filter(|j| j.job.end.is_none()).count(), 3, "one a chain is under way");
    let mut flows: HashMap<u32, Vec<_>> = HashMap::new();
    r.outcome.flows.iter().for_each(|f| flows.entry(f.planned.flow.job.unwrap()).or_default().push(f));
    let mut clients = Vec::new();
    for chain in 0..3 {
        let mut before: Option<Time> = None;
        for job in jobs.iter().map(|j| j.job).filter(|j| j.of.unwrap().0 == chain) {
            // Another host learns of it as soon as a packet could have told it.
            let latest = before.map_or(Time::ZERO, |end| end + Time::from_us(10));
            assert!(before.is_none_or(|end| job.start > end) && job.start <= latest, "{job:?} after {before:?}");
            before = job.end;
            let client = job.of.unwrap().1;
            clients.push(client);
            let flows = &flows[&job.number];
            let (requests, answers): (Vec<&FlowOutcome>, Vec<&FlowOutcome>) =
                flows.iter().partition(|f| f.planned.flow.src == client);
            assert!(requests.len() == 5 && requests.iter().all(|f| f.planned.flow.size == Some(2_000)));
            assert!(answers.iter().all(|f| f.planned.flow.size == Some(64_000) && f.planned.flow.dst == client));
            for answer in &answers {
                let request = requests.iter().find(|r| r.planned.flow.dst == answer.planned.flow.src).unwrap();
                assert!(answer.planned.flow.start > request.established().unwrap());
            }
            if let Some(end) = job.end {
                assert_eq!(answers.len(), 5);
                // Acknowledged at the server after it has arrived at the client, if the run lasts
                // so long.
                assert!(answers.iter().map(|f| f.finished.unwrap_or(Time::MAX)).max().unwrap() > end);
            }
        }
    }
    clients.sort_unstable();
    clients.dedup();
    assert!(clients.len() > 5, "clients change: {clients:?}");
}

/// The flows of each sender in order, and that there are some.
fn by_sender(r: &Run) -> Vec<Vec<&FlowOutcome>> {
    let mut of = vec![Vec::new(); r.plan.fabric.hosts()];
    r.outcome.flows.iter().for_each(|f| of[f.planned.flow.src.index()].push(f));
    of.iter_mut().for_each(|flows| flows.sort_by_key(|f| f.planned.flow.start));
    assert!(of.iter().all(|flows| flows.len() > 5));
    of
}

#[test]
fn the_end_of_a_flow_starts_the_next_of_its_sender() {
    for (kind, keys) in
        [("permutation", ""), ("random", ""), ("stride", "step = 3"), ("staggered", "rack = 0.5\npod = 0.5")]
    {
        let text = format!(
            "[[workload.{kind}]]\ntransport = \"t\"\nsize = \"50KB\"\nrepeat = \"each\"\ngap = \"3us\"\n{keys}\n"
        );
        let r = tree("", &text);
        let mut changes = 0;
        for flows in by_sender(&r) {
            for pair in flows.windows(2) {
                assert_eq!(pair[1].planned.flow.start, pair[0].finished.unwrap() + Time::from_us(3), "{kind}");
                changes += u32::from(pair[0].planned.flow.dst != pair[1].planned.flow.dst);
            }
        }
        assert_eq!(changes > 0, ["random", "staggered"].contains(&kind), "{kind}: {changes} other destinations");
    }
}

#[test]
fn no_host_gets_more_flows_than_it_may() {
    let text = "[[workload.random]]\ntransport = \"t\"\nsize = { uniform = [\"1KB\", \"90KB\"] }\nrepeat = \"each\"\nat_most = 2\n";
    let r = tree("", text);
    let mut changes = Vec::new();
    for f in &r.outcome.flows {
        let flow = f.planned.flow;
        changes.push((flow.start, 1, flow.dst));
        changes.push((f.active_until, -1, flow.dst));
    }
    // Ends at an instant come before starts at this instant.
    changes.sort_unstable();
    let mut open = vec![0; r.plan.fabric.hosts()];
    for (at, change, dst) in changes {
        open[dst.index()] += change;
        assert!(open[dst.index()] <= 2, "at {at}");
    }
    by_sender(&r);
}

#[test]
fn a_round_begins_when_the_one_before_is_over() {
    let r = tree("", "[[workload.permutation]]\ntransport = \"t\"\nsize = \"50KB\"\nrepeat = \"all\"\n");
    let rounds = 1 + r.outcome.flows.iter().map(|f| f.planned.flow.burst).max().unwrap();
    assert!(rounds > 5);
    let mut matrices = Vec::new();
    let mut over = None;
    for round in 0..rounds {
        let flows: Vec<_> = r.outcome.flows.iter().filter(|f| f.planned.flow.burst == round).collect();
        let mut receivers: Vec<HostId> = flows.iter().map(|f| f.planned.flow.dst).collect();
        matrices.push(receivers.clone());
        receivers.sort_unstable();
        assert!(receivers.into_iter().eq(HostId::first(16)), "a permutation");
        assert!(flows.iter().all(|f| over.is_none_or(|over| f.planned.flow.start > over)));
        over = flows.iter().map(|f| f.active_until).max();
    }
    assert_ne!(matrices[0], matrices[1]);
}

#[test]
fn a_run_ends_when_enough_is_done() {
    let text = "[[workload.random]]\ntransport = \"t\"\nsize = \"50KB\"\nrepeat = \"each\"\nlabel = \"long\"\n";
    let all = tree("", text);
    let r = tree("[until]\nflows = 40\nlabel = \"long\"\n", text);
    let mut ends: Vec<Time> = all.outcome.flows.iter().filter_map(|f| f.finished).collect();
    ends.sort_unstable();
    let finished = r.outcome.flows.iter().filter(|f| f.finished.is_some()).count();
    // Those that end in the same window as the last are in.
    assert!((40..45).contains(&finished), "{finished}");
    assert!(r.outcome.simulated > ends[39] && r.outcome.simulated <= ends[39] + Time::from_us(3));
}

#[test]
fn threads_make_no_difference_to_processes() {
    let text = format!(
        "duration = \"60ms\"\n[until]\nflows = 500\nlabel = \"random\"\n{TREE}\
         [[workload.partition-aggregate]]\ntransport = \"t\"\nservers = 5\nchains = 3\ngap = {{ lognormal = {{ mean = \"100us\", sigma = 1.0 }} }}\n\
         [[workload.random]]\ntransport = \"t\"\nsize = \"30KB\"\nrepeat = \"each\"\nat_most = 3\n\
         [[workload.permutation]]\ntransport = \"t\"\nsize = \"20KB\"\nrepeat = \"all\"\njitter = \"20us\"\n\
         [[workload.stride]]\ntransport = \"t\"\nstep = 5\nsize = \"20KB\"\nrepeat = \"each\"\ngap = {{ exponential = \"50us\" }}\n\
         [[workload.hotspot]]\ntransport = \"t\"\nflows = 7\nhosts = [3]\nshare = 0.5\nsize = \"9KB\"\nrepeat = \"each\"\n\
         [record]\nrate = {{ every = \"500us\" }}\n"
    );
    let s = scenario(&text);
    let one = run_on(&s, 1);
    let (flows, jobs) = (one.outcome.flows.len(), one.outcome.jobs.len());
    assert!(flows > 1000 && jobs > 10 && one.samples.len() > 100, "{flows} flows, {jobs} jobs");
    for threads in 2..=4 {
        let many = run_on(&s, threads);
        assert_eq!(many.outcome, one.outcome, "{threads} threads");
        assert_eq!(many.samples, one.samples, "{threads} threads");
    }
}

/// In closed loops too, whether the sender draws the next destination, or the scheduler that counts
/// the flows into a host.
#[test]
fn closed_loops_leave_their_racks_where_they_must() {
    for at_most in ["", "at_most = 1"] {
        let keys = "to = \"other-racks\"\nsize = \"5KB\"\nrepeat = \"each\"";
        let r = tree("", &format!("[[workload.random]]\ntransport = \"t\"\n{keys}\n{at_most}\n"));
        assert!(r.outcome.flows.len() > 200, "{}", r.outcome.flows.len());
        // Two hosts a rack.
        assert!(
            r.outcome.flows.iter().all(|f| f.planned.flow.src.index() / 2 != f.planned.flow.dst.index() / 2),
            "{at_most}"
        );
    }
}

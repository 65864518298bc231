//! Flows that wait for others.

use crate::common::{run_on, scenario};
use linkpool_units::Time;
use linkpool_workload::Job;

const TEXT: &str = r#"
    duration = "10ms"
    [topology.fat-tree]
    k = 4
    rate = "1Gbps"
    delay = "2us"
    [transport.t]
    control = "dctcp"
    [[workload.poisson]]
    transport = "t"
    flows_per_second = 5000
    size = "20KB"
    [[workload.trace]]
    transport = "t"
    start = "1ms"
    label = "trace"
    flows = [
        { from = "h0", to = "h5", size = "50KB" },
        { from = "h5", to = "h9", size = "1KB", after = [0] },
        { from = "h0", to = "h3", size = "1KB", start = "7us", after = [0] },
        { from = "h14", to = "h1", size = "1KB", after = [0, 2] },
        { from = "h0", to = "h1", size = "1KB", start = "9.5ms", after = [0] },
        { from = "h1", to = "h0", size = "1KB", after = [4] },
    ]
"#;

#[test]
fn flows_start_when_those_that_they_wait_for_are_over() {
    let s = scenario(TEXT);
    let one = run_on(&s, 1);
    let label = linkpool_sim::LabelId::new(one.plan.labels.iter().position(|l| l == "trace").unwrap());
    let find = |src, dst| {
        let is = |f: &&linkpool_sim::FlowOutcome| {
            f.planned.label == label && (f.planned.flow.src.index(), f.planned.flow.dst.index()) == (src, dst)
        };
        one.outcome.flows.iter().find(is)
    };
    let start = |src, dst| find(src, dst).unwrap().planned.flow.start;
    let first = find(0, 5).unwrap();
    assert_eq!(first.planned.flow.start, Time::from_ms(1));
    let end = first.finished.unwrap();
    // At the receiver it is over when all has arrived: the last ACK takes six links of 2 us and
    // 0.72 us back.
    let last_ack = Time::from_ns(6 * 2_720);
    assert!(start(5, 9) <= end - last_ack && start(5, 9) + last_ack * 3 > end, "{} before {end}", start(5, 9));
    assert_eq!(start(0, 3), end + Time::from_us(7));
    // At another host one inter-host message after the arrival of the last.
    let second = find(0, 3).unwrap().finished.unwrap();
    assert!(start(14, 1) > start(0, 3) && start(14, 1) < second, "{} {second}", start(14, 1));
    // It would start too late, so the flows that wait for it never start.
    assert!(find(0, 1).is_none() && find(1, 0).is_none());
    for threads in [2, 3, 4] {
        assert_eq!(run_on(&s, threads).outcome, one.outcome, "{threads} threads");
    }
}

/// Each operation of each rank begins when the one before is over there; a ring of n takes 2 (n -
/// 1) steps, one after the other.
#[test]
fn collective_operations_follow_each_other() {
    for (algorithm, steps) in [("ring-all-reduce", 14), ("halving-doubling-all-reduce", 6), ("all-to-all", 7)] {
        let s = scenario(&format!(
            "duration = \"100ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n[transport.t]\ncontrol = \"dctcp\"\n\
             [[workload.collective]]\ntransport = \"t\"\nalgorithm = \"{algorithm}\"\nranks = 8\nsize = \"80KB\"\n\
             iterations = 3\ncompute = \"100us\"\n"
        ));
        let one = run_on(&s, 1);
        let flows = &one.outcome.flows;
        assert_eq!(flows.len(), 3 * steps * 8, "{algorithm}");
        for operation in 1..3 {
            for rank in 0..8 {
                let of = |job| flows.iter().filter(move |f| f.planned.flow.job == Some(job));
                let begins =
                    of(operation).filter(|f| f.planned.flow.src.index() == rank).map(|f| f.planned.flow.start).min();
                let received: Vec<_> = of(operation - 1).filter(|f| f.planned.flow.dst.index() == rank).collect();
                let compute = Time::from_us(100);
                // Not before all could have arrived at line rate, nor after all is acknowledged.
                let bits = |f: &linkpool_sim::FlowOutcome| 8 * f.planned.flow.size.unwrap();
                let soonest = received.iter().map(|f| f.planned.flow.start + Time::from_ns(bits(f))).max().unwrap();
                let latest = received.iter().map(|f| f.finished.unwrap()).max().unwrap();
                let begins = begins.unwrap();
                assert!(begins > soonest + compute && begins < latest + compute, "{algorithm}: {begins}");
            }
        }
        // An operation goes from the first start to the last end of its flows.
        for (number, job) in (0..).zip(&one.outcome.jobs) {
            let of: Vec<_> = flows.iter().filter(|f| f.planned.flow.job == Some(number)).collect();
            let start = of.iter().map(|f| f.planned.flow.start).min().unwrap();
            let end = of.iter().map(|f| f.delivered.unwrap()).max();
            let acknowledged = of.iter().map(|f| f.finished.unwrap()).max();
            let expected = Job { number, of: None, start, end, flows: steps as u32 * 8 };
            assert_eq!((job.job, Some(job.active_until)), (expected, acknowledged), "{algorithm}");
        }
        assert_eq!(one.outcome.jobs.len(), 3);
        assert_eq!(run_on(&s, 3).outcome, one.outcome, "{algorithm}");
    }
}

/// What the run cuts off has begun and not ended; two workloads of one label have operations of
/// their own.
#[test]
fn an_operation_that_is_cut_off_has_no_end() {
    let ring = "[[workload.collective]]\ntransport = \"t\"\nalgorithm = \"ring-all-reduce\"\nranks = 4\nsize = \"4MB\"\niterations = 9\n";
    let s = scenario(&format!(
        "duration = \"50ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n[transport.t]\ncontrol = \"dctcp\"\n\
         {ring}start = \"1ms\"\n{ring}"
    ));
    let one = run_on(&s, 1);
    // Six steps of 1 MB take more than 48 ms at 1 Gbit/s, so the second is under way.
    assert_eq!(one.outcome.jobs.len(), 2);
    for (job, start) in one.outcome.jobs.iter().zip([1, 0]) {
        assert_eq!((job.job.number, job.job.start, job.job.end), (0, Time::from_ms(start), None));
        assert_eq!(job.active_until, Time::from_ms(50));
    }
    assert_eq!(run_on(&s, 4).outcome, one.outcome);
}

/// The first two of three that end start one flow each, whichever they are: the smaller before the
/// larger.
#[test]
fn some_of_those_that_a_flow_waits_for_may_be_enough() {
    let text = TEXT.split("flows = [").next().unwrap().to_string()
        + "flows = [\n{ from = \"h0\", to = \"h4\", size = \"300KB\" },\n{ from = \"h1\", to = \"h4\", size = \"10KB\" },\n\
           { from = \"h2\", to = \"h4\", size = \"100KB\" },\n\
           { from = \"h4\", to = \"h8\", size = \"1KB\", after = [0, 1, 2], enough = 1 },\n\
           { from = \"h4\", to = \"h9\", size = \"1KB\", after = [0, 1, 2], enough = 2 },\n\
           { from = \"h4\", to = \"h10\", size = \"1KB\", after = [0, 1, 2] },\n]\n";
    let s = scenario(&text);
    let one = run_on(&s, 1);
    let label = linkpool_sim::LabelId::new(one.plan.labels.iter().position(|l| l == "trace").unwrap());
    let flows: Vec<_> = one.outcome.flows.iter().filter(|f| f.planned.label == label).collect();
    let of = |src, dst| {
        flows.iter().find(|f| (f.planned.flow.src.index(), f.planned.flow.dst.index()) == (src, dst)).unwrap()
    };
    assert_eq!(flows.len(), 6);
    for (before, after) in [((1, 4), (4, 8)), ((2, 4), (4, 9)), ((0, 4), (4, 10))] {
        // All has arrived at h4, and the last ACK is on its way.
        let (end, start) = (of(before.0, before.1).finished.unwrap(), of(after.0, after.1).planned.flow.start);
        assert!(start < end && end - start < Time::from_us(50), "{before:?}: {start} {end}");
    }
    assert_eq!(run_on(&s, 2).outcome, one.outcome);
}

//! Workloads become the flows that they promise.

use crate::common::run;
use linkpool_engine::stream;
use linkpool_scenario::load;
use linkpool_sim::{LabelId, Plan, PlannedFlow};
use linkpool_units::{HostId, Time};
use linkpool_workload::{Flow, PoissonTimes, Sizes, random_other};
use rand::Rng;

const HOSTS: usize = 16;

fn plan(workload: &str) -> Plan {
    let text = format!(
        "duration = \"100ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
         [transport.t]\ncontrol = \"dctcp\"\n{workload}"
    );
    Plan::new(&load(&text, "x.toml", None, &[]).unwrap_or_else(|errors| panic!("{errors:#?}")))
}

fn flows(kind: &str, keys: &str) -> Vec<PlannedFlow> {
    plan(&format!("[[workload.{kind}]]\ntransport = \"t\"\n{keys}\n")).flows.iter().collect()
}

fn received(flows: &[PlannedFlow]) -> [usize; HOSTS] {
    let mut received = [0; HOSTS];
    flows.iter().for_each(|f| received[f.flow.dst.index()] += 1);
    received
}

#[test]
fn matrices_are_what_they_are_called() {
    let random = flows("random", "at_most = 1\njitter = \"1ms\"");
    assert_eq!(received(&random), [1; HOSTS]);
    assert!(random.iter().all(|f| f.flow.start <= Time::from_ms(1)) && random[0].flow.start < random[15].flow.start);
    assert!(received(&flows("random", "at_most = 2")).iter().all(|n| *n <= 2));
    assert_eq!(received(&flows("all-to-all", "")), [HOSTS - 1; HOSTS]);
    assert!(flows("stride", "step = 4").iter().all(|f| (f.flow.src.index() + 4) % 16 == f.flow.dst.index()));
    let hot = received(&flows("hotspot", "flows = 1000\nhosts = [\"h3\"]\nshare = 0.9"));
    assert!((850..960).contains(&hot[3]), "{hot:?}");
    // Two hosts a rack, two racks a pod.
    assert!(flows("staggered", "rack = 1\npod = 0").iter().all(|f| f.flow.src.index() ^ f.flow.dst.index() == 1));
    assert!(flows("staggered", "rack = 0\npod = 1").iter().all(|f| f.flow.src.index() / 4 == f.flow.dst.index() / 4));
    assert!(flows("staggered", "rack = 0\npod = 0").iter().all(|f| f.flow.src.index() / 4 != f.flow.dst.index() / 4));
}

/// Two hosts a rack: no flow stays in one, and all other hosts are sent to.
#[test]
fn flows_may_have_to_leave_their_racks() {
    let same_rack = |f: &PlannedFlow| f.flow.src.index() / 2 == f.flow.dst.index() / 2;
    let random = flows("random", "to = \"other-racks\"\nat_most = 1");
    assert!(!random.iter().any(same_rack) && received(&random) == [1; HOSTS]);
    let poisson = |to: &str| flows("poisson", &format!("to = {to:?}\nflows_per_second_per_host = 1e4\nsize = \"1KB\""));
    assert!(poisson("random").iter().any(same_rack));
    let across = poisson("other-racks");
    assert!(!across.iter().any(same_rack));
    // A thousand flows of each of 16 hosts in 0.1 s: one of each pair has 71 on average, with a
    // deviation of 8.
    let of_pair = |src, dst| across.iter().filter(|f| (f.flow.src.index(), f.flow.dst.index()) == (src, dst)).count();
    assert!((30..115).contains(&of_pair(3, 0)) && (30..115).contains(&of_pair(0, 15)), "{}", of_pair(3, 0));
    assert!(across.len().abs_diff(16_000) < 600, "{}", across.len());
}

/// The rate of each host holds for those of the role.
#[test]
fn a_rate_per_host_counts_the_hosts_that_send() {
    let plan = plan(
        "[roles]\nsome = 4\n[[workload.poisson]]\ntransport = \"t\"\nrole = \"others\"\nflows_per_second_per_host = 1e4\nsize = \"1KB\"\n",
    );
    assert!(plan.flows.len().abs_diff(12_000) < 500, "{}", plan.flows.len());
}

#[test]
fn every_flow_draws_its_own_size() {
    let sizes = |size: &str| {
        let flows = flows("all-to-all", &format!("size = {size}"));
        flows.iter().map(|f| f.flow.size.unwrap()).collect::<Vec<_>>()
    };
    assert!(sizes("{ uniform = [\"1KB\", \"2KB\"] }").iter().all(|size| (1_000..=2_000).contains(size)));
    let stair = sizes("{ cdf = [[10, 0.5], [20, 1.0]], interpolation = \"stair\" }");
    assert!([10, 20].iter().all(|size| stair.contains(size)) && stair.iter().all(|size| [10, 20].contains(size)));
}

#[test]
fn a_load_is_offered() {
    let offered = |size: &str| {
        let flows = flows("poisson", &format!("load = 0.6\nsize = {size}"));
        let bits = 8.0 * flows.iter().map(|f| f.flow.size.unwrap() as f64).sum::<f64>();
        bits / (HOSTS as f64 * 1e9 * 0.1)
    };
    assert!((offered("\"10KB\"") - 0.6).abs() < 0.03, "{}", offered("\"10KB\""));
    let uniform = offered("{ uniform = [\"1KB\", \"20KB\"] }");
    assert!((uniform - 0.6).abs() < 0.03, "{uniform}");
}

#[test]
fn one_workload_does_not_shift_the_random_numbers_of_another() {
    let permutation = "[[workload.permutation]]\ntransport = \"t\"\nsize = { uniform = [\"1KB\", \"1MB\"] }\n";
    let poisson = "[[workload.poisson]]\ntransport = \"t\"\nload = 0.1\nsize = \"10KB\"\n";
    let of = |text: &str, label: &str| {
        let plan = plan(text);
        let label = LabelId::new(plan.labels.iter().position(|l| l == label).unwrap());
        plan.flows.iter().filter(|f| f.label == label).map(|f| f.flow).collect::<Vec<_>>()
    };
    let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 1\n";
    let all = format!("{flow}{poisson}{permutation}");
    assert_eq!(of(permutation, "permutation"), of(&all, "permutation"));
    assert_eq!(of(poisson, "poisson"), of(&all, "poisson"));
}

/// A third of the hosts sends long flows along a permutation, the others short ones along the same.
#[test]
fn roles_share_the_hosts_out() {
    let plan = plan(
        "[roles]\nlong = 5\n[[workload.permutation]]\ntransport = \"t\"\nrole = \"long\"\n\
         [[workload.poisson]]\ntransport = \"t\"\nrole = \"others\"\nto = \"permutation\"\nflows_per_second = 20000\nsize = \"1KB\"\n",
    );
    let label = |name: &str| LabelId::new(plan.labels.iter().position(|l| l == name).unwrap());
    let of = |name: &str| -> Vec<_> { plan.flows.iter().filter(|f| f.label == label(name)).map(|f| f.flow).collect() };
    let (long, short) = (of("permutation"), of("poisson"));
    assert_eq!(long.len(), 5);
    assert!(short.len() > 1000);
    let mut to = [None; HOSTS];
    for f in long.iter().chain(&short) {
        assert!(to[f.src.index()].is_none_or(|dst| dst == f.dst), "one destination each");
        to[f.src.index()] = Some(f.dst);
    }
    assert!(short.iter().all(|f| long.iter().all(|l| l.src != f.src)), "no host has two roles");
    let mut receivers: Vec<HostId> = to.iter().map(|dst| dst.unwrap()).collect();
    receivers.sort_unstable();
    assert!(receivers.into_iter().eq(HostId::first(16)), "together they are a permutation");
}

#[test]
fn small_flows_have_their_transport() {
    let small = "small = { below = \"1500B\", transport = \"u\" }\nsize = { uniform = [\"1KB\", \"2KB\"] }";
    let flows =
        plan(&format!("[transport.u]\ncontrol = \"reno\"\n[[workload.all-to-all]]\ntransport = \"t\"\n{small}\n"))
            .flows;
    assert!(flows.iter().all(|f| f.transport.index() == usize::from(f.flow.size.unwrap() < 1500)));
    assert!([0, 1].iter().all(|t| flows.iter().any(|f| f.transport.index() == *t)));
}

/// All times are drawn first, then of each flow who sends, who receives and how much, from one
/// stream; numbers go by start.
#[test]
fn poisson_arrivals_are_drawn_one_by_one_as_if_at_once() {
    let poisson =
        "[[workload.poisson]]\ntransport = \"t\"\nflows_per_second = 20000\nsize = { uniform = [\"1KB\", \"9KB\"] }\n";
    let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = 3\nto = 4\nsize = \"1KB\"\nstart = \"50ms\"\n";
    let incast = "[[workload.incast]]\ntransport = \"t\"\nsenders = 3\nreceiver = 9\nsize = \"1KB\"\nevery = \"1ms\"\nspacing = \"400us\"\n";
    let plan = plan(&format!("{poisson}{flow}{incast}"));
    let mut random = stream(1, "poisson", 0);
    let drawn = PoissonTimes::new(20_000.0, Time::ZERO, Time::from_ms(100), random.clone());
    let times: Vec<Time> = drawn.clone().collect();
    random = drawn.count_and_rest().1;
    let sizes = Sizes::Uniform { min: 1_000, max: 9_000 };
    let mut expected: Vec<Flow> = times
        .into_iter()
        .map(|start| {
            let src = HostId::new(random.random_range(0..HOSTS));
            let dst = random_other(HOSTS, src, &mut random);
            Flow::new((src, dst), Some(sizes.draw(&mut random)), start)
        })
        .collect();
    let bursts = (0..100).flat_map(|burst| {
        (0..3).map(move |i: u32| {
            let start = Time::from_us(u64::from(burst) * 1_000 + u64::from(i) * 400);
            Flow { burst, ..Flow::new((i.into(), HostId::new(9)), Some(1_000), start) }
        })
    });
    expected.extend(bursts);
    expected.push(Flow {
        stop: Time::from_ms(100),
        ..Flow::new((HostId::new(3), HostId::new(4)), Some(1_000), Time::from_ms(50))
    });
    // At 50 ms a burst starts too; [[workload.flow]] comes first.
    expected.sort_by_key(|f| (f.start, f.src.index() != 3));
    assert_eq!(plan.flows.len(), expected.len());
    for (number, (found, expected)) in plan.flows.iter().zip(expected).enumerate() {
        assert_eq!(found.flow, expected, "{number}");
    }
}

/// The flows of a run are not in memory at once: those after the first thousand start in time, too.
#[test]
fn thousands_of_flows_start_in_time() {
    let r = run(
        "duration = \"2ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
         control = \"reno\"\n[[workload.incast]]\ntransport = \"t\"\nsenders = 1\nreceiver = \"R\"\nsize = \"10B\"\n\
         every = \"1us\"\nbursts = 1500\n",
    );
    assert_eq!(r.outcome.flows.len(), 1_500);
    for (i, flow) in (0..).zip(&r.outcome.flows) {
        assert_eq!((flow.planned.flow.start, flow.finished.is_some()), (Time::from_us(i), true));
    }
}

//! The count of hops by partition agrees with runs on threads, and with the counters of links.

use crate::common::{run, scenario};
use linkpool_network::LinkId;
use linkpool_sim::{Division, Plan, divided, simulate};

const SCENARIO: &str = "duration = \"2ms\"\nseed = 5\n\
     [topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
     [queue]\nlimit = 40\nmark = 10\n[transport.t]\ncontrol = \"dctcp\"\n\
     [[workload.permutation]]\ntransport = \"t\"\njitter = \"20us\"\n";

#[test]
fn hops_by_partition_are_those_of_links() {
    let run = run(SCENARIO);
    let links: Vec<_> = run.plan.fabric.links().iter().zip(&run.outcome.links).collect();
    let (counts, timetable) = ([1, 2, 4, 7], run.plan.timetable());
    let found = divided(&scenario(SCENARIO), &counts).unwrap();
    assert_eq!(found.hops, run.outcome.hops);
    assert!(found.hops > 10_000 && found.windows > 500, "{found:?}");
    for (division, n) in found.divisions.iter().zip(counts) {
        // What a link has accepted and does not hold any more has arrived.
        let parts = run.plan.partitions(&timetable, n);
        let (mut hops, mut crossings, mut into_split) = (vec![0; n as usize], 0, 0);
        for (id, (link, outcome)) in links.iter().enumerate() {
            let arrived = outcome.stats.packets - u64::from(outcome.in_flight);
            let receivers: Vec<u8> = (0..n).filter(|partition| parts.runs(*partition, link.to)).collect();
            match receivers[..] {
                [to] => {
                    hops[to as usize] += arrived;
                    crossings += if parts.sender(LinkId::new(id)) == to { 0 } else { arrived };
                }
                _ => into_split += arrived,
            }
        }
        // Of the packets that come to split switches, links do not tell in which partition.
        assert_eq!(division.hops.iter().sum::<u64>(), found.hops);
        assert!(division.hops.iter().zip(&hops).all(|(all, known)| all >= known), "{n} partitions");
        assert!((crossings..=crossings + into_split).contains(&division.crossings), "{n} partitions");
        assert_eq!(into_split > 0, n > 1, "{n} partitions share switches");
        let most = division.hops.iter().max().copied().unwrap();
        assert!((most..=found.hops).contains(&division.busiest), "{n} partitions: {}", division.busiest);
        // Two and four partitions have whole pods, and meet once in five windows.
        let apart = if [2, 4].contains(&n) { 5 } else { 1 };
        assert_eq!(parts.windows_apart(), apart);
        let windows = found.windows / apart;
        assert!((windows..=found.windows).contains(&division.meetings), "{n} partitions: {}", division.meetings);
        assert!(apart > 1 || division.meetings == found.windows);
    }
    assert_eq!((found.divisions[0].crossings, found.divisions[0].busiest), (0, found.hops));
    assert!(found.divisions[1].busiest < found.hops, "two partitions share the work of some window");
}

/// All flows are in the first two of four pods: half of them in each.
#[test]
fn busy_pods_are_shared_out() {
    let flow =
        |from: u32, to: u32| format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{from}\"\nto = \"h{to}\"\n");
    let (start, _) = SCENARIO.split_once("[[workload").unwrap();
    let flows: String = [(0, 2), (1, 3), (4, 6), (5, 7)].map(|(from, to)| flow(from, to)).concat();
    let found = divided(&scenario(&format!("{start}{flows}")), &[2]).unwrap();
    let Division { hops, crossings, .. } = &found.divisions[0];
    assert!(hops.iter().all(|hops| *hops > found.hops / 4), "{hops:?}");
    assert_eq!(*crossings, 0);
}

#[test]
fn counting_changes_no_run() {
    let plan = Plan::new(&scenario(SCENARIO));
    let on_threads = simulate(&plan, &plan.timetable(), 4, &mut (), &mut |_| true).unwrap();
    assert_eq!(divided(&scenario(SCENARIO), &[4]).unwrap().divisions[0].hops.iter().sum::<u64>(), on_threads.hops);
}

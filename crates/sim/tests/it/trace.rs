//! Traces of flows: they say what the tables of the run say, packet by packet and loss by loss.

use crate::common::{run_on, scenario};
use linkpool_sim::{End, FlowId, What, trace};
use linkpool_units::Time;

const INCAST: &str = "
    duration = \"1ms\"
    drain = \"5s\"
    seed = 5
    [topology.many-to-one]
    senders = 6
    rate = \"1Gbps\"
    delay = \"2us\"
    [queue]
    limit = 8
    [transport.t]
    control = \"reno\"
    [[workload.incast]]
    transport = \"t\"
    senders = 6
    receiver = \"R\"
    size = \"100KB\"
    every = \"1s\"
";

/// Six flows through a queue of eight packets: every drop, every segment and every end is in the
/// trace of all flows.
#[test]
fn a_trace_tells_what_the_tables_count() {
    let s = scenario(INCAST);
    let run = run_on(&s, 1);
    let all: Vec<FlowId> = run.outcome.flows.iter().map(|flow| flow.flow).collect();
    let rows = trace(&s, &all, &mut |_| true).unwrap();
    assert!(rows.is_sorted_by_key(|row| row.at));
    let drops: u64 = run.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
    assert!(drops > 20, "{drops}");
    let mut lost = 0;
    for row in &rows {
        let What::Lost { link, cause, queued, queue, .. } = &row.what else { continue };
        lost += 1;
        // At the switch, or in the burst of a sender at its own link.
        assert!(link == "W->R" || link.ends_with("->W"), "{link}");
        assert_eq!(*cause, "full");
        // Eight wait, and one is being sent.
        assert_eq!(*queued, 9);
        assert_eq!(queue.iter().map(|(_, packets)| packets).sum::<u32>(), 9);
        assert!(queue.iter().all(|(flow, _)| flow.is_some_and(|flow| all.contains(&flow))), "{queue:?}");
    }
    assert_eq!(lost, drops);
    for flow in &run.outcome.flows {
        let of = || rows.iter().filter(|row| row.flow == flow.flow);
        let sent = |row: &&linkpool_sim::Row| matches!(&row.what, What::Sent { by: End::Sender, packet, .. } if packet.kind == "data");
        assert_eq!(of().filter(sent).count() as u64, flow.total(|subflow| subflow.segments));
        let timeouts = of().filter_map(|row| match &row.what {
            What::State { state, .. } => Some(state.timeouts),
            _ => None,
        });
        assert_eq!(timeouts.max(), Some(flow.total(|subflow| subflow.timeouts)));
        let last = of().next_back().unwrap();
        assert_eq!((Some(Time(last.at)), &last.what), (flow.finished, &What::Ends { finished: true }));
        let opens = of().next().unwrap();
        assert_eq!(Time(opens.at), flow.planned.flow.start);
    }
}

/// A trace of one flow among others is the part of the trace of all that is about it, and ends with
/// it.
#[test]
fn a_trace_of_one_flow_is_part_of_that_of_all() {
    let s = scenario(INCAST);
    let all = trace(&s, &FlowId::first(6).collect::<Vec<_>>(), &mut |_| true).unwrap();
    let one = trace(&s, &[FlowId::new(3)], &mut |_| true).unwrap();
    assert_eq!(one, all.into_iter().filter(|row| row.flow == FlowId::new(3)).collect::<Vec<_>>());
}

/// Links that fail, and lose packets, say so.
#[test]
fn a_trace_names_the_cause_of_a_loss() {
    let text = INCAST.replace("limit = 8", "limit = 100");
    let down = "[routing]\nreconverge = \"never\"\n[[change]]\nlinks = [\"W->R\"]\nstate = \"down\"\nat = \"500us\"\nuntil = \"2ms\"";
    let wire = "[[change]]\nlinks = [\"W->R\"]\nloss = 0.05";
    let host = wire.replace("W->R", "S1->W");
    for (change, link, cause) in [(down, "W->R", "down"), (wire, "W->R", "wire"), (&host, "S1->W", "wire")] {
        let s = scenario(&format!("{text}\n{change}"));
        let run = run_on(&s, 1);
        let rows = trace(&s, &FlowId::first(6).collect::<Vec<_>>(), &mut |_| true).unwrap();
        let named = |row: &&linkpool_sim::Row| matches!(&row.what, What::Lost { cause: c, .. } if *c == cause);
        let rare = run.link(link).stats.rare;
        assert_eq!(rows.iter().filter(named).count() as u64, rare.drops_down + rare.drops_loss, "{cause}");
        assert!(rare.drops_down + rare.drops_loss > 0);
    }
}

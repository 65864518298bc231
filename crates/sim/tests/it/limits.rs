//! Limits that only show while a run goes on: it stops, and says where and when.

use crate::common::scenario;
use linkpool_sim::{Plan, RunError, simulate};
use linkpool_units::Time;

/// Four senders of a flow each, 1 us apart: the last SYN arrives before
/// the first data packet.
fn many_to_one() -> String {
    let flow =
        |i| format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"S{}\"\nto = \"R\"\nstart = \"{i}us\"\n", i + 1);
    let flows: String = (0..4).map(flow).collect();
    let topology = "[topology.many-to-one]\nsenders = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n";
    format!("duration = \"9ms\"\n{topology}[transport.t]\ncontrol = \"reno\"\n{flows}")
}

fn error(most_connections: usize, threads: u8) -> Option<RunError> {
    let mut plan = Plan::new(&scenario(&many_to_one()));
    plan.most_connections = most_connections;
    simulate(&plan, &plan.timetable(), threads, &mut (), &mut |_| true).err()
}

#[test]
fn a_run_stops_when_a_host_has_too_many_open_connections() {
    for threads in [1, 2] {
        assert!(error(4, threads).is_none());
        let Some(RunError::Connections { host, at, limit }) = error(3, threads) else { panic!("it went on") };
        assert_eq!((host.as_str(), limit), ("R", 3));
        // The fourth SYN crosses two links of 2 us, and takes 0.72 us on each.
        assert_eq!(at, Time::from_us(3) + Time::from_ns(5_440));
        let message = error(3, threads).unwrap().to_string();
        assert_eq!(message, "at 8440ns host R has more than 3 open connections; no packet can name another one");
    }
}

//! PINT's digests: what follows from the topology, and what is refused.

use linkpool_scenario::{Scenario, ScenarioError, load};
use linkpool_transport::{DigestForm, Telemetry};
use linkpool_units::Time;

const TREE: &str = "[topology.many-to-one]\nsenders = 2\nrate = \"100Gbps\"\ndelay = \"1us\"";

/// The scenario with this topology, and transport `t` with these lines.
fn with(topology: &str, lines: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let flow = "[[workload.all-to-all]]\ntransport = \"t\"";
    let text = format!(
        "duration = \"1ms\"\n{topology}\n[queue]\nlimit = \"1MB\"\n[transport.t]\ncontrol = \"hpcc-pint\"\n{lines}\n{flow}\n"
    );
    load(&text, "digests.toml", None, &[])
}

/// A packet of 1,108 B takes 88.64 ns and its ACK of 88 B 7.04 ns on each of two links of 100
/// Gbit/s, with 1 us each: 4,191.36 ns.
#[test]
fn digests_follow_from_the_topology_and_the_base() {
    let of = |lines| {
        let scenario = with(TREE, lines).unwrap();
        assert_eq!(load(&scenario.to_toml(), "x.toml", None, &[]).unwrap(), scenario);
        scenario.transports[0].telemetry()
    };
    let form = DigestForm { base: 1.05, bits: 8, base_rtt: Time::from_ps(4_191_360) };
    assert_eq!(of(""), Some(Telemetry::Digest(form)));
    let given = DigestForm { base: 1.01, bits: 11, base_rtt: Time::from_us(9) };
    assert_eq!(of("pint_base = 1.01\npint_base_rtt = \"9us\""), Some(Telemetry::Digest(given)));
    assert_eq!(of("pint_bits = 9"), Some(Telemetry::Digest(DigestForm { bits: 9, ..form })));
    // One digest has room for any path; records have not.
    let longer = "[topology.xpander]\ndegree = 3\nlift = 12\nhosts_per_switch = 1\nrate = \"1Gbps\"\ndelay = \"1us\"\n[routing]\nkind = \"valiant\"";
    with(longer, "").unwrap();
    assert!(with(longer, "[transport.u]\ncontrol = \"hpcc\"").is_err());
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let other = "[transport.u]\ncontrol = \"hpcc-pint\"\n";
    #[rustfmt::skip]
    let cases = [
        ("pint_base = 1.0", "transport.t.pint_base", "1 is no base; it is at least 1.001 and at most 16"),
        ("pint_base = nan", "transport.t.pint_base", "expected a finite number, found nan"),
        ("pint_base = inf", "transport.t.pint_base", "expected a finite number, found inf"),
        ("pint_base = -7.0", "transport.t.pint_base", "-7 is no base"),
        ("pint_base = 17.0", "transport.t.pint_base", "17 is no base"),
        ("pint_bits = 0", "transport.t.pint_bits", "0 bits are no digest; it has 1 to 16"),
        ("pint_bits = 17", "transport.t.pint_bits", "17 bits are no digest"),
        ("pint_bits = 7", "transport.t.pint_bits", "say utilisations of 0.96 at most, and a full link has 1; write at least 8 bits"),
        ("pint_probability = 0.0", "transport.t.pint_probability", "0 is no probability of an answer"),
        ("pint_probability = 1.1", "transport.t.pint_probability", "1.1 is no probability of an answer"),
        ("pint_base_rtt = \"0s\"", "transport.t.pint_base_rtt", "must be above zero"),
        (&format!("{other}pint_base = 1.051"), "transport.u.pint_base", "that of transport \"t\" differs; write pint_base = 1.05 in both"),
        (&format!("{other}pint_bits = 9"), "transport.u.pint_bits", "write pint_bits = 8 in both"),
        (&format!("pint_base_rtt = \"9us\"\n{other}"), "transport.u.pint_base_rtt", "write pint_base_rtt = \"9us\" in both"),
        ("hpcc_records = \"first\"", "transport.t.hpcc_records", "does not apply to hpcc-pint, only to hpcc"),
    ];
    for (lines, key, message) in cases {
        let errors = with(TREE, lines).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].key, key, "{errors:#?}");
        assert!(errors[0].message.contains(message), "{errors:#?}");
    }
}

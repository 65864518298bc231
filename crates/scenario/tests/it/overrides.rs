//! Single values set from a command line.

use linkpool_network::QueueLimit;
use linkpool_network::topology::{ManyToOne, Topology as Drawn};
use linkpool_scenario::{Scenario, ScenarioError, Subflows, Topology, WorkloadKind, load};
use linkpool_transport::control::ControlConfig;
use linkpool_units::Time;
use linkpool_workload::Sizes;

const TEXT: &str = r#"
name = "base"
seed = 7
duration = "20s"
[topology.many-to-one]
senders = 30
rate = "10Gbps"
delay = "2us"
[transport.amp]
control = "amp"
[transport."x.y"]
control = "xmp"
[[workload.incast]]
transport = "amp"
senders = 30
receiver = "R"
size = "128KiB"
every = "1s"
[record]
queue = { every = "10us", links = ["W->R"] }
"#;

fn set(overrides: &[&str]) -> Result<Scenario, Vec<ScenarioError>> {
    let split = |text: &&str| text.split_once('=').map(|(key, value)| (key.to_string(), value.to_string())).unwrap();
    load(TEXT, "base.toml", None, &overrides.iter().map(split).collect::<Vec<_>>())
}

fn error(overrides: &[&str]) -> String {
    match &set(overrides).unwrap_err()[..] {
        [error] => error.to_string(),
        errors => panic!("{errors:#?}"),
    }
}

#[test]
fn values_are_toml_or_else_strings() {
    let scenario = set(&[
        "name=no quotes",
        "duration=5s",
        "drain=\"1s\"",
        "topology.many-to-one.senders=40",
        "queue.limit=50",
        "queue.exempt=[\"syn\"]",
        "transport.amp.beta=3",
        "transport.amp.suppression=false",
        "workload.incast.0.size=64KiB",
        "record.queue.links.0=R->W",
        "record.cwnd={ every = \"1ms\" }",
    ]);
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(scenario.name, "no quotes");
    assert_eq!((scenario.duration, scenario.drain), (Time::from_secs(5), Time::from_secs(1)));
    assert!(matches!(scenario.topology, Topology::Drawn(Drawn::ManyToOne(ManyToOne { senders: 40, .. }))));
    assert_eq!((scenario.queue.limit, scenario.queue.exempt.len()), (QueueLimit::Packets(50), 1));
    let ControlConfig::Amp(amp) = &scenario.transports[0].config.control else { panic!("amp") };
    assert_eq!((amp.cut.beta, amp.suppression), (3.0, false));
    assert!(matches!(
        &scenario.workloads[0].kind,
        WorkloadKind::Incast(i) if i.size == Sizes::Constant(65_536) && i.receiver == 40.into() && i.bursts == 5
    ));
    assert_eq!(scenario.record.queue.unwrap().links, [("R".to_string(), "W".to_string())]);
    assert_eq!(scenario.record.cwnd.unwrap().every, Time::from_ms(1));
}

#[test]
fn later_ones_win_and_quoted_keys_work() {
    let scenario = set(&["seed=8", "seed=9", "transport.\"x.y\".subflows=2"]).unwrap();
    assert_eq!((scenario.seed, scenario.transports[1].subflows), (9, Subflows::Count(2)));
}

#[test]
fn a_transport_may_be_added_and_used() {
    let scenario = set(&["transport.new.control=dctcp", "workload.incast.0.transport=new"]).unwrap();
    assert_eq!(scenario.transports[scenario.workloads[0].transport].name, "new");
}

#[test]
fn the_seed_overrides_all_other_seeds() {
    let overrides = [("seed".to_string(), "8".to_string())];
    assert_eq!(load(TEXT, "base.toml", None, &[]).unwrap().seed, 7);
    assert_eq!(load(TEXT, "base.toml", Some(9), &overrides).unwrap().seed, 9);
    let errors = load(TEXT, "base.toml", Some(u64::MAX), &[]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "base.toml: seed: a seed is at most 9223372036854775807 (from --seed 18446744073709551615)"
    );
}

#[test]
fn a_path_that_leads_nowhere_is_an_error() {
    for (option, says) in [
        ("transport.amp.bta=3", "base.toml: transport.amp.bta: unknown key `bta`; did you mean `beta`?"),
        ("colour=3", "base.toml: colour: unknown key `colour`"),
        ("transport.apm.control=xmp", "no workload uses the transport \"apm\"; did you mean `amp`?"),
        ("topology.fat-tree.k=4", "many-to-one and fat-tree; leave only one"),
        ("workload.incast.size=1KB", "workload.incast is an array; name one of its elements, workload.incast.0"),
        ("workload.incast.1.size=1KB", "name one of its elements, workload.incast.0"),
        ("duration.x=3", "duration is a single value"),
        ("a..b=3", "not a dotted path; write for example topology.many-to-one.senders=40"),
        ("queue.limit.0=3", "a whole number of packets, such as 100, or a size, such as \"150KB\", found a table"),
    ] {
        let error = error(&[option]);
        assert!(error.contains(says), "{error}");
        assert!(error.ends_with(&format!("(from --set {option})")), "{error}");
    }
}

#[test]
fn an_error_says_that_it_comes_from_the_command_line() {
    let errors = set(&["topology.many-to-one.rate=10GB"]).unwrap_err();
    assert_eq!(errors[0].line, None);
    assert_eq!(
        errors[0].to_string(),
        "base.toml: topology.many-to-one.rate: \"10GB\": GB is a size; write \"10Gbps\" \
         (from --set topology.many-to-one.rate=10GB)"
    );
    // The option is right in itself: the file's line is the one that no longer fits.
    let errors = set(&["topology.many-to-one.senders=20"]).unwrap_err();
    assert_eq!((errors[0].line, errors[0].key.as_str()), (Some(15), "workload.incast.0.senders"));
}

/// So do errors within the table or array that an option gives.
#[test]
fn parts_of_a_value_come_from_the_command_line_too() {
    let option = "record.cwnd={ every = \"10us\", labels = [\"nobody\"] }";
    let errors = set(&[option]).unwrap_err();
    assert_eq!((errors[0].key.as_str(), errors[0].line), ("record.cwnd.labels.0", None));
    assert!(errors[0].message.ends_with(&format!("(from --set {option})")), "{}", errors[0].message);
}

//! `[routing]`, good and bad.

use linkpool_network::{Drill, Per, Spreading, Ugal, Valiant, Weights};
use linkpool_scenario::{Placement, Scenario, ScenarioError, load};
use linkpool_units::{Bytes, Time};

const TREE: &str = "[topology.fat-tree]\nk = 4";
const FLY: &str = "[topology.dragonfly]\nrouters_per_group = 2";
const LEAVES: &str = "[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2";

fn with(topology: &str, transport: &str, routing: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let text = format!(
        "duration = \"1s\"\n{topology}\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.t]\n{transport}\n\
         [[workload.permutation]]\ntransport = \"t\"\n[routing]\n{routing}\n"
    );
    load(&text, "x.toml", None, &[])
}

#[test]
fn what_is_said_is_meant_and_written_back() {
    let reno = "control = \"reno\"";
    let plain = with(TREE, reno, "").unwrap();
    let network = |scenario: &Scenario| scenario.routing.network(&scenario.topology.fabric());
    assert_eq!((plain.routing.kind, network(&plain).weights), (Spreading::Ecmp, Weights::Equal));
    let flowlets = with(TREE, reno, "kind = \"flowlets\"\ngap = \"500us\"\nweights = \"capacity\"").unwrap();
    assert_eq!((network(&flowlets).spreading, network(&flowlets).gap), (Spreading::Flowlets, Some(Time::from_us(500))));
    assert_eq!(network(&flowlets).weights, Weights::Capacity);
    for (keys, gap) in [("", None), ("\ngap = \"9us\"", Some(Time::from_us(9)))] {
        let adaptive = with(TREE, reno, &format!("kind = \"adaptive\"{keys}")).unwrap();
        assert_eq!((network(&adaptive).spreading, network(&adaptive).gap), (Spreading::Adaptive, gap));
    }
    let spray = with(TREE, reno, "kind = \"spray\"").unwrap();
    assert_eq!(network(&spray).spreading, Spreading::Spray);
    let drill = with(TREE, reno, "kind = \"drill\"\ndrill = { samples = 3, engines = 8 }").unwrap();
    assert_eq!(network(&drill).spreading, Spreading::Drill(Drill { samples: 3, memory: 1, engines: 8 }));
    let valiant = with(FLY, reno, "kind = \"valiant\"").unwrap();
    assert_eq!(network(&valiant).spreading, Spreading::Valiant(Valiant { per: Per::Packet, minimal: 0 }));
    let by_flow = with(FLY, reno, "kind = \"valiant\"\nvaliant = { per = \"flow\", minimal = 25 }").unwrap();
    assert_eq!(network(&by_flow).spreading, Spreading::Valiant(Valiant { per: Per::Flow, minimal: 25 }));
    let ugal =
        with(FLY, reno, "kind = \"ugal\"\ngap = \"9us\"\nugal = { candidates = 4, threshold = \"8KB\" }").unwrap();
    let expected = Spreading::Ugal(Ugal { candidates: 4, threshold: Bytes(8000) });
    assert_eq!((network(&ugal).spreading, network(&ugal).gap), (expected, Some(Time::from_us(9))));
    let given = with(LEAVES, reno, "link = [{ name = \"l0->s1\", weight = 3 }]").unwrap();
    let link = given.topology.fabric().link(4.into(), 7.into()).unwrap();
    assert!(matches!(network(&given).weights, Weights::Given(w) if w.get(&link) == Some(&3) && w.len() == 1));
    let two_level = with(TREE, "control = \"lia\"\nsubflows = 2", "kind = \"two-level\"").unwrap();
    assert_eq!((two_level.routing.kind, two_level.routing.addresses), (Spreading::TwoLevel, Some(2)));
    let placed = with(TREE, "control = \"reno\"\npaths = \"placed\"", "placement = { period = \"10ms\" }").unwrap();
    assert_eq!(placed.routing.placement, Some(Placement { period: Time::from_ms(10), share: 0.1 }));
    for scenario in [plain, flowlets, spray, drill, valiant, by_flow, ugal, given, two_level, placed] {
        assert_eq!(load(&scenario.to_toml(), "x.toml", None, &[]).unwrap(), scenario);
    }
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let reno = "control = \"reno\"";
    #[rustfmt::skip]
    let cases = [
        (TREE, reno, "kind = \"flowlets\"", "routing.gap", "missing; write for example gap = \"500us\""),
        (TREE, reno, "kind = \"flowlets\"\ngap = \"0s\"", "routing.gap", "must be above zero"),
        (TREE, reno, "gap = \"1us\"", "routing.gap", "applies only to kind = \"flowlets\", kind = \"adaptive\" and kind = \"ugal\""),
        (TREE, reno, "kind = \"spray\"\naddresses = 2", "routing.addresses", "applies only to kind = \"two-level\""),
        (TREE, reno, "kind = \"letflow\"", "routing.kind", "known: ecmp, spray, flowlets, adaptive, drill, conga, valiant, ugal, two-level"),
        (TREE, reno, "kind = \"drill\"\ndrill = { samples = 0 }", "routing.drill.samples", "0 is no number of links, 1 to 64"),
        (TREE, reno, "kind = \"drill\"\ndrill = { samples = 65 }", "routing.drill.samples", "65 is no number of links, 1 to 64"),
        (TREE, reno, "kind = \"drill\"\ndrill = { memory = 65 }", "routing.drill.memory", "65 is no number of links, 0 to 64"),
        (TREE, reno, "kind = \"conga\"\nconga = { bits = 9 }", "routing.conga.bits", "9 is no number of bits, 1 to 8"),
        (TREE, reno, "kind = \"conga\"\nconga = { period = \"161us\" }", "routing.conga.period", "must be at most `tau`"),
        ("[topology.fat-tree]\nk = 4\nnics = 2", reno, "kind = \"conga\"", "routing.kind", "hosts have one NIC"),
        (TREE, reno, "kind = \"drill\"\ngap = \"9us\"", "routing.gap", "applies only to kind = "),
        (TREE, reno, "kind = \"spray\"\ndrill = { samples = 2 }", "routing.drill", "applies with kind = \"drill\""),
        (TREE, reno, "kind = \"valiant\"", "routing.kind", "\"valiant\" sends packets over switches that have hosts, one NIC each, as in a dragonfly"),
        (TREE, reno, "kind = \"ugal\"", "routing.kind", "\"ugal\" sends packets over switches that have hosts"),
        ("[topology.dragonfly]\nrouters_per_group = 2\ngroups = 2", reno, "kind = \"ugal\"", "routing.kind", "over a third group, and here are two"),
        (FLY, reno, "kind = \"valiant\"\nvaliant = { minimal = 101 }", "routing.valiant.minimal", "101 is no percentage, 0 to 100"),
        (FLY, reno, "kind = \"valiant\"\nvaliant = { per = \"path\" }", "routing.valiant.per", "packet"),
        (FLY, reno, "kind = \"ugal\"\nugal = { candidates = 0 }", "routing.ugal.candidates", "0 is no number of paths, 1 to 64"),
        (FLY, reno, "kind = \"valiant\"\ngap = \"1us\"", "routing.gap", "applies only to kind = "),
        (FLY, reno, "kind = \"valiant\"\nreconverge = \"1ms\"\n[[change]]\nat = \"1ms\"\nlinks = [\"r0.0->r0.1\"]\nstate = \"down\"", "routing.kind", "\"valiant\" draws paths over all links"),
        (FLY, reno, "kind = \"ugal\"\n[queue]\npfc = { buffer = \"12MB\" }", "routing.kind", "no virtual channels; leave `pfc` in [queue] out"),
        ("[topology.xpander]\ndegree = 3\nlift = 12\nhosts_per_switch = 1", "control = \"hpcc\"", "kind = \"valiant\"", "transport.t.control", "room for what 8 switches write, and paths of this topology have"),
        (TREE, reno, "weights = \"capacity\"\nlink = []", "routing.weights", "leave out `weights` or `link`"),
        (TREE, reno, "link = [{ name = \"e0.0->c0\", weight = 2 }]", "routing.link.0.name", "there is no link from e0.0 to c0; e0.0 is linked to"),
        (TREE, reno, "link = [{ name = \"e0.0<->a0.0\", weight = 2 }]", "routing.link.0.name", "write \"e0.0->a0.0\", and the other by itself"),
        (TREE, reno, "link = [{ name = \"e0.0->a0.0\", weight = 0 }]", "routing.link.0.weight", "must be 1 to 64"),
        (TREE, reno, "link = [{ name = \"e0.0->a0.0\", weight = 1 }, { name = \"e0.0->a0.0\", weight = 1 }]", "routing.link.1.name", "stands here twice"),
        (LEAVES, reno, "kind = \"two-level\"", "routing.kind", "is for fat-trees whose hosts have one NIC"),
        ("[topology.fat-tree]\nk = 4\nnics = 2", reno, "kind = \"two-level\"", "routing.kind", "is for fat-trees whose hosts have one NIC"),
        (TREE, reno, "kind = \"two-level\"\naddresses = 3", "routing.addresses", "1 to 2 addresses"),
        (TREE, reno, "kind = \"two-level\"\nweights = \"equal\"", "routing.weights", "leaves no choice"),
        (TREE, "control = \"lia\"\nsubflows = 3", "kind = \"two-level\"", "transport.t.subflows", "3 subflows, but hosts have 2 addresses, each with one path"),
        (TREE, "control = \"reno\"\npaths = \"scatter\"", "kind = \"two-level\"", "transport.t.paths", "gives each address its path; leave it out"),
        (TREE, "control = \"mmptcp\"\nswitch_bytes = \"100KB\"", "kind = \"two-level\"", "transport.t.control", "take another algorithm than mmptcp"),
    ];
    let placed = "control = \"reno\"\npaths = \"placed\"";
    #[rustfmt::skip]
    let placements = [
        (TREE, placed, "", "routing.placement", "missing, and t has its flows placed"),
        (TREE, reno, "placement = { period = \"1ms\" }", "routing.placement", "for transports with paths = \"placed\""),
        (TREE, placed, "placement = {}", "routing.placement.period", "missing; write for example"),
        (TREE, placed, "placement = { period = \"0s\" }", "routing.placement.period", "above zero"),
        (TREE, placed, "placement = { period = \"1ms\", share = 1.5 }", "routing.placement.share", "above 0 and at most 1"),
        (TREE, "control = \"lia\"\nsubflows = 2\npaths = \"placed\"", "placement = { period = \"1ms\" }", "transport.t.paths", "is for connections of one subflow"),
    ];
    for (topology, transport, routing, key, message) in cases.into_iter().chain(placements) {
        let errors = with(topology, transport, routing).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].key, key, "{errors:#?}");
        assert!(errors[0].message.contains(message), "{errors:#?}");
    }
}

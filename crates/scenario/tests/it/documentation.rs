//! `docs/scenario.md` says what the code does.

use std::collections::BTreeSet;

use linkpool_scenario::{Control, load, reference, schema};
use serde_json::Value;

fn documentation() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    std::fs::read_to_string(path).expect("the documentation is beside the code")
}

/// The rows of the table under the heading that starts with `heading`: the cells of each, without
/// the backticks around them.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = documentation();
    let section = text.split("\n## ").find(|section| section.starts_with(heading)).expect("the heading is there");
    let cells = |line: &str| line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']).to_string()).collect();
    // The first table of the section.
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).map(cells).collect()
}

/// What stands between backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn properties(name: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let object = if name.is_empty() { &schema } else { &schema["$defs"][name] };
    let object = if object.is_null() { &schema["properties"][name] } else { object };
    let properties = object["properties"].as_object().unwrap_or_else(|| panic!("no {name} in the schema"));
    properties.keys().cloned().collect()
}

fn names<'a>(keys: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    keys.into_iter().map(str::to_string).collect()
}

#[test]
fn the_first_example_is_good() {
    let text = documentation();
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    load(example, "example.toml", None, &[]).unwrap();
}

/// What follows from declarations stands on the page as the declarations have it. `UPDATE=1` writes
/// it there.
#[test]
fn what_is_generated_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    let mut parts = Vec::new();
    for part in documentation().split_inclusive("<!-- ") {
        let (mark, rest) = part.split_once(" -->\n").unwrap_or((part, ""));
        let (kept, next) = rest.strip_suffix("<!-- ").map_or((rest, ""), |kept| (kept, "<!-- "));
        parts.push(match reference(mark) {
            Some(text) => format!("{mark} -->\n{text}\n{next}"),
            None if rest.is_empty() => part.to_string(),
            None => format!("{mark} -->\n{kept}{next}"),
        });
    }
    let text = parts.concat();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(documentation() == text, "docs/scenario.md is out of date; run this test with UPDATE=1");
}

/// A part whose mark the code does not know would stay as it is for ever.
#[test]
fn each_mark_of_the_page_names_a_part() {
    let text = documentation();
    let marks = text.split("<!-- ").skip(1).filter_map(|part| part.split_once(" -->").map(|(mark, _)| mark));
    let marks: Vec<&str> = marks.filter(|mark| *mark != "end").collect();
    assert!(marks.contains(&"algorithms"), "{marks:?}");
    for mark in marks {
        assert!(reference(mark).is_some_and(|text| text.starts_with("| ")), "{mark}");
    }
    assert_eq!(reference("no such part"), None);
}

#[test]
fn tables_list_the_keys_of_the_schema() {
    // Keys of inner tables have a dot.
    let first_cells = |heading| {
        let keys = table(heading).into_iter().map(|row| code(&row[0])[0].to_string());
        keys.filter(|key| !key.contains('.')).collect::<BTreeSet<_>>()
    };
    let first_cells_of = |heading, inner: &str| {
        let keys = table(heading).into_iter().map(|row| code(&row[0])[0].to_string());
        keys.filter_map(|key| Some(key.strip_prefix(inner)?.strip_prefix('.')?.to_string())).collect::<BTreeSet<_>>()
    };
    assert_eq!(first_cells("Top level"), properties(""));
    assert_eq!(first_cells("`[measure]`"), properties("Measure"));
    assert_eq!(first_cells("`[routing]`"), properties("Routing"));
    assert_eq!(first_cells("`[queue]`"), properties("Queue"));
    assert_eq!(&properties("LayerQueue") | &names(["layer"]), properties("Queue"));
    assert_eq!(first_cells("`[transport.NAME]`"), properties("Transport"));
    assert_eq!(first_cells("`[[change]]`"), properties("Change"));
    assert_eq!(first_cells("`[record]`"), properties("Record"));
    for (key, series) in
        [("queue", "QueueSeries"), ("cwnd", "Series"), ("counters", "CounterSeries"), ("capture", "Capture")]
    {
        assert_eq!(first_cells_of("`[record]`", key), properties(series), "{key}");
    }
    assert_eq!(first_cells_of("`[[change]]`", "burst_loss"), properties("BurstLoss"));
    assert_eq!(first_cells_of("`[[change]]`", "repeat"), properties("Repeat"));
    assert_eq!(first_cells_of("`[routing]`", "placement"), properties("Placement"));
}

#[test]
fn kinds_list_the_keys_of_the_schema() {
    let kinds = |heading: &str, defs: &[(&str, &str)], always: &[&str]| {
        let rows = table(heading);
        assert_eq!(rows.len(), defs.len(), "{heading}");
        for (row, (kind, def)) in rows.iter().zip(defs) {
            assert_eq!(code(&row[0]), [*kind]);
            // A default may be named after its key: `stop` (default: `duration`).
            let outside = row[1].split(['(', ')']).step_by(2).collect::<String>();
            assert_eq!(names(code(&outside)), &properties(def) - &names(always.iter().copied()), "{kind}");
        }
    };
    let topologies = [
        ("many-to-one", "ManyToOne"),
        ("traffic-shift", "TrafficShift"),
        ("dumbbell", "Dumbbell"),
        ("fat-tree", "FatTree"),
        ("leaf-spine", "LeafSpine"),
        ("multi-plane", "MultiPlane"),
        ("vl2", "Vl2"),
        ("bcube", "BCube"),
        ("dragonfly", "Dragonfly"),
        ("slim-fly", "SlimFly"),
        ("xpander", "Xpander"),
        ("ring", "Ring"),
        ("triangle", "Triangle"),
        ("graph", "Graph"),
    ];
    kinds("`[topology.KIND]`", &topologies, &[]);
    let workloads = [
        ("flow", "Flow"),
        ("incast", "Incast"),
        ("many-to-one", "ManyToOneFlows"),
        ("permutation", "Permutation"),
        ("poisson", "Poisson"),
        ("random", "Random"),
        ("stride", "Stride"),
        ("all-to-all", "AllToAll"),
        ("hotspot", "Hotspot"),
        ("staggered", "Staggered"),
        ("partition-aggregate", "PartitionAggregate"),
        ("trace", "Trace"),
        ("program", "Program"),
        ("collective", "Collective"),
        ("training", "Training"),
    ];
    kinds("`[[workload.KIND]]`", &workloads, &["label", "transport", "role", "start", "small"]);
}

/// What a transport of this algorithm cannot do without.
fn with_control(control: &str) -> String {
    let more = if control == "mmptcp" { "\nswitch_on_congestion = true" } else { "" };
    format!("control = \"{control}\"{more}")
}

fn with_transport(keys: &str) -> Result<linkpool_scenario::Scenario, Vec<linkpool_scenario::ScenarioError>> {
    let text = format!(
        "duration = \"1s\"\ntopology.traffic-shift = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"S2\"\nto = \"D2\"\n[transport.t]\n{keys}\n"
    );
    load(&text, "t.toml", None, &[])
}

/// The rows of settings of transports, without the two that settle which settings there are.
fn defaults_of_transports() -> Vec<Vec<String>> {
    let rows = table("`[transport.NAME]`").into_iter();
    rows.filter(|row| !["`control`", "`preset`"].contains(&row[0].as_str())).collect()
}

#[test]
fn the_defaults_of_transports_are_those_of_the_table() {
    for (column, preset) in [(1, "linux"), (2, "paper-2013")] {
        for row in defaults_of_transports() {
            let (key, default) = (code(&row[0])[0], row[column].trim_matches('`'));
            // Needed, or said for the sake of it.
            if ["switch_bytes", "switch_window", "switch_on_congestion"].contains(&key) {
                continue;
            }
            // Of two scenarios, one says the default and the other says nothing.
            let control = control_names().into_iter().find(|control| applies(&row[3], control)).unwrap();
            let needs = if key == "subflows" { String::new() } else { needs(&row[3]) };
            let unsaid = format!("{}\npreset = \"{preset}\"{needs}", with_control(control));
            let said = format!("{unsaid}\n{key} = {default}");
            assert_eq!(with_transport(&said).unwrap(), with_transport(&unsaid).unwrap(), "{key} of {preset}");
        }
    }
}

#[test]
fn all_controllers_are_listed() {
    let listed =
        table("Congestion control algorithms").iter().map(|row| code(&row[0])[0].to_string()).collect::<Vec<_>>();
    assert_eq!(listed, control_names());
}

#[test]
fn keys_apply_to_the_controllers_of_the_table() {
    for row in defaults_of_transports() {
        // One subflow is right for all.
        let (key, value) = (code(&row[0])[0], row[1].trim_matches('`'));
        let value = if key == "subflows" { "2" } else { value };
        // Stands there already, of the algorithm that it is for.
        if key == "switch_on_congestion" {
            continue;
        }
        for control in control_names() {
            let needs = if key == "subflows" { String::new() } else { needs(&row[3]) };
            let outcome = with_transport(&format!("{}\n{key} = {value}{needs}", with_control(control)));
            assert_eq!(outcome.is_ok(), applies(&row[3], control), "{key} of {control}: {outcome:?}");
        }
    }
}

fn control_names() -> Vec<&'static str> {
    Control::all().map(Control::name).collect()
}

/// Another key without which one does not apply.
fn needs(cell: &str) -> String {
    let several = if cell.starts_with("several subflows") { "\nsubflows = 2" } else { "" };
    let with = cell.split_once(", with ").map_or(String::new(), |(_, with)| {
        let setting = *code(with).last().unwrap();
        let value = if setting == "receive_buffer" { " = \"1MB\"" } else { "" };
        format!("\n{setting}{value}")
    });
    format!("{several}{with}")
}

fn applies(cell: &str, control: &str) -> bool {
    match cell.split(", with ").next().unwrap() {
        "all" => true,
        "TCP" => control != "ndp",
        "several subflows" => !["reno", "dctcp", "ndp"].contains(&control),
        "several subflows, not mmptcp" => !["reno", "dctcp", "mmptcp", "ndp"].contains(&control),
        list => list.split(", ").any(|name| name == control),
    }
}

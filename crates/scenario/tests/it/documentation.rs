//! `docs/scenario.md` and the pages of its tables say what the code does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkpool_scenario::{Control, load, reference, schema};
use serde_json::Value;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn on_disk(page: &str) -> String {
    std::fs::read_to_string(docs().join(page)).expect("the documentation is beside the code")
}

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// A page. While one test brings pages up to date, the others read what it writes, as they run at
/// the same time.
fn read(page: &str) -> String {
    let text = on_disk(page);
    if updating() { as_generated(&text, page) } else { text }
}

/// The page with the parts that follow from declarations as the declarations have them.
fn as_generated(text: &str, page: &str) -> String {
    let mut parts = Vec::new();
    for text in text.split_inclusive("<!-- ") {
        let (mark, rest) = text.split_once(" -->\n").unwrap_or((text, ""));
        let (kept, next) = rest.strip_suffix("<!-- ").map_or((rest, ""), |kept| (kept, "<!-- "));
        parts.push(match part(mark, page) {
            Some(text) => format!("{mark} -->\n{text}\n{next}"),
            None if rest.is_empty() => text.to_string(),
            None => format!("{mark} -->\n{kept}{next}"),
        });
    }
    parts.concat()
}

/// The reference pages, by their paths in `docs/`.
fn pages() -> Vec<String> {
    let mut pages = vec!["scenario.md".to_string()];
    for folder in ["scenario", "topologies", "workloads"] {
        for entry in docs().join(folder).read_dir().expect("the documentation is beside the code") {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    pages.sort();
    pages
}

/// The part `mark` as it stands on `page`: its links, which begin at `docs/`, lead there from the
/// page's folder.
fn part(mark: &str, page: &str) -> Option<String> {
    let up = if page.contains('/') { "](../" } else { "](" };
    Some(reference(mark)?.replace("](", up))
}

/// The rows of the first table of a page: the cells of each, without the backticks around them.
fn table(page: &str) -> Vec<Vec<String>> {
    let text = read(page);
    let text = text.split_once(" -->\n").expect("the page has a generated part").1;
    let cells = |line: &str| line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']).to_string()).collect();
    text.lines().take_while(|line| line.starts_with('|')).skip(2).map(cells).collect()
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
    let text = read("scenario.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    load(example, "example.toml", None, &[]).unwrap();
}

/// What follows from declarations stands on the pages as the declarations have it. `UPDATE=1`
/// writes it there.
#[test]
fn what_is_generated_is_up_to_date() {
    for page in pages() {
        let text = as_generated(&on_disk(&page), &page);
        if updating() && on_disk(&page) != text {
            // At once, so that no other test reads half a page.
            let new = docs().join(format!("{page}.new"));
            std::fs::write(&new, &text).unwrap();
            std::fs::rename(&new, docs().join(&page)).unwrap();
        }
        assert!(on_disk(&page) == text, "docs/{page} is out of date; run this test with UPDATE=1");
    }
}

fn marks(page: &str) -> Vec<String> {
    let text = read(page);
    let marks = text.split("<!-- ").skip(1).filter_map(|part| part.split_once(" -->").map(|(mark, _)| mark));
    marks.filter(|mark| *mark != "end").map(str::to_string).collect()
}

/// A part whose mark the code does not know would stay as it is for ever.
#[test]
fn each_mark_of_the_pages_names_a_part() {
    for page in pages() {
        for mark in marks(&page) {
            assert!(reference(&mark).is_some_and(|text| text.starts_with("| ")), "{mark} of {page}");
        }
    }
    for unknown in ["no such part", "topology.no-such-kind", "workload.fat-tree", "topology.poisson", "queue.red"] {
        assert_eq!(reference(unknown), None, "{unknown}");
    }
}

/// Each kind has its keys on its own page, which the list of kinds leads to.
#[test]
fn each_kind_has_its_keys_on_its_page() {
    for (list, folder, table_name) in
        [("scenario/topology.md", "topologies", "topology"), ("scenario/workload.md", "workloads", "workload")]
    {
        let rows = table(list);
        assert!(rows.len() > 10, "{list}");
        for row in rows {
            let kind = code(&row[0])[0].to_string();
            let page = format!("{folder}/{kind}.md");
            assert!(row[0].contains(&format!("](../{page})")), "{}", row[0]);
            assert_eq!(marks(&page), [format!("{table_name}.{kind}")]);
            // The keys in both places are the same; those of inner tables have a dot.
            let keys = table(&page).into_iter().map(|row| code(&row[0])[0].to_string());
            let keys: Vec<String> = keys.filter(|key| !key.contains('.')).collect();
            assert_eq!(keys, code(&row[1]), "{kind}");
        }
    }
}

#[test]
fn tables_list_the_keys_of_the_schema() {
    // Keys of inner tables have a dot.
    let first_cells = |page| {
        let keys = table(page).into_iter().map(|row| code(&row[0])[0].to_string());
        keys.filter(|key| !key.contains('.')).collect::<BTreeSet<_>>()
    };
    let first_cells_of = |page, inner: &str| {
        let keys = table(page).into_iter().map(|row| code(&row[0])[0].to_string());
        keys.filter_map(|key| Some(key.strip_prefix(inner)?.strip_prefix('.')?.to_string())).collect::<BTreeSet<_>>()
    };
    assert_eq!(first_cells("scenario.md"), properties(""));
    assert_eq!(first_cells("scenario/measure.md"), properties("Measure"));
    assert_eq!(first_cells("scenario/routing.md"), properties("Routing"));
    assert_eq!(first_cells("scenario/queue.md"), properties("Queue"));
    assert_eq!(&properties("LayerQueue") | &names(["layer"]), properties("Queue"));
    assert_eq!(first_cells("scenario/transport.md"), properties("Transport"));
    assert_eq!(first_cells("scenario/change.md"), properties("Change"));
    assert_eq!(first_cells("scenario/record.md"), properties("Record"));
    for (key, series) in [
        ("queue", "QueueSeries"),
        ("cwnd", "Series"),
        ("counters", "CounterSeries"),
        ("pauses", "PauseSeries"),
        ("capture", "Capture"),
    ] {
        assert_eq!(first_cells_of("scenario/record.md", key), properties(series), "{key}");
    }
    assert_eq!(first_cells_of("scenario/change.md", "burst_loss"), properties("BurstLoss"));
    assert_eq!(first_cells_of("scenario/change.md", "repeat"), properties("Repeat"));
    assert_eq!(first_cells_of("scenario/routing.md", "placement"), properties("Placement"));
}

#[test]
fn kinds_list_the_keys_of_the_schema() {
    let kinds = |page: &str, defs: &[(&str, &str)], always: &[&str]| {
        let rows = table(page);
        assert_eq!(rows.len(), defs.len(), "{page}");
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
        ("gpu-servers", "GpuServers"),
        ("vl2", "Vl2"),
        ("bcube", "BCube"),
        ("dragonfly", "Dragonfly"),
        ("slim-fly", "SlimFly"),
        ("xpander", "Xpander"),
        ("ring", "Ring"),
        ("triangle", "Triangle"),
        ("graph", "Graph"),
    ];
    kinds("scenario/topology.md", &topologies, &[]);
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
        ("inference", "Inference"),
        ("session", "Session"),
    ];
    kinds("scenario/workload.md", &workloads, &["label", "transport", "role", "start", "small"]);
}

/// What a transport of this algorithm cannot do without.
fn with_control(control: &str) -> String {
    let more = if control == "mmptcp" { "\nswitch_on_congestion = true" } else { "" };
    format!("control = \"{control}\"{more}")
}

fn with_transport(keys: &str) -> Result<linkpool_scenario::Scenario, Vec<linkpool_scenario::ScenarioError>> {
    let text = format!(
        "duration = \"1s\"\ntopology.traffic-shift = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         queue.discipline = \"trimming\"\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"S2\"\nto = \"D2\"\n[transport.t]\n{keys}\n"
    );
    load(&text, "t.toml", None, &[])
}

/// The rows of settings of transports, without the two that settle which settings there are, and
/// without those whose defaults follow from other settings or the network.
fn defaults_of_transports() -> Vec<Vec<String>> {
    let rows = table("scenario/transport.md").into_iter();
    let follows = |cell: &str| cell.starts_with("by ") || cell.starts_with("of ");
    rows.filter(|row| !["`control`", "`preset`"].contains(&row[0].as_str()) && !follows(&row[1])).collect()
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
            // It needs SACKs, which the preset of the papers lacks.
            let sacks = if control == "bbr" { "\nrecovery = \"sack\"" } else { "" };
            let unsaid = format!("{}\npreset = \"{preset}\"{needs}{sacks}", with_control(control));
            let said = format!("{unsaid}\n{key} = {default}");
            assert_eq!(with_transport(&said).unwrap(), with_transport(&unsaid).unwrap(), "{key} of {preset}");
        }
    }
}

#[test]
fn all_controllers_are_listed() {
    let listed = table("scenario/algorithms.md").iter().map(|row| code(&row[0])[0].to_string()).collect::<Vec<_>>();
    assert_eq!(listed, control_names());
}

#[test]
fn keys_apply_to_the_controllers_of_the_table() {
    let mut rows = defaults_of_transports();
    // Stands there already, of the algorithm that it is for.
    rows.retain(|row| code(&row[0])[0] != "switch_on_congestion");
    // One subflow is right for all.
    let value = |row: &[String]| {
        let (key, default) = (code(&row[0])[0], row[1].trim_matches('`'));
        (key.to_owned(), format!("{key} = {}", if key == "subflows" { "2" } else { default }))
    };
    for control in control_names() {
        let (right, wrong): (Vec<_>, Vec<_>) = rows.iter().partition(|row| applies(&row[3], control));
        // As many as there can be in a file, as each file takes a while to read; the others, which
        // exclude each other or need the same, by themselves.
        let mut right: Vec<_> = right
            .into_iter()
            .map(|row| {
                let (key, line) = value(row);
                let needs = if key == "subflows" { String::new() } else { needs(&row[3]) };
                (key, format!("\n{line}{needs}"))
            })
            .collect();
        let alone: Vec<_> = right.extract_if(.., |(_, lines)| lines.matches('\n').count() > 1).collect();
        for (key, lines) in alone {
            let outcome = with_transport(&(with_control(control) + &lines));
            assert!(outcome.is_ok(), "{key} of {control}: {outcome:?}");
        }
        while !right.is_empty() {
            let lines: String = right.iter().map(|(_, lines)| lines.as_str()).collect();
            let Err(errors) = with_transport(&(with_control(control) + &lines)) else { break };
            let is_wrong = |key: &str| errors.iter().any(|error| error.key == format!("transport.t.{key}"));
            let wrong: Vec<_> = right.extract_if(.., |(key, _)| is_wrong(key)).collect();
            assert!(!wrong.is_empty(), "{control}: {errors:?}");
            for (key, lines) in wrong {
                let outcome = with_transport(&(with_control(control) + &lines));
                assert!(outcome.is_ok(), "{key} of {control}: {outcome:?}");
            }
        }
        // Fifty of those that are wrong in a file, as each file takes a while to read: each has an
        // error of its own.
        let wrong: Vec<_> = wrong.into_iter().map(|row| value(row)).collect();
        for some in wrong.chunks(50) {
            let lines: String = some.iter().map(|(_, line)| format!("\n{line}")).collect();
            let errors = with_transport(&(with_control(control) + &lines)).expect_err(control);
            for (key, _) in some {
                let place = format!("transport.t.{key}");
                assert!(errors.iter().any(|error| error.key == place), "{key} of {control}: {errors:?}");
            }
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
        let value = match setting {
            "receive_buffer" => " = \"1MB\"",
            "subflows" => " = 2",
            "subflow_suppression = true" => "\nsubflows = 2",
            _ => "",
        };
        format!("\n{setting}{value}")
    });
    format!("{several}{with}")
}

fn applies(cell: &str, control: &str) -> bool {
    let family = Control::all().find(|known| known.name() == control).unwrap().family().title();
    let multipath = family == "TCP" && !["reno", "dctcp"].contains(&control);
    match cell.split(", with ").next().unwrap() {
        "all" => true,
        "several subflows, not mmptcp" => multipath && control != "mmptcp",
        list => {
            list.split(", ").any(|name| name == control || name == family || name == "several subflows" && multipath)
        }
    }
}

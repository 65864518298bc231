//! The scenario as run is a scenario that means the same, and hosts are counted without drawing
//! them: in every scenario of the documentation.

use std::path::{Path, PathBuf};

use linkpool_scenario::load;

fn scenarios(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the documentation is beside the code").flatten() {
        let path = entry.path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn as_run_it_means_the_same() {
    let mut all = Vec::new();
    scenarios(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")), &mut all);
    assert!(all.len() > 20, "{all:?}");
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        // Studies vary a scenario of another file. Algorithms in Python need Python: see
        // tests/test_control.py.
        if !text.contains("[topology") || text.contains("controls = [") {
            continue;
        }
        let path = path.to_str().unwrap();
        let scenario = load(&text, path, None, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        let as_run = scenario.to_toml();
        // It names the files that it needs, wherever it is.
        let again = load(&as_run, "elsewhere/scenario.toml", None, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(again, scenario, "{path}");
        assert_eq!(again.to_toml(), as_run, "{path}");
        assert_eq!(scenario.topology.hosts(), scenario.topology.fabric().hosts(), "{path}");
    }
}

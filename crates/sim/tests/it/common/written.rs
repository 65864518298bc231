//! The files of a run, byte for byte.

use linkpool_scenario::Scenario;
use linkpool_sim::run_to_directory;
use std::collections::BTreeMap;

/// All files of a result by name, except `run.json`, whose values may differ.
pub type Files = BTreeMap<String, Vec<u8>>;

pub fn written(scenario: &Scenario, threads: u8) -> Files {
    let directory = tempfile::tempdir().unwrap();
    run_to_directory(scenario, directory.path(), Some(threads), &mut |_| true).unwrap();
    let mut files = Files::new();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        files.insert(path.file_name().unwrap().to_str().unwrap().into(), std::fs::read(&path).unwrap());
    }
    assert!(files.remove("run.json").is_some());
    files
}

/// Names of the files that differ.
pub fn differ(a: &Files, b: &Files) -> Vec<String> {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    a.keys().filter(|name| a[*name] != b[*name]).cloned().collect()
}

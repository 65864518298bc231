//! Runs scenarios and reads their tables.

#![allow(dead_code, reason = "not every test needs all of it")]

use linkpool_linux_control::check::State;
use linkpool_linux_testbed::{Report, Switches, run};
use linkpool_scenario::{Scenario, load};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs one after the other: each measures how well it keeps time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// No other run until this goes.
pub fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why tests cannot run here over these switches.
pub fn lacking(switches: Switches) -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("needs root");
    }
    if switches == Switches::Simulator && !Path::new("/dev/net/tun").exists() {
        return Some("needs /dev/net/tun");
    }
    None
}

pub fn scenario(text: &str) -> Scenario {
    load(text, "test", None, &[]).unwrap_or_else(|e| panic!("{e:?}"))
}

pub type Row = HashMap<String, Field>;

/// The rows of a table.
pub fn table(directory: &Path, name: &str) -> Vec<Row> {
    let file = File::open(directory.join(format!("{name}.parquet"))).unwrap();
    let rows = SerializedFileReader::new(file).unwrap();
    let rows = rows.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(name, value)| (name.clone(), value.clone())).collect())
        .collect()
}

pub fn number(row: &Row, column: &str) -> f64 {
    match &row[column] {
        Field::UInt(x) => f64::from(*x),
        Field::Long(x) => *x as f64,
        Field::Double(x) => *x,
        other => panic!("{column} is {other}"),
    }
}

pub fn text(row: &Row, column: &str) -> String {
    match &row[column] {
        Field::Str(text) => text.clone(),
        other => panic!("{column} is {other}"),
    }
}

/// Why linkpool's controllers cannot run here.
pub fn controllers_lack() -> Option<String> {
    let findings = linkpool_linux_control::check::running_kernel();
    let lack = findings.into_iter().find(|f| f.state != State::Has && !f.what.contains("cgroup"))?;
    Some(format!("{} ({})", lack.what, lack.remedy))
}

/// What came out of a run.
pub struct Tables {
    pub report: Report,
    pub flows: Vec<Row>,
    pub links: Vec<Row>,
    /// The series of windows, if the scenario records it.
    pub windows: Vec<Row>,
    /// The series of queues, likewise.
    pub queues: Vec<Row>,
}

/// Does a run tell something in spite of this warning? It is of the machine's priorities, or of a
/// setting of the simulator beside it.
fn is_harmless(warning: &str) -> bool {
    warning.contains("no real-time priority") || warning.starts_with("[transport.")
}

/// Runs a scenario and gives its report and tables; none: not here. A run in which the machine did
/// not keep time, by the test bed's own measure, tells nothing: it is made again.
pub fn tables(text: &str, switches: Switches) -> Option<Tables> {
    if let Some(why) = lacking(switches) {
        eprintln!("skipped: {why}");
        return None;
    }
    let _guard = alone();
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        match run(&scenario(text), switches, directory.path(), &|| false) {
            Ok(report) if report.warnings.iter().all(|warning| is_harmless(warning)) => {
                let [flows, links] = ["flows", "links"].map(|name| table(directory.path(), name));
                let series = |name: &str| {
                    let recorded = directory.path().join(format!("{name}.parquet")).exists();
                    if recorded { table(directory.path(), name) } else { Vec::new() }
                };
                return Some(Tables { report, flows, links, windows: series("cwnd"), queues: series("queue") });
            }
            Ok(report) => eprintln!("once more: {:?}", report.warnings),
            Err(error) if error.to_string().contains("packets a second") => eprintln!("once more: {error}"),
            Err(error) if format!("{error:#}").contains("this kernel has no") => {
                eprintln!("skipped: {error:#}");
                return None;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    eprintln!("skipped: this machine has too much other work to keep time");
    None
}

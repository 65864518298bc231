//! Runs the TCP scripts of packetdrill, Google's tests of Linux's TCP, through our script language.
//!
//! The scripts are read from a checkout of packetdrill that the user has. `docs/packetdrill.md` has
//! the results and the command. Nothing of packetdrill is in this repository.

mod parse;
mod python;
mod setup;
mod tests;
mod translate;

use crate::common::script::open_sender;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use translate::{Step, Translation, translate};

/// The folders of scripts about subjects that a sender of linkpool has.
const FOLDERS: [&str; 8] =
    ["cubic", "cwnd_moderation", "ecn", "fast_recovery", "fast_retransmit", "limited_transmit", "sack", "slow_start"];

/// The environment variable with the path of a checkout.
const CHECKOUT: &str = "LINKPOOL_PACKETDRILL";

/// Runs a translated script. The error has the number of the script's line.
fn run(translation: Translation) -> Result<(), (usize, String)> {
    let mut script = open_sender(translation.config, 0);
    script.allow(translation.tolerance);
    for (line, step) in translation.steps {
        let done = match step {
            Step::Line(text) => script.try_line(&text),
            Step::Write(after, size) => {
                script.extend(&format!("+{}us", after.0 / 1_000_000), size);
                Ok(())
            }
        };
        done.map_err(|message| (line, message))?;
    }
    Ok(())
}

/// The verdict on a script, and a remark.
fn judge(text: &str) -> (&'static str, String) {
    let translation = match translate(text) {
        Err(wrong) => return ("not understood", format!("line {}: {}", wrong.line, wrong.message)),
        Ok(Err(reason)) => return ("does not apply", reason.into()),
        Ok(Ok(translation)) => translation,
    };
    let fields: Vec<String> = translation.left_out.iter().map(|field| format!("`{field}`")).collect();
    let remark = if fields.is_empty() { String::new() } else { format!("{} not compared", fields.join(", ")) };
    match run(translation) {
        Ok(()) => ("passes", remark),
        Err((line, message)) => ("fails", format!("line {line}: {message}")),
    }
}

fn scripts_of(folder: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).unwrap_or_else(|error| {
        panic!("{CHECKOUT} must be the path of a checkout of packetdrill: {}: {error}", folder.display())
    });
    let mut scripts: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "pkt"));
    scripts.sort();
    scripts
}

/// Each script has the verdict that the page says.
#[test]
#[ignore = "needs a checkout of packetdrill, LINKPOOL_PACKETDRILL=PATH"]
fn scripts_have_the_verdicts_of_the_page() {
    let checkout = std::env::var(CHECKOUT).unwrap_or_else(|_| panic!("{CHECKOUT} must be set: the path of a checkout"));
    let tcp = Path::new(&checkout).join("gtests/net/tcp");
    let mut table = String::new();
    for folder in FOLDERS {
        for path in scripts_of(&tcp.join(folder)) {
            let (verdict, remark) = judge(&std::fs::read_to_string(&path).unwrap());
            let name = path.file_stem().unwrap().to_string_lossy();
            writeln!(table, "| `{folder}/{name}` | {verdict} | {remark} |").unwrap();
        }
    }
    println!("{table}");
    let page = std::fs::read_to_string("../../docs/packetdrill.md").unwrap();
    let differ: Vec<&str> = table.lines().filter(|row| !page.contains(row)).collect();
    assert!(differ.is_empty(), "docs/packetdrill.md has other rows for:\n{}", differ.join("\n"));
}

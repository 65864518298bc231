//! What the program says to those who type: help that fits 80 columns, and what lacks to those
//! without rights.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// The user and the group that own nothing.
const NOBODY: u32 = 65534;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_linkpool-linux"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_fits_80_columns() {
    let help =
        |words: &[&str]| String::from_utf8(program().args(words).arg("--help").output().unwrap().stdout).unwrap();
    let all = help(&[]);
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line that goes on has more blanks before it.
    let commands: Vec<&str> =
        commands.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for words in commands.iter().map(|command| vec![*command]).chain([vec![]]) {
        for line in help(&words).lines() {
            assert!(line.chars().count() <= 80, "{words:?}: {line}");
        }
    }
}

/// Only root may become another user: without it nothing is tried.
#[test]
fn who_has_no_right_is_told_to_be_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped who_has_no_right_is_told_to_be_root: it needs root");
        return;
    }
    for words in [&["load", "amp"][..], &["status"], &["enable", "reno"], &["daemon", "--subflows", "2"]] {
        let output = program().args(words).uid(NOBODY).gid(NOBODY).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("no right to") && said.contains("run it as root, e.g. by sudo"), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
}

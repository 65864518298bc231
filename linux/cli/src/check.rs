//! `linkpool-linux check`: what this kernel has and lacks, with the remedies.

use anyhow::Result;
use clap::Args;
use linkpool_linux_control::check::{self, State};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what this kernel has and lacks of what linkpool needs, with the remedies; exit code 1 if
/// controllers cannot load.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Check another kernel by its type information instead: a raw BTF file or an ELF file.
    #[arg(long, value_name = "FILE")]
    btf: Option<PathBuf>,
    /// Check another machine instead: a directory with its /proc, /sys and /boot, or with copies of
    /// their files.
    #[arg(long, value_name = "DIR", conflicts_with = "btf")]
    root: Option<PathBuf>,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let findings = match (&self.btf, &self.root) {
            (Some(path), _) => check::kernel_of_btf(path)?,
            (None, Some(root)) => check::machine_at(root)?,
            (None, None) => check::running_kernel(),
        };
        for finding in &findings {
            let mark = match finding.state {
                State::Has => "ok",
                State::Limited => "limited",
                State::Lacks => "LACKS",
            };
            println!("{mark:<8} {}{}{}", finding.what, if finding.found.is_empty() { "" } else { ": " }, finding.found);
            if !finding.remedy.is_empty() {
                println!("{:<8}   remedy: {}", "", finding.remedy);
            }
        }
        Ok(if check::loads(&findings) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

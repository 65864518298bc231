//! `linkpool-linux`: linkpool's multipath congestion control on unmodified Linux.
//!
//! Exit codes: 0 done; 1 it could not be done, with the reason in one line; 2 the command line is wrong.

mod check;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// linkpool's multipath congestion control on unmodified Linux.
#[derive(Debug, Parser)]
#[command(name = "linkpool-linux", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Check),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Check(check) => check.run(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("linkpool-linux: {error:#}");
            ExitCode::FAILURE
        }
    }
}

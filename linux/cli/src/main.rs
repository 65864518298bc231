//! `linkpool-linux`: linkpool's multipath congestion control on unmodified Linux.
//!
//! Exit codes: 0 done; 1 it could not be done, with the reason in one line; 2 the command line is
//! wrong.

mod beside;
mod check;
mod daemon;
mod enable;
mod fairness;
mod load;
mod observe;
mod parameters;
mod run;
mod soak;
mod status;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// linkpool's multipath congestion control on unmodified Linux.
#[derive(Debug, Parser)]
#[command(name = "linkpool-linux", version, disable_help_subcommand = true, max_term_width = 80)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Beside(beside::Beside),
    Check(check::Check),
    Load(load::Load),
    Status(status::Status),
    Set(load::Set),
    Unload(load::Unload),
    Enable(enable::Enable),
    Daemon(daemon::Daemon),
    Run(run::Run),
    Observe(observe::Observe),
    Soak(soak::Soak),
    Fairness(fairness::Fairness),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Check(command) => command.run(),
        Command::Load(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Set(command) => command.run(),
        Command::Unload(command) => command.run(),
        Command::Enable(command) => command.run(),
        Command::Daemon(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Beside(command) => command.run(),
        Command::Observe(command) => command.run(),
        Command::Soak(command) => command.run(),
        Command::Fairness(command) => command.run(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("linkpool-linux: {error:#}");
            ExitCode::FAILURE
        }
    }
}

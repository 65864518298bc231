//! `linkpool-linux status`: controllers, their connections and subflows.

use anyhow::Result;
use clap::Args;
use linkpool_linux_control::instance::{self, Instance};
use linkpool_linux_control::intf::{COUNTERS, Conn, Endpoint, real};
use linkpool_linux_control::{address, settings};
use linkpool_units::counted;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

/// Show the loaded controllers with their connections, subflows, windows, marks and suppression.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Show it again and again, until Ctrl-C.
    #[arg(long, short)]
    watch: bool,
    /// Show at most this many connections of each controller.
    #[arg(long, default_value_t = 20, value_name = "N")]
    most: usize,
}

impl Status {
    pub(crate) fn run(self) -> Result<ExitCode> {
        loop {
            let text = self.table()?;
            if !self.watch {
                print!("{text}");
                return Ok(ExitCode::SUCCESS);
            }
            print!("\x1b[H\x1b[2J{text}");
            sleep(Duration::from_secs(1));
        }
    }

    fn table(&self) -> Result<String> {
        let mut text = String::new();
        for controller in instance::all()? {
            self.controller(&controller, &mut text)?;
        }
        if text.is_empty() {
            text.push_str("no controller is loaded; load one by `linkpool-linux load amp`\n");
        }
        Ok(text)
    }

    fn controller(&self, controller: &Instance, text: &mut String) -> Result<()> {
        let params = settings::describe(&controller.algorithm, &controller.params()?);
        writeln!(text, "{}: {} {params}", controller.described(), controller.algorithm.name)?;
        let counters = COUNTERS.iter().zip(controller.counters()?).map(|(name, n)| format!("{n} {name}"));
        writeln!(text, "  {}", counters.collect::<Vec<_>>().join(", "))?;
        let connections = controller.connections()?;
        if !connections.is_empty() {
            let head = ["cwnd", "ssthresh", "srtt us", "packets", "marked %", "lost"];
            write!(text, "  {:<8} {:<47}", "token", "subflow")?;
            for name in head {
                write!(text, " {name:>9}")?;
            }
            text.push_str("  state\n");
        }
        for (_, entry) in connections.iter().take(self.most) {
            connection(&entry.conn, text)?;
        }
        if connections.len() > self.most {
            writeln!(text, "  and {}", counted(connections.len() - self.most, "more connection"))?;
        }
        Ok(())
    }
}

fn connection(conn: &Conn, text: &mut String) -> Result<()> {
    for (at, (slot, path)) in conn.established().enumerate() {
        let token = match conn.token {
            _ if at > 0 => String::new(),
            0 => "TCP".to_owned(),
            token => format!("{token:08x}"),
        };
        let end = |end: &Endpoint| address::of(path.family, end).to_string();
        let ends = format!("{} > {}", end(&path.local), end(&path.remote));
        let ssthresh = if real(path.ssthresh) > 1e9 { "-".to_owned() } else { format!("{:.1}", real(path.ssthresh)) };
        let marked = 100.0 * path.marked as f64 / path.delivered.max(1) as f64;
        let mut states = Vec::new();
        if slot == usize::from(conn.first) && conn.subflows > 1 {
            states.push(format!("first, suppressed {}", counted(conn.suppressions, "time")));
        } else if conn.suppressed != 0 {
            states.push("suppressed".to_owned());
        }
        for (is, name) in [(path.backup, "backup"), (path.in_recovery, "recovery"), (path.reduced, "reduced")] {
            if is != 0 {
                states.push(name.to_owned());
            }
        }
        writeln!(
            text,
            "  {token:<8} {ends:<47} {:>9.2} {ssthresh:>9} {:>9.0} {:>9} {marked:>9.1} {:>9}  {}",
            real(path.cwnd),
            f64::from(path.srtt) / 8.0,
            path.delivered,
            path.lost,
            states.join(", ")
        )?;
    }
    Ok(())
}

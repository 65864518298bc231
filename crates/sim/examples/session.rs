//! A program that drives a run: a ring of all-reduce over the hosts of a scenario with a `[[workload.session]]`.
//!
//!     cargo run --release -p linkpool-sim --example session -- docs/workloads/session.toml 1000000
//!
//! Each host sends its part to the next as soon as it has the part of the one before it, 2 (n - 1) times.

use linkpool_scenario::load;
use linkpool_sim::{Event, Happened, Here, Options, Send, Session};
use linkpool_units::{HostId, Time};
use std::error::Error;
use std::sync::Arc;

/// Runs the ring with `bytes` at each host; returns when the last host has the last part.
pub fn all_reduce(path: &str, bytes: u64, threads: u8) -> Result<Time, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let scenario =
        load(&text, path, None, &[]).map_err(|why| why.iter().map(|w| format!("{w}\n")).collect::<String>())?;
    let hosts = scenario.topology.hosts();
    let (steps, part) = (2 * (hosts as u64 - 1), bytes.div_ceil(hosts as u64));
    // The tag is the step. The answer comes at the instant at which the part has arrived, at the host that has it.
    let pass_on = move |event: &Event, here: &mut Here<'_>| {
        if event.what == Happened::Delivered && event.message.tag + 1 < steps {
            let (from, at) = (here.host(), here.now());
            let to = HostId::new((from.index() + 1) % hosts);
            let next = Send { from, to, bytes: part, tag: event.message.tag + 1, at, channel: 0 };
            here.send(next).expect("the run is long enough");
        }
    };
    let react: Option<Arc<linkpool_sim::React>> = Some(Arc::new(pass_on));
    let mut session =
        Session::open(Arc::new(scenario), Options { threads: Some(threads), react, ..Options::default() })?;
    for host in 0..hosts {
        let (from, to) = (HostId::new(host), HostId::new((host + 1) % hosts));
        session.send(Send { from, to, bytes: part, tag: 0, at: Time::ZERO, channel: 0 })?;
    }
    let mut last = Time::ZERO;
    while session.step(session.end(), &mut |_| true)? {
        for event in session.events() {
            if event.what == Happened::Delivered {
                last = last.max(event.at);
            }
        }
    }
    session.close()?;
    Ok(last)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(bytes)) = (arguments.next(), arguments.next()) else {
        return Err("give a scenario and the bytes of each host".into());
    };
    println!("the ring takes {}", all_reduce(&path, bytes.parse()?, 1)?);
    Ok(())
}

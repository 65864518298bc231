//! Counts how the hops of a scenario are divided among partitions, and times it: what
//! `benchmarks/speedup.py` runs.
//!
//! The arguments are `count` or `time`, the scenario, and numbers of partitions or of threads. It
//! prints JSON.

use mimalloc::MiMalloc;
use serde_json::json;

/// As in the extension module.
#[global_allocator]
static MEMORY: MiMalloc = MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, path, numbers @ ..] = arguments.as_slice() else {
        panic!("usage: divided count|time SCENARIO.toml N...")
    };
    let text = std::fs::read_to_string(path).expect("a readable file");
    let scenario = linkpool_scenario::load(&text, path, None, &[]).expect("a valid scenario");
    let numbers: Vec<u8> = numbers.iter().map(|n| n.parse().expect("a number from 1 to 254")).collect();
    let printed = match what.as_str() {
        "count" => {
            let divided = linkpool_sim::divided(&scenario, &numbers).expect("a run");
            let divisions = divided.divisions.iter().zip(&numbers);
            let each = divisions.map(|(division, parts)| {
                json!({ "parts": parts, "crossings": division.crossings, "meetings": division.meetings, "busiest": division.busiest })
            });
            json!({ "hops": divided.hops, "windows": divided.windows, "divisions": each.collect::<Vec<_>>() })
        }
        "time" => {
            let each = numbers.iter().map(|threads| {
                let cost = linkpool_sim::measure(&scenario, *threads).expect("a run");
                json!({ "threads": threads, "hops": cost.hops, "user_s": cost.user_s, "wall_s": cost.wall_s })
            });
            json!(each.collect::<Vec<_>>())
        }
        _ => panic!("{what} is neither count nor time"),
    };
    println!("{printed}");
}

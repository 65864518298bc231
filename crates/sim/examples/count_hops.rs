//! Simulates the scenario named on the command line and prints its packet-hops: what
//! `benchmarks/count.py` runs under valgrind.

fn main() {
    let path = std::env::args().nth(1).expect("usage: count_hops SCENARIO.toml");
    let text = std::fs::read_to_string(&path).expect("a readable file");
    let scenario = linkpool_scenario::load(&text, &path, None, &[]).expect("a valid scenario");
    println!("{}", linkpool_sim::measure(&scenario, 1).expect("a run").hops);
}

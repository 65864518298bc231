//! Fuzzing of whatever a user may hand in: scenarios, graphs, traces, programs and tables of sizes
//! that were damaged byte by byte, word by word or key by key. Each is read, or refused with errors
//! of one line; nothing panics, goes on for ever or takes memory without bounds.
//!
//! `LINKPOOL_CASES=N` makes N cases (`LINKPOOL_LONG=1`: 100,000), `LINKPOOL_SEED=S` repeats those
//! that a failure names. What was found once is in `tests/corpus` and is replayed always: a file of
//! any format, or a scenario, by its name's ending.

mod mutate;
mod seeds;

use linkpool_scenario::load;
use mutate::{Random, mutated, restructured};
use seeds::{Seed, seeds};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// A case that takes more of the processor's time goes on for ever: it is named, and the tests end.
/// In hundredths of a second, as Linux counts them; two minutes.
const FOR_EVER: u64 = 120 * 100;

/// No case needs more memory: the largest fabric that is allowed has two million cables.
const MOST_MEMORY_KIB: u64 = 6 << 20;

/// The case under way.
static CASE: Mutex<String> = Mutex::new(String::new());

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} = {text:?} is no number")))
}

fn cases() -> u64 {
    let long = std::env::var("LINKPOOL_LONG").is_ok_and(|long| long == "1");
    number("LINKPOOL_CASES").unwrap_or(if long { 100_000 } else { 800 })
}

/// A directory of this process, which goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let place = std::env::temp_dir().join(format!("linkpool-fuzz-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        Scratch(place)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes the file of `seed`, with this content, and the files beside it.
fn write(seed: &Seed, content: &[u8], place: &Path) {
    let beside = seed.beside.iter().map(|(name, content)| (*name, &content[..]));
    for (name, content) in beside.chain([(seed.name, content)]) {
        std::fs::write(place.join(name), content).unwrap();
    }
}

/// Reads a scenario, or the scenario around a file of another format; what is wrong with how that
/// went.
fn read(seed: &Seed, content: &[u8], place: &Path) -> Result<(), String> {
    let scenario = match seed.scenario {
        None => String::from_utf8_lossy(content).into_owned(),
        Some(around) => {
            write(seed, content, place);
            around.to_string()
        }
    };
    let path = place.join("scenario.toml");
    let read = || load(&scenario, path.to_str().unwrap(), None, &[]);
    match catch_unwind(AssertUnwindSafe(read)) {
        Err(_) => Err("it panicked".to_string()),
        Ok(Ok(_)) => Ok(()),
        Ok(Err(errors)) if errors.is_empty() => Err("it was refused without an error".to_string()),
        Ok(Err(errors)) => {
            let good =
                |message: &str| !message.is_empty() && !message.contains(char::is_control) && message.len() < 5_000;
            let bad = errors.iter().find(|error| !good(&error.message));
            bad.map_or(Ok(()), |error| Err(format!("an error that is no line: {:?}", error.message)))
        }
    }
}

/// Says that the cases are over, also where one of them panics: the thread that watches them would
/// go on for ever, and the test with it.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Ends the process when a case takes for ever, as no test can end a thread.
fn watch(over: &AtomicBool) {
    let (mut case, mut began) = (String::new(), 0);
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        let now = processor_time();
        let current = CASE.lock().unwrap().clone();
        if current != case {
            (case, began) = (current, now);
        } else if now - began > FOR_EVER {
            // Not by `eprintln!`, which tests capture: what they have captured is lost here.
            let _ = writeln!(std::io::stderr(), "{case} goes on for ever");
            std::process::abort();
        }
    }
}

/// The time that processors have worked for this process, in hundredths of a second: `utime` and
/// `stime` of proc(5), the 14th and 15th field. The 2nd is a name in brackets. Elsewhere 0.
fn processor_time() -> u64 {
    let fields = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = fields.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The most memory that this process has had, KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn damaged_input_is_read_or_refused() {
    let from_clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros() as u64;
    let first = number("LINKPOOL_SEED").unwrap_or_else(from_clock);
    let (seeds, scratch, over) = (seeds(), Scratch::new("damaged"), AtomicBool::new(false));
    let mut failed = Vec::new();
    std::thread::scope(|scope| {
        let _ends = Ends(&over);
        scope.spawn(|| watch(&over));
        for number in first..first + cases() {
            let mut random = Random(number);
            let seed = &seeds[random.below(seeds.len())];
            let other = &seeds[random.below(seeds.len())];
            let content = match seed.scenario {
                None if random.below(2) == 0 => restructured(&seed.content, &mut random),
                _ => mutated(&seed.content, &other.content, &mut random),
            };
            *CASE.lock().unwrap() = format!("LINKPOOL_SEED={number} LINKPOOL_CASES=1, {}", seed.name);
            if let Err(why) = read(seed, &content, &scratch.0) {
                let kept = std::env::temp_dir().join(format!("linkpool-fuzz-{number}-{}", seed.name));
                std::fs::write(&kept, &content).unwrap();
                failed.push(format!("LINKPOOL_SEED={number} LINKPOOL_CASES=1: {why}; see {}", kept.display()));
            }
            if failed.len() >= 20 {
                break;
            }
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(peak() < MOST_MEMORY_KIB, "{} MiB of memory; seeds from {first}", peak() >> 10);
}

#[test]
fn what_was_found_once_stays_found() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let (seeds, scratch) = (seeds(), Scratch::new("corpus"));
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5);
    for file in files {
        let ending = file.extension().and_then(|ending| ending.to_str());
        let of_kind = |seed: &&Seed| Path::new(seed.name).extension().and_then(|ending| ending.to_str()) == ending;
        let seed = seeds.iter().find(of_kind).unwrap_or_else(|| panic!("{}: of no kind", file.display()));
        let done = read(seed, &std::fs::read(&file).unwrap(), &scratch.0);
        assert_eq!(done, Ok(()), "{}", file.display());
    }
}

/// Only so does the first test mean anything: all that it damages is good, and much of what it
/// makes is still read.
#[test]
fn what_is_damaged_was_good() {
    let scratch = Scratch::new("good");
    for seed in seeds() {
        if seed.scenario.is_some() {
            write(&seed, &seed.content, &scratch.0);
        }
        let own = String::from_utf8_lossy(&seed.content).into_owned();
        let path = scratch.0.join("scenario.toml");
        load(seed.scenario.unwrap_or(&own), path.to_str().unwrap(), None, &[])
            .unwrap_or_else(|errors| panic!("{}: {errors:?}", seed.name));
    }
}

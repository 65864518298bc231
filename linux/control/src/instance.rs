//! Controllers in the kernel: loading, finding, reading, changing and unloading them.
//!
//! A controller stays registered after the process that loaded it ends. Nothing is pinned: it is
//! found by the name of its struct_ops map, and its other maps through its program. So another
//! process finds all there is, also after a crash.

use crate::algorithm::{ALL, Algorithm};
use crate::btf::KernelTypes;
use crate::intf::{COUNTERS, Entry, Params};
use crate::settings::{self, Settings};
use anyhow::{Context, Result, anyhow, bail, ensure};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, ObjectBuilder, PrintLevel};
use rustix::thread::{CapabilitySet, capabilities};
use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use zerocopy::{FromBytes, IntoBytes};

/// Room for the name of a congestion control algorithm in the kernel, with its closing zero
/// (TCP_CA_NAME_MAX).
const NAME_SIZE: usize = 16;

/// The algorithms that the kernel has.
const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// A controller in the kernel.
#[derive(Debug)]
pub struct Instance {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// What the kernel calls it (`net.ipv4.tcp_congestion_control`).
    pub name: String,
    /// It is unloaded, and lives on for connections that use it still.
    pub draining: bool,
    /// Identifier of its struct_ops map.
    pub id: u32,
    programs: Vec<u32>,
    /// Its maps, by name. They are opened once: opening one by its number takes CAP_SYS_ADMIN, and
    /// using it does not.
    maps: HashMap<String, MapHandle>,
}

/// What libbpf said last, for the error that follows.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

fn keep_last_words(_: PrintLevel, text: String) {
    if let Ok(mut last) = LAST_WORDS.lock() {
        last.push_str(&text);
    }
}

/// Loads `algorithm` and registers it under `name`. Errors: no right to, the name is taken, or the
/// kernel refuses the program.
pub fn load(algorithm: &Algorithm, name: &str, settings: &Settings) -> Result<Instance> {
    ensure!(
        !name.is_empty()
            && name.len() < NAME_SIZE
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.".contains(&c)),
        "{name:?}: the name of a controller has 1 to 15 letters, digits, `_`, `-` or `.`"
    );
    let mut params = settings::defaults();
    settings.apply(algorithm, &mut params)?;
    if let Some(there) = all()?.iter().find(|i| i.name == name && !i.draining) {
        bail!(
            "{name} is loaded already ({}): unload it first, change it by `set`, or load it `--as` another name",
            there.algorithm.name
        );
    }
    let known = fs::read_to_string(KNOWN).unwrap_or_default();
    ensure!(
        !known.split_whitespace().any(|other| other == name),
        "{name}: this kernel has an algorithm of that name already; load it `--as` another name"
    );
    libbpf_rs::set_print(Some((PrintLevel::Info, keep_last_words)));
    let loaded = register(algorithm, name, &params);
    libbpf_rs::set_print(None);
    loaded.map_err(explain)?;
    find(name)
}

fn register(algorithm: &Algorithm, name: &str, params: &Params) -> Result<()> {
    LAST_WORDS.lock().expect("nobody panics with it").clear();
    let mut open = ObjectBuilder::default().open_memory(algorithm.object)?;
    for mut map in open.maps_mut() {
        if map.map_type() == MapType::StructOps {
            let value = map.initial_value_mut().context("the struct_ops map has no value")?;
            let default = algorithm.kernel_name();
            let at =
                value.windows(default.len()).position(|bytes| bytes == default.as_bytes()).context("no name in it")?;
            let field = &mut value[at..at + NAME_SIZE];
            field.fill(0);
            field[..name.len()].copy_from_slice(name.as_bytes());
        }
    }
    let mut object = open.load()?;
    for map in object.maps_mut() {
        if map.name() == "params" {
            map.update(&0u32.to_ne_bytes(), params.as_bytes(), MapFlags::ANY)?;
        }
    }
    for mut map in object.maps_mut() {
        if map.map_type() == MapType::StructOps {
            // It stays when this process ends.
            map.attach_struct_ops()?.disconnect();
        }
    }
    Ok(())
}

/// In one line, with the remedy as far as it is known.
fn explain(error: anyhow::Error) -> anyhow::Error {
    let words = LAST_WORDS.lock().map(|w| w.clone()).unwrap_or_default();
    let chain = format!("{error:#}");
    if chain.contains("Operation not permitted") || chain.contains("Permission denied") && !words.contains("processed ")
    {
        return anyhow!("no right to load BPF programs: run it as root, e.g. by sudo (see `linkpool-linux check`)");
    }
    let telling =
        |line: &&str| !line.starts_with("libbpf:") && !line.starts_with("--") && !line.starts_with("processed");
    let verifier = words.lines().rev().find(telling).unwrap_or("").trim();
    anyhow!("this kernel refuses the program: {chain}; its last words: {verifier:?}; see `linkpool-linux check`")
}

/// All controllers of linkpool in the kernel, those that are draining included. Errors: no right to
/// see them.
pub fn all() -> Result<Vec<Instance>> {
    // Without it the kernel's lists of maps and programs look empty.
    ensure!(
        capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN),
        "no right to see which controllers are loaded (CAP_SYS_ADMIN): run it as root, e.g. by sudo"
    );
    let layout = Layout::of_running_kernel()?;
    let maps: Vec<_> = MapInfoIter::default().collect();
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: Vec<_> =
        ProgInfoIter::with_query_opts(options).filter(|p| p.name.as_encoded_bytes().starts_with(b"lp_")).collect();
    let mut found = Vec::new();
    for map in maps.iter().filter(|map| map.ty == MapType::StructOps) {
        let map_name = map.name.to_string_lossy();
        let Some(algorithm) = ALL.iter().find(|a| a.kernel_name() == map_name) else { continue };
        // It may go between the two questions.
        let Ok(handle) = MapHandle::from_map_id(map.id) else { continue };
        let Ok(Some(value)) = handle.lookup(&0u32.to_ne_bytes(), MapFlags::ANY) else { continue };
        let (name, state, control) = layout.read(&value)?;
        let Some(own) = programs.iter().find(|p| p.id == control) else { continue };
        let named = own.map_ids.iter().filter_map(|id| maps.iter().find(|m| m.id == *id));
        let open =
            |m: &libbpf_rs::query::MapInfo| Ok((m.name.to_string_lossy().into_owned(), MapHandle::from_map_id(m.id)?));
        let Ok(maps) = named.clone().map(open).collect::<Result<HashMap<_, _>>>() else { continue };
        let params = named.clone().find(|m| m.name == "params").map(|m| m.id);
        let same = |p: &&libbpf_rs::query::ProgramInfo| params.is_some_and(|id| p.map_ids.contains(&id));
        let of_it = programs.iter().filter(same).map(|p| p.id).collect();
        found.push(Instance {
            algorithm: *algorithm,
            name,
            draining: state != IN_USE,
            id: map.id,
            programs: of_it,
            maps,
        });
    }
    Ok(found)
}

/// The controller that the kernel calls `name`. Errors: there is none.
pub fn find(name: &str) -> Result<Instance> {
    let mut all = all()?;
    let names: Vec<String> = all.iter().filter(|i| !i.draining).map(|i| i.name.clone()).collect();
    match all.iter().position(|i| i.name == name && !i.draining) {
        Some(at) => Ok(all.swap_remove(at)),
        None if names.is_empty() => {
            bail!("no controller {name}: none is loaded; load one by `linkpool-linux load amp`")
        }
        None => bail!("no controller {name}; loaded: {}", names.join(", ")),
    }
}

impl Instance {
    /// Its name, and whether it is unloaded.
    pub fn described(&self) -> String {
        let left = if self.draining { " (unloaded; for connections that use it still)" } else { "" };
        format!("{}{left}", self.name)
    }

    fn map(&self, name: &str) -> Result<&MapHandle> {
        self.maps.get(name).with_context(|| format!("{}: its program has no map `{name}`", self.name))
    }

    /// The ring buffer `events`.
    pub fn events(&self) -> Result<&MapHandle> {
        self.map("events")
    }

    /// The ring buffer `rounds`.
    pub fn rounds(&self) -> Result<&MapHandle> {
        self.map("rounds")
    }

    /// Its parameters.
    pub fn params(&self) -> Result<Params> {
        let bytes = self.map("params")?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY)?.context("no parameters")?;
        Params::read_from_bytes(&bytes)
            .map_err(|_| anyhow!("{} is of another version of linkpool: unload it", self.name))
    }

    /// Changes parameters while it runs. Errors as of [`Settings::apply`].
    pub fn set(&self, settings: &Settings) -> Result<Params> {
        let mut params = self.params()?;
        settings.apply(&self.algorithm, &mut params)?;
        self.map("params")?.update(&0u32.to_ne_bytes(), params.as_bytes(), MapFlags::ANY)?;
        Ok(params)
    }

    /// Its connections, by key, oldest first.
    pub fn connections(&self) -> Result<Vec<(u64, Entry)>> {
        let map = self.map("connections")?;
        let mut found = Vec::new();
        for key in map.keys() {
            if let Ok(Some(bytes)) = map.lookup(&key, MapFlags::ANY)
                && let (Ok(entry), Ok(key)) = (Entry::read_from_bytes(&bytes), key.try_into())
            {
                found.push((u64::from_ne_bytes(key), entry));
            }
        }
        found.sort_by_key(|(key, entry)| (entry.conn.opened, *key));
        Ok(found)
    }

    /// The connection of this key.
    pub fn connection(&self, key: u64) -> Result<Option<Entry>> {
        let bytes = self.map("connections")?.lookup(&key.to_ne_bytes(), MapFlags::ANY)?;
        Ok(bytes.and_then(|bytes| Entry::read_from_bytes(&bytes).ok()))
    }

    /// What it has counted, over all processors, in the order of [`COUNTERS`].
    pub fn counters(&self) -> Result<[u64; COUNTERS.len()]> {
        let map = self.map("counters")?;
        let mut counted = [0; COUNTERS.len()];
        for (at, sum) in counted.iter_mut().enumerate() {
            let values = map.lookup_percpu(&(at as u32).to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
            *sum = values.iter().filter_map(|v| u64::read_from_bytes(v).ok()).sum();
        }
        Ok(counted)
    }

    /// Bytes of kernel memory that each of its maps takes now, by name; kernels before 6.4 tell
    /// what it may take at most.
    pub fn map_memory(&self) -> Result<Vec<(String, u64)>> {
        let of = |(name, map): (&String, &MapHandle)| Ok((name.clone(), map.query_fdinfo()?.memlock.unwrap_or(0)));
        let mut maps: Vec<_> = self.maps.iter().map(of).collect::<Result<_>>()?;
        maps.sort();
        Ok(maps)
    }

    /// Instructions of each program that reads the parameters, `cong_control` among them, by name:
    /// as the verifier left them, and how many it looked at over all paths.
    pub fn instructions(&self) -> Vec<(String, usize, u32)> {
        let options = ProgInfoQueryOptions::default().include_xlated_prog_insns(true);
        ProgInfoIter::with_query_opts(options)
            .filter(|program| self.programs.contains(&program.id))
            .map(|program| {
                let name = program.name.to_string_lossy().into_owned();
                (name, program.xlated_prog_insns.len() / 8, program.verified_insns)
            })
            .collect()
    }

    /// Runs and nanoseconds of each program that reads the parameters, by name; zeros unless
    /// `kernel.bpf_stats_enabled` is 1.
    pub fn costs(&self) -> Vec<(String, u64, u64)> {
        ProgInfoIter::default()
            .filter(|program| self.programs.contains(&program.id))
            .map(|program| (program.name.to_string_lossy().into_owned(), program.run_cnt, program.run_time_ns))
            .collect()
    }

    /// Takes it out of the kernel. Connections that use it go on with it to their end.
    pub fn unload(self) -> Result<()> {
        ensure!(
            !self.draining,
            "{} is unloaded already, and lives on for {} connections",
            self.name,
            self.connections()?.len()
        );
        let map = MapHandle::from_map_id(self.id)?;
        map.delete(&0u32.to_ne_bytes()).with_context(|| format!("{}: could not be unloaded", self.name))
    }
}

const IN_USE: u32 = 1;

/// Where the kernel has what we read of a struct_ops map's value.
struct Layout {
    state: usize,
    name: usize,
    cong_control: usize,
}

impl Layout {
    fn of_running_kernel() -> Result<Layout> {
        let types = KernelTypes::running()?;
        let offset = |of: &str, member: &str| {
            types
                .offset(of, member)
                .with_context(|| format!("this kernel has no {of}.{member}; see `linkpool-linux check`"))
        };
        let value = "bpf_struct_ops_tcp_congestion_ops";
        let data = offset(value, "data")?;
        // 6.9 put refcnt and state into `common`.
        let state = match types.offset(value, "common") {
            Some(common) => common + offset("bpf_struct_ops_common_value", "state")?,
            None => offset(value, "state")?,
        };
        Ok(Layout {
            state,
            name: data + offset("tcp_congestion_ops", "name")?,
            cong_control: data + offset("tcp_congestion_ops", "cong_control")?,
        })
    }

    /// Name, state, and identifier of the program `cong_control`.
    fn read(&self, value: &[u8]) -> Result<(String, u32, u32)> {
        let bytes = |at: usize, n: usize| value.get(at..at + n).context("the value of a struct_ops map is too short");
        let name = bytes(self.name, NAME_SIZE)?;
        let name = name.split(|&c| c == 0).next().unwrap_or(name);
        let number = |at| anyhow::Ok(u32::from_ne_bytes(bytes(at, 4)?.try_into()?));
        Ok((String::from_utf8_lossy(name).into_owned(), number(self.state)?, number(self.cong_control)?))
    }
}

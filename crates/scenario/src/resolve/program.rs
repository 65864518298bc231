//! Traces of programs that workloads name: read, matched, and checked to end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkpool_formats::program::{ChakraRules, Roofline, read_chakra, read_goal, read_goal_binary, read_simccl};
use linkpool_formats::quoted;
use linkpool_settings::Names;
use linkpool_workload::kinds::{Communication, Interfaces, Program, ProgramFormat, RankHosts};
use linkpool_workload::program::{MOST_RANKS, Programs, check};
use sha2::{Digest, Sha256};

use super::section::Section;
use crate::included::{check_digest, hex};
use crate::known::Known;

/// Reads the file of the hosts of ranks, if there is one.
pub(super) fn read_hosts(ranks: &mut RankHosts, known: &Known<'_>, section: &mut Section<'_, '_>) {
    let Some(file) = ranks.hosts_file.take() else { return };
    let alone = "stands beside `hosts`, which says the same; leave one of both out";
    section.check(ranks.hosts.is_none(), "hosts_file", alone);
    // In a topology that is in error, nobody knows which hosts there are.
    match known.fabric.map(|_| hosts(&file, known)) {
        Some(Ok(hosts)) => ranks.hosts = Some(hosts),
        Some(Err(why)) => section.error("hosts_file", why),
        None => section.doubt(),
    }
}

/// Reads the trace of `program`, and the file of its hosts.
pub(super) fn read(program: &mut Program, known: &Known<'_>, section: &mut Section<'_, '_>) {
    read_hosts(&mut program.placed, known, section);
    if !section.is_good() {
        return;
    }
    match programs(program, known) {
        Ok((programs, path, digest)) => {
            if let Err(why) = check_digest(&program.file, program.sha256.as_deref(), &digest) {
                return section.error("file", why);
            }
            // The scenario as run names the trace wherever it is read.
            program.file = path.to_string_lossy().into_owned();
            let beside = |file: &String| std::path::absolute(known.directory.join(file));
            if let Some(Ok(path)) = program.groups_file.as_ref().map(beside) {
                program.groups_file = Some(path.to_string_lossy().into_owned());
            }
            (program.programs, program.sha256) = (Some(Arc::new(programs)), Some(digest));
        }
        Err(why) => section.error("file", why),
    }
}

/// The programs of the trace, its path, and its SHA-256.
fn programs(program: &Program, known: &Known<'_>) -> Result<(Programs, PathBuf, String), String> {
    let name = &program.file;
    let path = known.directory.join(name);
    let of_file = |why: String| format!("{name}: {why}");
    let (programs, digest) = match program.format {
        ProgramFormat::Goal => {
            let file = BufReader::with_capacity(1 << 16, open(&path).map_err(of_file)?);
            (read_goal(name, file)?, digest([path.clone()]).map_err(of_file)?)
        }
        ProgramFormat::GoalBinary => {
            (read_goal_binary(name, open(&path).map_err(of_file)?)?, digest([path.clone()]).map_err(of_file)?)
        }
        ProgramFormat::Simccl => {
            let file = BufReader::with_capacity(1 << 16, open(&path).map_err(of_file)?);
            (read_simccl(name, file)?, digest([path.clone()]).map_err(of_file)?)
        }
        ProgramFormat::Chakra => chakra(program, &path, known)?,
    };
    let programs = programs.matched()?;
    check(&programs)?;
    let programs = if program.nic == Some(Interfaces::Host) { programs.by_interface()? } else { programs };
    let path = std::path::absolute(&path).map_err(|why| format!("{name}: {why}"))?;
    Ok((programs, path, digest))
}

/// Reads the files of a Chakra trace: as many as there are from rank 0 on.
fn chakra(program: &Program, path: &Path, known: &Known<'_>) -> Result<(Programs, String), String> {
    let of_rank = |rank: u32| PathBuf::from(format!("{}.{rank}.et", path.display()));
    let ranks = (0..=MOST_RANKS).find(|rank| !of_rank(*rank).exists()).unwrap_or(MOST_RANKS);
    if ranks == 0 {
        return Err(format!(
            "{0}.0.et: cannot be read: there is no such file; `file` is what stands before \".0.et\"",
            program.file
        ));
    }
    if let Some(more) = rank_behind(path, ranks) {
        return Err(format!("{0}.{ranks}.et: is missing, and there is {0}.{more}.et", program.file));
    }
    let groups = program.groups_file.as_ref().map_or_else(|| Ok(BTreeMap::new()), |file| groups(file, known))?;
    let rules = ChakraRules {
        all_reduce: program.all_reduce,
        broadcast: program.broadcast,
        chunks: program.chunks,
        splits: program.splits,
        active_splits: program.active_splits,
        serial: program.communication == Communication::Serial,
        outstanding: program.outstanding,
        groups,
        roofline: program.compute_rate.map(|compute_rate| Roofline { compute_rate, memory_rate: program.memory_rate }),
        reduce_rate: program.reduce_rate,
    };
    let programs = read_chakra(&program.file, ranks, &rules, |rank| open(&of_rank(rank)))?;
    let groups = program.groups_file.as_ref().map(|file| known.directory.join(file));
    Ok((programs, digest((0..ranks).map(of_rank).chain(groups)).map_err(|why| format!("{}: {why}", program.file))?))
}

/// A rank above `missing` that has a file, beside the file of `path`: then the one of `missing` is
/// lost, and the trace does not end there.
fn rank_behind(path: &Path, missing: u32) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let directory = path.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(directory).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let rank = |file: String| file.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".et")?.parse().ok();
    files.filter_map(rank).filter(|rank| *rank > missing).min()
}

/// The ranks of each process group: `{"0": [0, 1], "1": [2, 3]}`.
fn groups(file: &str, known: &Known<'_>) -> Result<BTreeMap<String, Vec<u32>>, String> {
    let text = known.content(file).map_err(|why| format!("{file}: {why}"))?;
    let groups: BTreeMap<String, Vec<u32>> =
        serde_json::from_str(&text).map_err(|why| format!("{file}: is no JSON object of lists of ranks: {why}"))?;
    for (name, ranks) in &groups {
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        if ranks.is_empty() || sorted.windows(2).any(|two| two[0] == two[1]) {
            return Err(format!("{file}: group {} has no rank, or one of them twice", quoted(name)));
        }
    }
    Ok(groups)
}

/// Opens a regular file: a pipe could keep the reader waiting for ever, and a device never ends.
fn open(path: &Path) -> Result<File, String> {
    let cannot = |why: std::io::Error| format!("cannot be read: {why}");
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("is not a regular file".to_string());
    }
    File::open(path).map_err(cannot)
}

/// The SHA-256 of files one behind another, in hex, read piece by piece.
fn digest(paths: impl IntoIterator<Item = PathBuf>) -> Result<String, String> {
    let (mut sha256, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    for path in paths {
        let mut file = open(&path)?;
        loop {
            match file.read(&mut piece).map_err(|why| format!("cannot be read: {why}"))? {
                0 => break,
                n => sha256.update(&piece[..n]),
            }
        }
    }
    Ok(hex(sha256))
}

/// The hosts of a file, one a line; what follows `#` is a comment.
fn hosts(file: &str, known: &Known<'_>) -> Result<Vec<linkpool_units::HostId>, String> {
    let text = known.content(file).map_err(|why| format!("{file}: {why}"))?;
    let mut hosts = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let name = text.split('#').next().unwrap_or_default().trim();
        if !name.is_empty() {
            hosts.push(known.host_in_file(name).map_err(|why| format!("{file}:{line}: {why}"))?);
        }
    }
    Ok(hosts)
}

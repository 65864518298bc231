//! Writes traces of programs in another format.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use linkpool_formats::program::{read_goal, read_goal_binary, write_goal, write_goal_binary};
use linkpool_workload::WorkloadKind;
use linkpool_workload::program::{Programs, Rank, check};

use crate::load::load;

/// Writes the programs of `from` to `to`: as text if its name ends in `.goal`, in binary form if it
/// ends in `.bin`. `from` is a GOAL file in either form, or a scenario (`.toml`), whose first
/// workload of kind `program`, `collective` or `training` is written.
///
/// # Errors
///
/// `from` is in error, its sends and receives do not match, it can never end, or a file cannot be
/// read or written.
pub fn convert(from: &Path, to: &Path) -> Result<(), String> {
    let ending = |path: &Path| path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_string();
    let binary = match ending(to).as_str() {
        "goal" => false,
        "bin" => true,
        _ => return Err(format!("{}: its name must end in .goal (text) or .bin (binary GOAL)", to.display())),
    };
    let programs = if ending(from) == "toml" { of_scenario(from)? } else { of_goal(from)? };
    if programs.ranks.iter().any(Rank::takes_turns) {
        return Err(format!(
            "{}: communication = \"serial\": GOAL cannot say that a rank has one message at a time; leave it out",
            from.display()
        ));
    }
    let cannot = |why: std::io::Error| format!("{}: cannot be written: {why}", to.display());
    let mut file = BufWriter::new(File::create(to).map_err(cannot)?);
    let written = if binary { write_goal_binary(&programs, &mut file) } else { write_goal(&programs, &mut file) };
    written.and_then(|()| file.flush()).map_err(cannot)
}

fn of_goal(path: &Path) -> Result<Programs, String> {
    let name = path.display().to_string();
    let cannot = |why: std::io::Error| format!("{name}: cannot be read: {why}");
    let mut file = File::open(path).map_err(cannot)?;
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(8).read_to_end(&mut first).map_err(cannot)?;
    file.seek(SeekFrom::Start(0)).map_err(cannot)?;
    // Text has no such bytes.
    let programs =
        if first.contains(&0) { read_goal_binary(&name, file) } else { read_goal(&name, BufReader::new(file)) };
    let programs = programs?.matched()?;
    check(&programs)?;
    Ok(programs)
}

fn of_scenario(path: &Path) -> Result<Programs, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|why| format!("{name}: cannot be read: {why}"))?;
    let errors =
        |errors: Vec<crate::ScenarioError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let scenario = load(&text, &name, None, &[]).map_err(errors)?;
    let programs = scenario.workloads.iter().find_map(|workload| match &workload.kind {
        WorkloadKind::Program(program) => program.programs.as_deref().cloned(),
        WorkloadKind::Collective(collective) => collective.programs(),
        WorkloadKind::Training(training) => training.programs.as_deref().cloned(),
        _ => None,
    });
    programs.ok_or_else(|| format!("{name}: has no workload of kind program, collective or training"))
}

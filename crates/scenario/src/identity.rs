//! What determines a run, and the files that a scenario as run does not contain.

use linkpool_settings::Kinds;
use linkpool_workload::WorkloadKind;
use linkpool_workload::kinds::{Program, ProgramFormat};

use crate::model::Scenario;

/// A file that the scenario as run names by its place and its SHA-256.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFile {
    /// The key that names it.
    pub key: String,
    /// What stands there.
    pub name: String,
    /// The paths of what is read: this file, or, of a trace in several files, those whose paths
    /// begin with it.
    pub parts: Vec<String>,
}

impl Scenario {
    /// A text that is equal for two scenarios if they mean the same run: the scenario as run
    /// without its title, and without the places of the files whose SHA-256 it has.
    pub fn identity(&self) -> String {
        let mut scenario = self.clone();
        scenario.name.clear();
        for workload in &mut scenario.workloads {
            match &mut workload.kind {
                WorkloadKind::Trace(trace) if trace.file.is_some() => trace.file = Some(String::new()),
                WorkloadKind::Session(session) if session.file.is_some() => session.file = Some(String::new()),
                WorkloadKind::Program(program) => {
                    program.file.clear();
                    program.groups_file.iter_mut().for_each(String::clear);
                }
                WorkloadKind::Inference(inference) => inference.file.iter_mut().for_each(String::clear),
                _ => {}
            }
        }
        scenario.to_toml()
    }

    /// The files that the scenario as run names.
    pub fn files(&self) -> Vec<NamedFile> {
        let mut files = Vec::new();
        let mut before = ("", 0);
        for workload in &self.workloads {
            // Workloads of one kind are one behind another, and numbered.
            let kind = workload.kind.name();
            before = (kind, if before.0 == kind { before.1 + 1 } else { 0 });
            let key = |name: &str| format!("workload.{kind}.{}.{name}", before.1);
            let whole =
                |name: &str, file: &String| NamedFile { key: key(name), name: file.clone(), parts: vec![file.clone()] };
            match &workload.kind {
                WorkloadKind::Trace(trace) => files.extend(trace.file.iter().map(|file| whole("file", file))),
                WorkloadKind::Inference(inference) => {
                    files.extend(inference.file.iter().map(|file| whole("file", file)));
                }
                WorkloadKind::Session(session) if session.file.is_some() => {
                    files.push(whole("file", &session.path.to_string_lossy().into_owned()));
                }
                WorkloadKind::Program(program) => {
                    files.push(NamedFile { parts: parts(program), ..whole("file", &program.file) });
                    files.extend(program.groups_file.iter().map(|file| whole("groups_file", file)));
                }
                _ => {}
            }
        }
        files
    }
}

fn parts(program: &Program) -> Vec<String> {
    let ranks = program.programs.as_ref().map_or(0, |programs| programs.ranks.len());
    match program.format {
        ProgramFormat::Chakra => (0..ranks).map(|rank| format!("{}.{rank}.et", program.file)).collect(),
        ProgramFormat::Goal | ProgramFormat::GoalBinary | ProgramFormat::Simccl => vec![program.file.clone()],
    }
}

//! Messages that a program sends while the simulation goes on.

use std::path::PathBuf;

use linkpool_settings::settings;

use super::{Demand, Driven, Expected, Pairs, Place, Run, Setting, SizesOf, TraceFlow, Workload};

settings! {
    /// Messages that a program sends while the simulation goes on, from any host to any other.
    pub struct Session {
        /// Do the messages from one host to another share a connection, which stays open?
        /// `false`: each message opens a connection of its own.
        persistent: bool, from |_s| true => "true; false with a transport whose connections do not stay open";
        /// A CSV file of the messages that a program has sent, relative to the scenario's
        /// directory: the run has these, and no program drives it. Results of a session have it, so
        /// that they can be run again and explained.
        file: Option<String> = None;
        /// The SHA-256 of `file`, in hex: another file is an error. Results have it.
        sha256: Option<String>, from |_s| None => "that of `file`", when |s| s.file.is_some() => "a session with a `file`";
    }
    others {
        /// The messages of the file, once it is read.
        messages: Vec<TraceFlow> = Vec::new();
        /// Where the file is, once it is read.
        path: PathBuf = PathBuf::new();
    }
}

impl Session {
    /// The name of the file with the messages of the workload of this kind that is number
    /// `channel`, in results.
    pub fn file_name(channel: usize) -> String {
        format!("messages.{channel}.csv")
    }

    /// Is the file part of the result whose `scenario.toml` names it? Then it goes along with the
    /// scenario.
    pub fn is_of_result(file: &str) -> bool {
        file.strip_prefix("messages.").is_some_and(|rest| rest.ends_with(".csv") && !rest.contains(['/', '\\']))
    }
}

impl Workload for Session {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_persistent(&mut self.persistent);
        let plain = |flow: &TraceFlow| flow.after.is_empty() && flow.priority.is_none();
        if let Some(i) = self.messages.iter().position(|flow| !plain(flow)) {
            let why = format!("message {i} has `after` or `priority`, which messages of a session do not have");
            place.check(false, "file", &why);
        }
    }

    /// Nobody knows what a program will send.
    fn expected(&self, _: &Setting) -> Expected {
        let bytes = self.messages.iter().map(|message| message.size as f64).sum();
        Expected { flows: self.messages.len() as f64, at_once: 0.0, listed: true, bytes }
    }

    fn demand(&self, _: &Run) -> Demand {
        Demand::default()
    }

    fn sizes(&self) -> SizesOf {
        SizesOf { name: "messages".into(), interpolation: None, mean: None }
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    fn pairs(&self, _: u32) -> Pairs {
        Pairs::Any { in_rack: true }
    }

    fn driven(&self) -> Option<Driven<'_>> {
        Some(if self.file.is_some() { Driven::Replayed(&self.messages) } else { Driven::Outside })
    }
}

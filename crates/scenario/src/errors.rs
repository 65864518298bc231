//! The errors of a scenario: the message, the place, and the remedy.

use linkpool_units::counted;
use std::fmt;
use std::path::PathBuf;

use crate::schema::tables_with;
use crate::tree::{KeyPath, Node, Origin, ReadError};
use linkpool_formats::one_line;
use linkpool_settings::closest;

/// The most errors that are listed; further ones are counted.
const MOST_ERRORS: usize = 100;

/// Something wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The scenario's file.
    pub file: String,
    /// The line in it, counted from 1; none for a missing key, or a value of an override.
    pub line: Option<usize>,
    /// The dotted path of the key, as for an override; empty if the file is not TOML at all.
    pub key: String,
    /// The error and the remedy.
    pub message: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// Collects errors, and points each at the line or the override that it is about.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    file: &'a str,
    root: Node,
    errors: Vec<ScenarioError>,
    /// Keys of which enough has been said.
    settled: Vec<KeyPath>,
    /// Tables with a value that could not be read.
    unread: Vec<KeyPath>,
    /// Errors beyond the most that are listed.
    unlisted: usize,
}

impl<'a> Report<'a> {
    /// A report on the tree `root` of `file`, with the errors that there are already.
    pub(crate) fn new(file: &'a str, root: Node, errors: Vec<ScenarioError>) -> Report<'a> {
        Report { file, root, errors, settled: Vec::new(), unread: Vec::new(), unlisted: 0 }
    }

    /// The directory of the scenario's file.
    pub(crate) fn directory(&self) -> PathBuf {
        std::path::Path::new(self.file).parent().map_or_else(PathBuf::new, PathBuf::from)
    }

    /// The tree that errors are about.
    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Was there no error so far?
    pub(crate) fn is_good(&self) -> bool {
        self.errors.is_empty()
    }

    /// Are there enough errors to stop looking for more?
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS
    }

    /// Reports an error, unless one was already reported about the same value, its parts or the
    /// whole that it is part of: the second would be a consequence of the first.
    pub(crate) fn error(&mut self, path: &KeyPath, message: impl fmt::Display) {
        if self.settled.iter().any(|settled| settled.touches(path)) {
            return;
        }
        if self.is_full() {
            self.unlisted += 1;
            return;
        }
        self.settled.push(path.clone());
        let (line, message) = match &self.root.nearest(path).origin {
            Origin::File => (None, message.to_string()),
            Origin::Line(line) => (Some(*line), message.to_string()),
            Origin::Option(option) => (None, format!("{message} (from {option})")),
        };
        let message = one_line(&message);
        self.errors.push(ScenarioError { file: self.file.to_string(), line, key: path.to_string(), message });
    }

    /// A value of `table` could not be read.
    pub(crate) fn leave_unread(&mut self, table: &KeyPath) {
        self.unread.push(table.clone());
    }

    /// Could each value of `table` be read that was looked for?
    pub(crate) fn is_read(&self, table: &KeyPath) -> bool {
        !self.unread.contains(table)
    }

    /// Was a whole part of `table` unreadable, so that references to it cannot be checked?
    pub(crate) fn unreadable(&self, table: &str) -> bool {
        let table = KeyPath::default().at(table);
        self.settled.iter().any(|settled| *settled == table || settled.parent() == table)
    }

    /// Reports why the value at `path` could not be read; returns the path of the cause.
    pub(crate) fn read_error(&mut self, path: KeyPath, error: &ReadError) -> KeyPath {
        match error {
            ReadError::UnknownKey { key, known } => {
                let table = if path.last() == Some(key) { path.parent() } else { path };
                let unknown = table.at(key);
                self.error(&unknown, format!("{error}{}", elsewhere(key)));
                // That the key which was meant is missing need not be said as well.
                let meant = closest(key, known).map(|meant| table.at(meant));
                self.settled.extend(meant.filter(|meant| self.root.get(meant).is_none()));
                unknown
            }
            ReadError::NotSeveral => {
                self.error(&path, format!("there may be several of these: write [[{path}]], with two brackets"));
                path
            }
            ReadError::Other(message) => {
                self.error(&path, message);
                path
            }
        }
    }

    /// `value`, or all errors, from the top of the file to its end.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<ScenarioError>> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => {
                self.errors.sort_by_key(|error| error.line.unwrap_or(usize::MAX));
                if self.is_full() {
                    let message = match self.unlisted {
                        0 => "there may be more errors; mend these first".to_string(),
                        n => format!("{}; mend these first", counted(n, "more error")),
                    };
                    let file = self.file.to_string();
                    self.errors.push(ScenarioError { file, line: None, key: String::new(), message });
                }
                Err(self.errors)
            }
        }
    }
}

/// Where `key` belongs, if other tables have it.
fn elsewhere(key: &str) -> String {
    let tables = tables_with(key);
    match tables.len() {
        0 => String::new(),
        1..=3 => format!("; `{key}` is a key of {}", tables.join(", ")),
        n => format!("; `{key}` is a key of {}, ... ({n} tables)", tables[..3].join(", ")),
    }
}

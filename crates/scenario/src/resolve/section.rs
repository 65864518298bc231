//! A table of the file, with its errors.

use std::fmt::Display;
use std::path::PathBuf;

use linkpool_units::Time;
use serde::de::DeserializeOwned;

use crate::errors::Report;
use crate::file::AnyTable;
use crate::tree::{KeyPath, Node, ReadError, Value};

/// No time in a scenario is longer: sums of some of them still fit into [`Time`].
pub(super) const LONGEST: Time = Time::LONGEST;

/// A table that is being checked.
pub(super) struct Section<'s, 'r> {
    report: &'s mut Report<'r>,
    path: KeyPath,
    good: bool,
}

impl<'s, 'r> Section<'s, 'r> {
    pub(super) fn new(report: &'s mut Report<'r>, path: KeyPath) -> Section<'s, 'r> {
        Section { report, path, good: true }
    }

    /// The table as it is written.
    pub(super) fn node(&self) -> Option<&Node> {
        self.report.root().get(&self.path)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.node().is_some_and(|node| node.child(key).is_some())
    }

    /// Does `key` stand here with the number `n`?
    pub(super) fn is(&self, key: &str, n: i64) -> bool {
        let value = self.node().and_then(|node| node.child(key)).map(|node| &node.value);
        matches!(value, Some(Value::Integer(written)) if *written == n)
    }

    /// The value of `key`. Each part of it that cannot be read is an error, and the result is none.
    pub(super) fn read<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let mut node = self.node()?.child(key)?.clone();
        let mut good = true;
        loop {
            let read: Result<T, serde_path_to_error::Error<ReadError>> = serde_path_to_error::deserialize(&node);
            let error = match read {
                Ok(value) => return good.then_some(value),
                Err(error) => error,
            };
            (good, self.good) = (false, false);
            self.report.leave_unread(&self.path);
            let whole = self.path.at(key);
            let blamed = self.report.read_error(whole.join(&KeyPath::from(error.path())), error.inner());
            if self.report.is_full() || !node.remove(&blamed.below(&whole)) {
                return None;
            }
        }
    }

    /// An error about each key that is not one of `known`.
    pub(super) fn refuse_unknown(&mut self, known: &[&'static str]) {
        for key in self.keys().into_iter().filter(|key| !known.contains(&key.as_str())) {
            self.good = false;
            self.report.read_error(self.path.at(&key), &ReadError::UnknownKey { key, known: known.to_vec() });
        }
    }

    /// The keys that stand here.
    pub(super) fn keys(&self) -> Vec<String> {
        self.node().into_iter().flat_map(|node| node.keys().map(str::to_string)).collect()
    }

    /// Looks at the table `key` that stands in this one; an error, and none, if it is no table.
    pub(super) fn within<T>(&mut self, key: &str, look: impl FnOnce(&mut Section<'_, 'r>) -> T) -> Option<T> {
        self.read::<AnyTable>(key)?;
        let mut inner = Section { report: &mut *self.report, path: self.path.at(key), good: true };
        let seen = look(&mut inner);
        self.good &= inner.good;
        Some(seen)
    }

    /// The tables of the array `key` in this table, by their places; none of an array that cannot
    /// be read.
    pub(super) fn elements(&mut self, key: &str) -> Vec<KeyPath> {
        let tables = if self.has(key) { self.read::<Vec<AnyTable>>(key) } else { None };
        (0..tables.map_or(0, |tables| tables.len())).map(|i| self.path.at(key).at(i)).collect()
    }

    /// The table at `path` in the file.
    pub(super) fn at(&mut self, path: KeyPath) -> Section<'_, 'r> {
        Section::new(&mut *self.report, path)
    }

    /// The value of something depends on another that is in error.
    pub(super) fn doubt(&mut self) {
        self.good = false;
    }

    /// Where the file `name` is: relative to the scenario's directory.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.report.directory().join(name)
    }

    /// Are there enough errors to stop looking for more?
    pub(super) fn is_full(&self) -> bool {
        self.report.is_full()
    }

    /// Was there no error so far?
    pub(super) fn is_good(&self) -> bool {
        self.good
    }

    /// Could each value be read that was looked for?
    pub(super) fn is_read(&self) -> bool {
        self.report.is_read(&self.path)
    }

    /// An error about `key`, which may be the dotted path of a part.
    pub(super) fn error(&mut self, key: &str, message: impl Display) {
        self.good = false;
        let path = key.split('.').fold(self.path.clone(), |path, part| path.at(part));
        self.report.error(&path, message);
    }

    /// An error about the table itself.
    pub(super) fn fail(&mut self, message: impl Display) {
        self.good = false;
        self.report.error(&self.path, message);
    }

    /// An error about `key` unless `good`.
    pub(super) fn check(&mut self, good: bool, key: &str, message: impl Display) {
        if !good {
            self.error(key, message);
        }
    }

    /// `value`, or an error that asks for it, as `example` does.
    pub(super) fn required<T>(&mut self, key: &str, value: Option<T>, example: &str) -> Option<T> {
        if value.is_none() {
            self.error(key, format!("missing; write for example {key} = {example}"));
        }
        value
    }
}

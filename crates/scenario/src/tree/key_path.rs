//! Dotted paths of keys.

use std::fmt;

/// Where a value stands in the file: keys of tables and, as numbers, indices of arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath(Vec<String>);

impl KeyPath {
    /// The dotted path `text`, in which a part that is no plain key may be quoted as in TOML.
    pub(crate) fn parse(text: &str) -> Option<KeyPath> {
        let keys = toml_edit::Key::parse(text).ok()?;
        Some(KeyPath(keys.iter().map(|key| key.get().to_string()).collect()))
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The path of `part`, a key or an index, in the value at this path.
    pub(crate) fn at(&self, part: impl ToString) -> KeyPath {
        let mut parts = self.0.clone();
        parts.push(part.to_string());
        KeyPath(parts)
    }

    /// The path of the value at `inner` in the value at this path.
    pub(crate) fn join(&self, inner: &KeyPath) -> KeyPath {
        KeyPath([&self.0[..], &inner.0[..]].concat())
    }

    /// Its path relative to `table`, which contains it.
    pub(crate) fn below(&self, table: &KeyPath) -> KeyPath {
        KeyPath(self.0[table.0.len()..].to_vec())
    }

    /// Without its last part.
    pub(crate) fn parent(&self) -> KeyPath {
        KeyPath(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }

    pub(crate) fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// Does one of the two stand within the other?
    pub(crate) fn touches(&self, other: &KeyPath) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(f, "{dot}{}", toml_edit::Key::new(part).display_repr())?;
        }
        Ok(())
    }
}

impl From<&serde_path_to_error::Path> for KeyPath {
    fn from(path: &serde_path_to_error::Path) -> KeyPath {
        use serde_path_to_error::Segment;
        let part = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        KeyPath(path.iter().filter_map(part).collect())
    }
}

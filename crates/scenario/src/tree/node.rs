//! Nodes of a parsed TOML file, with their places in the text.

use std::ops::Range;

use indexmap::IndexMap;
use toml_edit::{Document, Item, TableLike, TomlError};

use super::KeyPath;
use linkpool_formats::LineNumbers;

/// A TOML value and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    pub(crate) value: Value,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file as a whole.
    File,
    /// This line of the file, counted from 1.
    Line(usize),
    /// An option of the command line, as it was written: `--set key=value`.
    Option(String),
}

/// A TOML value; tables keep the order of the file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// No key takes one.
    Datetime,
    Array(Vec<Node>),
    Table(IndexMap<String, Node>),
}

impl Node {
    pub(crate) fn child(&self, part: &str) -> Option<&Node> {
        match &self.value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            Value::Table(entries) => entries.get(part),
            _ => None,
        }
    }

    pub(crate) fn child_mut(&mut self, part: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
            Value::Table(entries) => entries.get_mut(part),
            _ => None,
        }
    }

    pub(crate) fn get(&self, path: &KeyPath) -> Option<&Node> {
        path.parts().try_fold(self, Node::child)
    }

    /// The node at `path`, or the innermost around it that exists.
    pub(crate) fn nearest(&self, path: &KeyPath) -> &Node {
        let mut node = self;
        for part in path.parts() {
            match node.child(part) {
                Some(child) => node = child,
                None => break,
            }
        }
        node
    }

    /// The keys of a table; none of anything else.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let entries = match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        };
        entries.into_iter().flat_map(|entries| entries.keys().map(String::as_str))
    }

    /// Takes the node at `path` out, if it is there; of an array, the array, lest the indices of
    /// others shift. Was it there?
    pub(crate) fn remove(&mut self, path: &KeyPath) -> bool {
        let mut node = self;
        let parts: Vec<_> = path.parts().collect();
        for (i, part) in parts.iter().enumerate() {
            if let Value::Table(entries) = &mut node.value {
                let holds_it = i + 1 == parts.len();
                let holds_its_array =
                    i + 2 == parts.len() && matches!(entries.get(*part), Some(Node { value: Value::Array(_), .. }));
                if holds_it || holds_its_array {
                    return entries.shift_remove(*part).is_some();
                }
            }
            match node.child_mut(part) {
                Some(child) => node = child,
                None => return false,
            }
        }
        false
    }
}

/// Reads TOML; an error is its line, if known, and a message.
pub(crate) fn parse(text: &str) -> Result<Node, (Option<usize>, String)> {
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| lines.describe(&error))?;
    Ok(Node { origin: Origin::File, value: lines.table(document.as_table()) })
}

/// Finds the line of a place in the text.
struct Lines<'a> {
    text: &'a str,
    numbers: LineNumbers,
}

impl Lines<'_> {
    fn of(text: &str) -> Lines<'_> {
        Lines { text, numbers: LineNumbers::of(text) }
    }

    fn line(&self, span: Range<usize>) -> usize {
        self.numbers.at(span.start)
    }

    fn origin(&self, span: Option<Range<usize>>) -> Origin {
        span.map_or(Origin::File, |span| Origin::Line(self.line(span)))
    }

    fn describe(&self, error: &TomlError) -> (Option<usize>, String) {
        let message = match (error.message(), error.span()) {
            ("duplicate key", Some(span)) => format!("`{}` stands here twice; rename or remove one", &self.text[span]),
            (message, _) => message.lines().collect::<Vec<_>>().join("; "),
        };
        (error.span().map(|span| self.line(span)), format!("not valid TOML: {message}"))
    }

    fn table(&self, table: &dyn TableLike) -> Value {
        let entry = |(name, item): (&str, &Item)| {
            let span = table.key(name).and_then(toml_edit::Key::span).or(item.span());
            (name.to_string(), Node { origin: self.origin(span), value: self.item(item) })
        };
        Value::Table(table.iter().map(entry).collect())
    }

    fn item(&self, item: &Item) -> Value {
        match item {
            // Only documents under edit hold these.
            Item::None => Value::Array(Vec::new()),
            Item::Value(value) => self.value(value),
            Item::Table(table) => self.table(table),
            Item::ArrayOfTables(tables) => Value::Array(
                tables
                    .iter()
                    .map(|table| Node { origin: self.origin(table.span()), value: self.table(table) })
                    .collect(),
            ),
        }
    }

    fn value(&self, value: &toml_edit::Value) -> Value {
        match value {
            toml_edit::Value::String(text) => Value::String(text.value().clone()),
            toml_edit::Value::Integer(n) => Value::Integer(*n.value()),
            toml_edit::Value::Float(x) => Value::Float(*x.value()),
            toml_edit::Value::Boolean(b) => Value::Boolean(*b.value()),
            toml_edit::Value::Datetime(_) => Value::Datetime,
            toml_edit::Value::Array(array) => Value::Array(
                array.iter().map(|item| Node { origin: self.origin(item.span()), value: self.value(item) }).collect(),
            ),
            toml_edit::Value::InlineTable(table) => self.table(table),
        }
    }
}

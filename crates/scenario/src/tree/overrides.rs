//! Overrides of single values: `--set transport.amp.beta=3`.

use indexmap::IndexMap;

use super::key_path::KeyPath;
use super::node::{Node, Origin, Value, parse};

/// Sets the value at `key`, a dotted path. Missing tables are made, as most keys have defaults; the
/// elements of an array must be there. An error is a message.
pub(crate) fn apply(root: &mut Node, key: &str, value: &str) -> Result<(), String> {
    let origin = Origin::Option(format!("--set {key}={value}"));
    let path = KeyPath::parse(key).ok_or("not a dotted path; write for example topology.many-to-one.senders=40")?;
    let mut node = root;
    let mut so_far = KeyPath::default();
    for part in path.parts() {
        let here = so_far.to_string();
        node = match &mut node.value {
            Value::Table(entries) => entries
                .entry(part.to_string())
                .or_insert_with(|| Node { origin: origin.clone(), value: Value::Table(IndexMap::new()) }),
            Value::Array(items) => {
                let elements = match items.len() {
                    0 => return Err(format!("{here} has no elements")),
                    1 => format!("{here}.0"),
                    n => format!("{here}.0 to {here}.{}", n - 1),
                };
                let element = part.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                element.ok_or(format!("{here} is an array; name one of its elements, {elements}"))?
            }
            _ => return Err(format!("{here} is a single value and has no keys in it")),
        };
        so_far = so_far.at(part);
    }
    *node = Node { origin: origin.clone(), value: read(value, &origin) };
    Ok(())
}

/// Sets the seed, as another option does.
pub(crate) fn apply_seed(root: &mut Node, seed: u64) -> Result<(), String> {
    // TOML has no larger integers, and the scenario as run is written as TOML.
    let value = i64::try_from(seed).map_err(|_| format!("a seed is at most {}", i64::MAX))?;
    if let Value::Table(entries) = &mut root.value {
        let node = Node { origin: Origin::Option(format!("--seed {seed}")), value: Value::Integer(value) };
        entries.insert("seed".to_string(), node);
    }
    Ok(())
}

/// `text` as TOML if it is that, else as a string: `64KiB` needs no quotes on a command line.
fn read(text: &str, origin: &Origin) -> Value {
    let document = parse(&format!("value = {text}")).ok();
    let node = document.filter(|root| root.keys().count() == 1).and_then(|root| root.child("value").cloned());
    match node {
        Some(mut node) => {
            set_origin(&mut node, origin);
            node.value
        }
        None => Value::String(text.to_string()),
    }
}

fn set_origin(node: &mut Node, origin: &Origin) {
    node.origin = origin.clone();
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| set_origin(item, origin)),
        Value::Table(entries) => entries.values_mut().for_each(|entry| set_origin(entry, origin)),
        _ => {}
    }
}

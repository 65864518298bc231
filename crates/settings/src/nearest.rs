//! Suggestions for unknown names: the known names that are most alike.

use std::collections::HashSet;

/// Longer names are not compared.
const LONGEST_NAME: usize = 100;

/// A remedy for the unknown `name`: the most similar of the `known` names, and all of them.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = unique(known);
    let list = match known.len() {
        0..=40 => format!("known: {}", known.join(", ")),
        n => format!("known: {}, ... ({n} in all)", known[..8].join(", ")),
    };
    match closest(name, &known) {
        Some(meant) => format!("did you mean `{meant}`? ({list})"),
        None => list,
    }
}

/// The known name that is most similar to `name`, if one is similar at all.
pub fn closest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    // The first measure finds common beginnings, the second one finds swapped letters.
    let likeness =
        |known: &str| strsim::jaro_winkler(name, known).max(strsim::normalized_damerau_levenshtein(name, known) + 0.1);
    let best = known.iter().map(|known| (likeness(known), *known)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.75).map(|(_, known)| known)
}

/// Each name once, in the order of their first places.
fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

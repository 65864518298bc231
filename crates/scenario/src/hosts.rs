//! How errors speak of hosts.

use linkpool_network::{Fabric, NodeId};

/// `S1 to S30 and R`: runs of numbered names by their ends.
pub(crate) fn names_of_hosts(fabric: &Fabric) -> String {
    names_of(NodeId::first(fabric.hosts()).map(|host| fabric.name(host)))
}

/// The same of any hosts, in their order.
pub(crate) fn names_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let numbered = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((stem.to_string(), name[stem.len()..].parse::<u64>().ok()?))
    };
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for name in names {
        let next = runs.last().and_then(|(_, last)| numbered(last)).map(|(stem, n)| (stem, n + 1));
        match runs.last_mut() {
            Some((_, last)) if next.is_some() && next == numbered(name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let run =
        |(first, last): &(&str, &str)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    let mut names: Vec<String> = runs.iter().take(8).map(run).collect();
    match names.pop() {
        Some(last) if runs.len() > 8 => format!("{}, {last}, ...", names.join(", ")),
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::names_of;

    #[test]
    fn runs_of_numbers_are_shown_by_their_ends_up_to_eight_runs() {
        let of = |names: &str| names_of(names.split(' '));
        assert_eq!(of("S1 S2 S3 R"), "S1 to S3 and R");
        assert_eq!(of("S1 S3 T4"), "S1, S3 and T4");
        assert_eq!(of("a b c d e f g h"), "a, b, c, d, e, f, g and h");
        assert_eq!(of("a b c d e f g h i"), "a, b, c, d, e, f, g, h, ...");
    }
}

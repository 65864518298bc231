//! Words of Linux and of other simulators that are no keys or values here, and what is right in
//! their place. Without them an error would suggest the word that is spelt most alike, which means
//! something else.

use linkpool_settings::nearest;

/// Values of `control` that are a way of loss recovery here.
const RECOVERIES: [&str; 3] = ["newreno", "sack", "rack"];

/// Congestion control, and transports, that linkpool does not have.
const ABSENT: [(&str, &str); 3] = [("homa", "Homa"), ("pfabric", "pFabric"), ("vegas", "Vegas")];

/// Laws of Ultra Ethernet, which are settings of its one transport.
const OF_UET: [(&str, &str); 4] = [
    ("eqds", "`sender_law = \"none\"` and `receiver_credit = true`"),
    ("nscc", "`sender_law = \"nscc\"`"),
    ("rccc", "`receiver_credit = true`"),
    ("strack", "`sender_law = \"strack\"`"),
];

/// A remedy for the unknown key `name` of a table with the keys `known`.
pub(crate) fn instead_of_key<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match name {
        "pause" | "lossless" => {
            "pause frames are a table of `[queue]`: write for example pfc = { buffer = \"12MB\" }".into()
        }
        _ => nearest(name, known),
    }
}

/// A remedy for the unknown value `name` where the values `known` are right.
pub(crate) fn instead_of_value<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = name.to_lowercase();
    if !known.contains(&"reno") && !known.contains(&"lia") {
        return nearest(name, known);
    }
    if known.contains(&lower.as_str()) {
        return format!("names are in lower case: write \"{lower}\"");
    }
    match lower.as_str() {
        "mptcp" => {
            return "MPTCP is the subflows of a coupled algorithm: write for example \"lia\" here, and `subflows = 8`"
                .into();
        }
        "tcp" => {
            return "TCP is any algorithm with one subflow: write for example \"reno\", \"cubic\" or \"dctcp\"".into();
        }
        "linux" => return "this is a preset: write `preset = \"linux\"`, and for example \"cubic\" here".into(),
        _ => {}
    }
    if RECOVERIES.contains(&lower.as_str()) {
        let control = if known.contains(&"reno") { "reno" } else { "uncoupled" };
        return format!("this is a loss recovery: write \"{control}\" here, and `recovery = \"{lower}\"`");
    }
    if let Some((_, settings)) = OF_UET.iter().find(|(law, _)| *law == lower) {
        return format!("this is a law of Ultra Ethernet: write \"uet\" here, and {settings}");
    }
    match ABSENT.iter().find(|(absent, _)| *absent == lower) {
        Some((_, title)) => format!("{title} is not in this version (known: {})", known.join(", ")),
        None => nearest(name, known),
    }
}

//! Numbers of things in messages.

use std::fmt::Display;

/// A number with what it counts: "1 rank", "2 ranks", "0 switches".
pub fn counted(number: impl Display, what: &str) -> String {
    let number = number.to_string();
    let ending = match number.as_str() {
        "1" => "",
        _ if ["ch", "sh", "s", "x"].iter().any(|end| what.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{number} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "rank"), "1 rank");
        assert_eq!(counted(0, "rank"), "0 ranks");
        assert_eq!(counted(11u128, "row"), "11 rows");
        assert_eq!(counted(format_args!("{:.0}", 1.2), "other host"), "1 other host");
        assert_eq!(["switch", "class", "path"].map(|what| counted(2, what)), ["2 switches", "2 classes", "2 paths"]);
    }
}

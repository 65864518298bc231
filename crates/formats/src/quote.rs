//! Text of others in messages: short, and without control characters for terminals.

/// The most characters of a quoted value.
const MOST_QUOTED: usize = 40;

/// The most characters of a message.
const MOST_IN_MESSAGE: usize = 1_000;

/// `text` in quotation marks, with escapes, cut off where it is long.
pub fn quoted(text: &str) -> String {
    let start = &text[..end_of(text, MOST_QUOTED)];
    if start.len() == text.len() { format!("{text:?}") } else { format!("{start:?}...") }
}

/// A message on one line that is no longer than a reader wants; control characters are escaped.
pub fn one_line(message: &str) -> String {
    let start = &message[..end_of(message, MOST_IN_MESSAGE)];
    // Beside control characters two of Unicode begin a line.
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let escape = |c: char| if breaks(c) { c.escape_debug().collect() } else { c.to_string() };
    let mut line: String = start.chars().map(escape).collect();
    if start.len() < message.len() {
        line.push_str("...");
    }
    line
}

/// Where the first `most` characters of `text` end.
fn end_of(text: &str, most: usize) -> usize {
    text.char_indices().nth(most).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(quoted("short"), r#""short""#);
        let long = "\u{e4}".repeat(41);
        assert_eq!(quoted(&long), format!("\"{}\"...", "\u{e4}".repeat(40)));
        assert_eq!(one_line(&long.repeat(100)).chars().count(), MOST_IN_MESSAGE + 3);
    }

    #[test]
    fn what_a_terminal_would_act_upon_is_escaped() {
        assert_eq!(one_line("a\u{1b}[31mb\nc\u{2028}"), r"a\u{1b}[31mb\nc\u{2028}");
        assert_eq!(quoted("\u{1b}\r"), r#""\u{1b}\r""#);
    }
}

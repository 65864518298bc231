//! Files that other programs write, and what they say: flows ([`flows`]), graphs ([`graph`]), and
//! programs of ranks ([`program`]).
//! Each format has a file.
//!
//! What a file says is checked here as far as the file alone tells. Whether it fits the fabric is
//! for the scenario to say.

pub mod flows;
pub mod graph;
mod lines;
pub mod program;
mod quote;

pub use lines::LineNumbers;
pub use quote::{one_line, quoted};

/// `bytes` as text, without the byte order mark with which some programs begin it.
///
/// # Errors
///
/// A message if they are no UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|_| "is not a text file (UTF-8)".to_string())?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte order mark is one at the beginning alone.
    #[test]
    fn text_is_utf_8_without_its_mark() {
        let of = |bytes: &[u8]| text(bytes.to_vec());
        assert_eq!(of(b"\xef\xbb\xbfa\xef\xbb\xbf").unwrap(), "a\u{feff}");
        assert_eq!(of(b"a").unwrap(), "a");
        assert!(of(b"\xff").unwrap_err().contains("not a text file"));
    }
}

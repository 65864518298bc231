//! Line numbers of places in a text.

/// Knows where the lines of a text end.
#[derive(Debug)]
pub struct LineNumbers {
    ends: Vec<usize>,
}

impl LineNumbers {
    /// Of `text`.
    pub fn of(text: &str) -> LineNumbers {
        LineNumbers { ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The line of the byte at `offset`, counted from 1.
    pub fn at(&self, offset: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_its_line_break() {
        let lines = LineNumbers::of("ab\n\nc");
        let all: Vec<usize> = (0..5).map(|offset| lines.at(offset)).collect();
        assert_eq!(all, [1, 1, 1, 2, 3]);
    }
}

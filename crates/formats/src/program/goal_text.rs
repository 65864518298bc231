//! GOAL as text, as LogGOPSim and ATLAHS write it: `num_ranks N`, then for each rank `rank R {`,
//! operations and dependencies, one a line, and `}`.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read, Write};

use crate::quoted;
use linkpool_workload::program::{ANY, MOST_NODES, MOST_RANKS, Node, Op, Programs, Rank, RankBuilder, Source};

/// No line is longer.
const LONGEST_LINE: u64 = 1 << 16;

/// Reads the programs of `file`, whose content is `input`, line by line.
///
/// # Errors
///
/// A message that begins with the file and the line.
pub fn read_goal(file: &str, mut input: impl BufRead) -> Result<Programs, String> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    loop {
        reader.line += 1;
        bytes.clear();
        let at = |why: &str| format!("{file}:{}: {why}", reader.line);
        let read = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|why| at(&format!("cannot be read: {why}")))? == 0 {
            break;
        }
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(at("the line is longer than 65,536 bytes"));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| at("is no text (UTF-8); binary GOAL has format = \"goal-binary\""))?;
        // Editors on Windows put a byte order mark before the first line.
        let text = if reader.line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        reader.read_line(text).map_err(|why| format!("{file}:{}: {why}", reader.line))?;
    }
    let ranks = reader.finish().map_err(|why| format!("{file}: {why}"))?;
    Ok(Programs::new(ranks, Source::Lines(file.to_string())))
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    line: u32,
    in_comment: bool,
    num_ranks: Option<u32>,
    ranks: BTreeMap<u32, Rank>,
    nodes: u64,
    /// The rank under way.
    open: Option<Open>,
}

struct Open {
    rank: u32,
    program: RankBuilder,
    labels: HashMap<String, u32>,
}

impl Reader {
    fn read_line(&mut self, text: &str) -> Result<(), String> {
        let text = self.without_comments(text);
        let mut words = Words(tokens(&text)?.into_iter().peekable());
        while words.0.peek().is_some() {
            self.item(&mut words)?;
        }
        Ok(())
    }

    /// The text without what stands in `/* */`, which may go over lines, and behind `//`.
    fn without_comments(&mut self, text: &str) -> String {
        let (mut rest, mut kept) = (text, String::new());
        loop {
            if self.in_comment {
                let Some((_, after)) = rest.split_once("*/") else { return kept };
                (self.in_comment, rest) = (false, after);
            }
            let (line, block) = (rest.find("//"), rest.find("/*"));
            match (line, block) {
                (Some(line), block) if block.is_none_or(|block| line < block) => return kept + &rest[..line],
                (_, Some(block)) => {
                    kept.push_str(&rest[..block]);
                    kept.push(' ');
                    (self.in_comment, rest) = (true, &rest[block + 2..]);
                }
                _ => return kept + rest,
            }
        }
    }

    fn item(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let Some(open) = &mut self.open else { return self.outside(words) };
        match words.word("an operation, a label or \"}\"")? {
            "}" => {
                let open = self.open.take().expect("it is open");
                let rank = open.program.finish().ok_or("too many dependencies")?;
                self.ranks.insert(open.rank, rank);
                Ok(())
            }
            "rank" | "num_ranks" => Err("the block of the rank before is not closed; write \"}\"".to_string()),
            op @ ("send" | "recv" | "calc") => {
                self.nodes += 1;
                open.operation(op, self.line, self.num_ranks.unwrap_or(0), words).map(|_| ())?;
                within(self.nodes)
            }
            label if is_label(label) => match words.word("\":\", \"requires\" or \"irequires\"")? {
                ":" => {
                    self.nodes += 1;
                    let op = words.word("\"send\", \"recv\" or \"calc\"")?;
                    let node = open.operation(op, self.line, self.num_ranks.unwrap_or(0), words)?;
                    if open.labels.insert(label.to_string(), node).is_some() {
                        return Err(format!(
                            "a second operation of rank {} has the label {}",
                            open.rank,
                            quoted(label)
                        ));
                    }
                    within(self.nodes)
                }
                kind @ ("requires" | "irequires") => {
                    let after = open.labelled(label)?;
                    let before = open.labelled(words.word("a label")?)?;
                    if kind == "requires" {
                        open.program.requires(after, before);
                    } else {
                        open.program.irequires(after, before);
                    }
                    words.end()
                }
                other => Err(format!("{} instead of \":\", \"requires\" or \"irequires\"", quoted(other))),
            },
            other => Err(format!("{} is no operation, no label and no \"}}\"", quoted(other))),
        }
    }

    /// Between the blocks of ranks.
    fn outside(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("\"rank\" or \"num_ranks\"")? {
            "num_ranks" => {
                let ranks: u32 = words.number("the number of ranks")?;
                if self.num_ranks.replace(ranks).is_some() {
                    return Err("a second num_ranks".to_string());
                }
                if !(1..=MOST_RANKS).contains(&ranks) {
                    return Err(format!("{ranks} ranks; write 1 to {MOST_RANKS}"));
                }
                Ok(())
            }
            "rank" => {
                let Some(ranks) = self.num_ranks else { return Err("num_ranks must come first".to_string()) };
                let rank: u32 = words.number("the number of a rank")?;
                if rank >= ranks {
                    return Err(format!("there is no rank {rank} of num_ranks {ranks}, which are numbered from 0"));
                }
                if self.ranks.contains_key(&rank) {
                    return Err(format!("a second block of rank {rank}"));
                }
                match words.word("\"{\"")? {
                    "{" => {
                        self.open = Some(Open { rank, program: RankBuilder::default(), labels: HashMap::new() });
                        Ok(())
                    }
                    other => Err(format!("{} instead of \"{{\"", quoted(other))),
                }
            }
            other => Err(format!("{} instead of \"rank\" or \"num_ranks\"", quoted(other))),
        }
    }

    fn finish(self) -> Result<Vec<Rank>, String> {
        if self.in_comment {
            return Err("ends within a comment; a \"*/\" is missing".to_string());
        }
        if let Some(open) = self.open {
            return Err(format!("ends within the block of rank {}; a \"}}\" is missing", open.rank));
        }
        let ranks = self.num_ranks.ok_or("has no num_ranks")?;
        let missing = (0..).zip(self.ranks.keys()).find(|(i, rank)| i != *rank).map(|(i, _)| i);
        let missing = missing.or((self.ranks.len() < ranks as usize).then_some(self.ranks.len() as u32));
        match missing {
            Some(rank) => Err(format!("has no block of rank {rank} of num_ranks {ranks}; write \"rank {rank} {{ }}\"")),
            None => Ok(self.ranks.into_values().collect()),
        }
    }
}

fn within(nodes: u64) -> Result<(), String> {
    if nodes > MOST_NODES { Err(format!("more than {MOST_NODES} operations")) } else { Ok(()) }
}

impl Open {
    fn labelled(&self, label: &str) -> Result<u32, String> {
        let missing = || format!("no operation above it in rank {} has the label {}", self.rank, quoted(label));
        self.labels.get(label).copied().ok_or_else(missing)
    }

    /// Adds an operation; the word before was `op`.
    fn operation(&mut self, op: &str, line: u32, ranks: u32, words: &mut Words<'_>) -> Result<u32, String> {
        let (op, end) = match op {
            "send" => (Op::Send, "to"),
            "recv" => (Op::Recv, "from"),
            "calc" => (Op::Calc, ""),
            other => return Err(format!("{} instead of \"send\", \"recv\" or \"calc\"", quoted(other))),
        };
        let mut node = Node { size: 0, peer: 0, tag: 0, place: line, op, cpu: 0, nic: 0 };
        node.size = words.number("a size, 0 to 18446744073709551615")?;
        if op != Op::Calc {
            words.expect("b")?;
            words.expect(end)?;
            node.peer = words.number_or_any("a rank", op == Op::Recv)?;
            if node.peer != ANY && node.peer >= ranks {
                return Err(format!("there is no rank {} of num_ranks {ranks}", node.peer));
            }
            if node.peer == self.rank {
                return Err(format!("rank {} exchanges a message with itself", self.rank));
            }
        }
        let mut seen = Vec::new();
        while let Some(word) = words.0.next() {
            let allowed = word == "cpu" || (op != Op::Calc && ["tag", "nic"].contains(&word));
            if !allowed || seen.contains(&word) {
                let more = if op == Op::Calc { "\"cpu\"" } else { "\"tag\", \"cpu\", \"nic\"" };
                return Err(format!("{} instead of {more} or the end of the line", quoted(word)));
            }
            match word {
                "tag" => node.tag = words.number_or_any("a tag, 0 to 4294967294 or -1 for any", true)?,
                "cpu" => node.cpu = words.number("a processor, 0 to 255")?,
                _ => node.nic = words.number("an interface, 0 to 255")?,
            }
            seen.push(word);
        }
        self.program.add(node).ok_or_else(|| format!("more than {MOST_NODES} operations"))
    }
}

fn is_label(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Names, numbers (with a sign) and single signs; a number may be followed at once by a name.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let (mut rest, mut tokens) = (text.trim_ascii(), Vec::new());
    while let Some(first) = rest.chars().next() {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            '-' | '0'..='9' => 1 + rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1),
            c if c.is_ascii_alphabetic() => rest.find(|c| !name(c)).unwrap_or(rest.len()),
            ':' | '{' | '}' => 1,
            other => return Err(format!("{other:?} has no meaning here")),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_ascii_start();
    }
    Ok(tokens)
}

/// The words of a line.
struct Words<'t>(std::iter::Peekable<std::vec::IntoIter<&'t str>>);

impl<'t> Words<'t> {
    fn word(&mut self, what: &str) -> Result<&'t str, String> {
        self.0.next().ok_or_else(|| format!("the line ends; {what} is missing"))
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.word(&format!("{word:?}"))? {
            found if found == word => Ok(()),
            found => Err(format!("{} instead of {word:?}", quoted(found))),
        }
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{} instead of {what}", quoted(word)))
    }

    /// A number below [`ANY`], or -1 for that.
    fn number_or_any(&mut self, what: &str, any: bool) -> Result<u32, String> {
        if any && self.0.peek() == Some(&"-1") {
            self.0.next();
            return Ok(ANY);
        }
        match self.number(what)? {
            ANY => Err(format!("{ANY} instead of {what}")),
            number => Ok(number),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.0.next().map_or(Ok(()), |word| Err(format!("{} instead of the end of the line", quoted(word))))
    }
}

/// Writes `programs` as text; node n of a rank has the label `ln`.
///
/// # Errors
///
/// Those of `output`.
pub fn write_goal(programs: &Programs, output: &mut impl Write) -> std::io::Result<()> {
    writeln!(output, "num_ranks {}", programs.ranks.len())?;
    for (number, rank) in programs.ranks.iter().enumerate() {
        writeln!(output, "\nrank {number} {{")?;
        for (i, node) in (0u32..).zip(rank.nodes()) {
            write!(output, "l{i}: {}", node.text())?;
            if node.cpu != 0 {
                write!(output, " cpu {}", node.cpu)?;
            }
            if node.nic != 0 && node.op != Op::Calc {
                write!(output, " nic {}", node.nic)?;
            }
            writeln!(output)?;
        }
        for i in 0..rank.nodes().len() as u32 {
            for (follower, on_start) in rank.followers(i) {
                let kind = if on_start { "irequires" } else { "requires" };
                writeln!(output, "l{follower} {kind} l{i}")?;
            }
        }
        writeln!(output, "}}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: &str = "// two ranks\nnum_ranks 2\n\nrank 0 {\nl1: calc 100 cpu 3\nl2: send 16b to 1 tag 5 nic 2\n\
        l2 requires l1\n} /* over\nlines */ rank 1 {\nl1: recv 16b from -1 tag -1\nsend 1 b to 0 // no label\nx: calc 0\n\
        x irequires l1\n}\n";

    fn read(text: &str) -> Result<Programs, String> {
        read_goal("p.goal", text.as_bytes())
    }

    #[test]
    fn a_program_by_hand() {
        let programs = read(PING).unwrap();
        let [zero, one] = &programs.ranks[..] else { panic!() };
        let node = |size, peer, tag, place, op, cpu, nic| Node { size, peer, tag, place, op, cpu, nic };
        assert_eq!(zero.nodes(), [node(100, 0, 0, 5, Op::Calc, 3, 0), node(16, 1, 5, 6, Op::Send, 0, 2)]);
        assert_eq!((zero.needs(), zero.followers(0).collect::<Vec<_>>()), (&[0, 1][..], vec![(1, false)]));
        assert_eq!(one.nodes()[0], node(16, ANY, ANY, 10, Op::Recv, 0, 0));
        assert_eq!((one.nodes()[1].place, one.followers(0).collect::<Vec<_>>()), (11, vec![(2, true)]));
    }

    /// Line ends of Windows, a byte order mark before the first line, tabs.
    #[test]
    fn text_of_other_editors() {
        let nodes = |text: &str| read(text).unwrap().ranks.iter().map(|rank| rank.nodes().to_vec()).collect::<Vec<_>>();
        let other = format!("\u{feff}{}", PING.replace('\n', "\r\n").replace(' ', "\t"));
        assert_eq!(nodes(&other), nodes(PING));
        assert_eq!(read("\n\u{feff}num_ranks 1").unwrap_err(), "p.goal:2: '\\u{feff}' has no meaning here");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let programs = read(PING).unwrap();
        let mut text = Vec::new();
        write_goal(&programs, &mut text).unwrap();
        let again = read_goal("p.goal", &text[..]).unwrap();
        let plain = |programs: &Programs| -> Vec<_> {
            let nodes = |rank: &Rank| -> Vec<Node> { rank.nodes().iter().map(|n| Node { place: 0, ..*n }).collect() };
            let followers =
                |rank: &Rank| -> Vec<_> { (0..rank.nodes().len() as u32).flat_map(|n| rank.followers(n)).collect() };
            programs.ranks.iter().map(|rank| (nodes(rank), followers(rank))).collect()
        };
        assert_eq!(plain(&programs), plain(&again));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("rank 0 {\n}\n", "p.goal:1: num_ranks must come first"),
            ("num_ranks 0\n", "p.goal:1: 0 ranks; write 1 to 1048576"),
            ("num_ranks 2\nrank 0 {\n}\n", "p.goal: has no block of rank 1 of num_ranks 2; write \"rank 1 { }\""),
            ("num_ranks 1\nrank 0 {\n", "p.goal: ends within the block of rank 0; a \"}\" is missing"),
            (
                "num_ranks 1\nrank 0 {\nl1: sent 1b to 0\n}",
                "p.goal:3: \"sent\" instead of \"send\", \"recv\" or \"calc\"",
            ),
            ("num_ranks 1\nrank 0 {\nsend 1b to 0\n}", "p.goal:3: rank 0 exchanges a message with itself"),
            ("num_ranks 1\nrank 0 {\nsend 1b to 7\n}", "p.goal:3: there is no rank 7 of num_ranks 1"),
            ("num_ranks 2\nrank 0 {\nsend 1b to -1\n}", "p.goal:3: \"-1\" instead of a rank"),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}",
                "p.goal:4: a second operation of rank 0 has the label \"a\"",
            ),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}",
                "p.goal:4: no operation above it in rank 0 has the label \"b\"",
            ),
            (
                "num_ranks 1\nrank 0 {\ncalc 18446744073709551616\n}",
                "p.goal:3: \"18446744073709551616\" instead of a size, 0 to 18446744073709551615",
            ),
            ("num_ranks 1\nrank 0 {\ncalc 1 tag 3\n}", "p.goal:3: \"tag\" instead of \"cpu\" or the end of the line"),
            ("num_ranks 1\nrank 0 {\ncalc 1 cpu 256\n}", "p.goal:3: \"256\" instead of a processor, 0 to 255"),
            ("num_ranks 1\nrank 0 {\ncalc \u{7}\n}", "p.goal:3: '\\u{7}' has no meaning here"),
            ("num_ranks 1\nrank 0 {\n/* }", "p.goal: ends within a comment; a \"*/\" is missing"),
            (
                "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4294967296\n}",
                "p.goal:3: \"4294967296\" instead of a tag, 0 to 4294967294 or -1 for any",
            ),
            (
                "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4294967295\n}",
                "p.goal:3: 4294967295 instead of a tag, 0 to 4294967294 or -1 for any",
            ),
            ("num_ranks 1\nrank 0 {\nsend 1\n}", "p.goal:3: the line ends; \"b\" is missing"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
        let long = "/".repeat(70_000);
        assert_eq!(read(&long).unwrap_err(), "p.goal:1: the line is longer than 65,536 bytes");
    }
}

//! Ways to damage a file.

use toml_edit::{DocumentMut, Item, Table, Value};

/// Random numbers by their seed (SplitMix64: Steele et al., OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is above zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of the words between single spaces.
    fn of<'a>(&mut self, words: &'a str) -> &'a str {
        let words: Vec<&str> = words.split(' ').collect();
        words[self.below(words.len())]
    }
}

/// Words that stand at the edge of something.
const WORDS: &str = "0 1 2 3 -1 255 256 65535 65536 4294967295 4294967296 9223372036854775807 18446744073709551615 \
    18446744073709551616 1e308 1e-308 -0.0 nan inf 0.5 1000000000000 \"\" \"0s\" \"1ps\" \"1000000s\" \"0bps\" \"1bps\" \
    \"100Tbps\" \"0B\" \"1B\" \"1000000TB\" \"unlimited\" \"auto\" \"never\" \"S1\" \"h0\" \"h1\" true false null [] {} \
    [[]] \u{0} \u{1b}[31m \u{feff} é -> <-> # \" ''' \r \n \n\n ,";

/// Damages `content` in one to four places, byte by byte or word by word, with parts of itself or
/// of `other`.
pub fn mutated(content: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut content = content.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(content.len() + 1);
        let end = (at + 1 + random.below(40)).min(content.len());
        match random.below(9) {
            0 if at < content.len() => content[at] ^= 1 << random.below(8),
            1 if at < content.len() => content[at] = random.next() as u8,
            2 => content.truncate(at),
            3 => drop(content.drain(at..end)),
            4 => {
                let again = content[at..end].to_vec();
                content.splice(at..at, again);
            }
            5 => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(200)).min(other.len());
                content.splice(at..end, other[from..to].iter().copied());
            }
            6 => drop(content.splice(at..at, random.of(WORDS).bytes())),
            _ => {
                let (from, to) = word(&content, at);
                content.splice(from..to, random.of(WORDS).bytes());
            }
        }
    }
    content
}

/// The ends of the word at `at`.
fn word(content: &[u8], at: usize) -> (usize, usize) {
    let is_between = |byte: &u8| b" ,:=<>[]{}\n\t".contains(byte);
    let from = content[..at].iter().rposition(is_between).map_or(0, |before| before + 1);
    let to = content[at..].iter().position(is_between).map_or(content.len(), |after| at + after);
    (from, to)
}

/// Changes one to four values or keys of a scenario, which stays TOML.
pub fn restructured(content: &[u8], random: &mut Random) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let mut document: DocumentMut = text.parse().expect("what is damaged was good");
    for _ in 0..1 + random.below(4) {
        change(document.as_table_mut(), random);
    }
    document.to_string().into_bytes()
}

/// Changes something in `table`, or in a table in it.
fn change(table: &mut Table, random: &mut Random) {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    if keys.is_empty() {
        table.insert(random.of(KEYS), Item::Value(value(random)));
        return;
    }
    let key = &keys[random.below(keys.len())];
    let item = table.get_mut(key).expect("it is a key");
    match item {
        Item::Table(inner) if random.below(8) > 0 => return change(inner, random),
        Item::ArrayOfTables(tables) if random.below(8) > 0 => {
            let count = tables.len();
            if random.below(8) == 0 {
                let copy = tables.get(random.below(count)).expect("it is one of them").clone();
                tables.push(copy);
            } else if let Some(inner) = tables.get_mut(random.below(count)) {
                change(inner, random);
            }
            return;
        }
        _ => {}
    }
    match random.below(6) {
        0 => drop(table.remove(key)),
        1 => drop(table.insert(random.of(KEYS), Item::Value(value(random)))),
        2 => {
            let moved = table.remove(key).expect("it is a key");
            table.insert(random.of(KEYS), moved);
        }
        _ => *item = Item::Value(value(random)),
    }
}

/// A value at the edge of something.
fn value(random: &mut Random) -> Value {
    loop {
        if let Ok(value) = random.of(WORDS).parse() {
            return value;
        }
    }
}

/// Keys of many tables.
const KEYS: &str = "after beta cdf change control count cwnd_min delay discipline duration drain every file flows \
    flows_per_second from gap hosts interpolation jitter k label layer limit links load mark name nics \
    paths placement queue rate record repeat role roles routing seed senders shared_buffer size spacing \
    start stop subflows to topology transport until weights workload";

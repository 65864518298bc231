//! Type information (BTF) for tests, as a kernel has it in `/sys/kernel/btf/vmlinux`
//! (Documentation/bpf/btf.rst of Linux).

const INT: u32 = 1;
const POINTER: u32 = 2;
const STRUCT: u32 = 4;
const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;

/// Types, and the strings that name them.
pub struct Btf {
    types: Vec<u32>,
    strings: Vec<u8>,
    count: u32,
}

impl Btf {
    /// With one type, number 1: `int`.
    pub fn new() -> Btf {
        let mut btf = Btf { types: Vec::new(), strings: vec![0], count: 0 };
        let name = btf.string("int");
        btf.add(&[name, INT << 24, 4, 1 << 24 | 32]);
        btf
    }

    /// A struct with members of these names and types.
    pub fn structure(&mut self, name: &str, members: &[(&str, u32)]) {
        let mut words = vec![self.string(name), STRUCT << 24 | members.len() as u32, 8 * members.len() as u32];
        for (at, (member, number)) in members.iter().enumerate() {
            words.extend([self.string(member), *number, 64 * at as u32]);
        }
        self.add(&words);
    }

    /// A pointer to a function with so many arguments; the type's number.
    pub fn hook(&mut self, arguments: u32) -> u32 {
        let prototype = self.prototype(arguments);
        self.add(&[0, POINTER << 24, prototype])
    }

    /// A function without arguments.
    pub fn function(&mut self, name: &str) {
        let (prototype, name) = (self.prototype(0), self.string(name));
        self.add(&[name, FUNCTION << 24, prototype]);
    }

    pub fn bytes(&self) -> Vec<u8> {
        let types: Vec<u8> = self.types.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut all = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, types.len(), types.len(), self.strings.len()] {
            all.extend((word as u32).to_le_bytes());
        }
        all.extend(types);
        all.extend(&self.strings);
        all
    }

    fn prototype(&mut self, arguments: u32) -> u32 {
        let mut words = vec![0, PROTOTYPE << 24 | arguments, 0];
        words.extend((0..arguments).flat_map(|_| [0, 1]));
        self.add(&words)
    }

    fn string(&mut self, text: &str) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend(text.as_bytes());
        self.strings.push(0);
        at
    }

    fn add(&mut self, words: &[u32]) -> u32 {
        self.types.extend(words);
        self.count += 1;
        self.count
    }
}

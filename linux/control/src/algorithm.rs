//! The algorithms: their names, their programs, and which parameters each has.

macro_rules! algorithms {
    ($($name:literal $file:literal ecn=$ecn:literal [$($parameter:literal),*] $about:literal;)*) => {
        /// All of them.
        pub const ALL: &[Algorithm] = &[$(Algorithm {
            name: $name,
            file: $file,
            needs_ecn: $ecn,
            parameters: &[$($parameter),*],
            about: $about,
            object: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".o")),
        }),*];
    };
}

/// One algorithm.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// As scenarios write it.
    pub name: &'static str,
    /// Its file in `bpf/`, without the ending; the kernel calls it by this, after `lp_`.
    pub file: &'static str,
    /// Does it heed marks?
    pub needs_ecn: bool,
    /// Its parameters, as the command line writes them.
    pub parameters: &'static [&'static str],
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The compiled program.
    pub object: &'static [u8],
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

algorithms! {
    "amp" "amp" ecn=true ["beta", "cwnd-min", "ack-order", "gamma", "tau", "suppression", "release"]
        "one packet a round over all subflows, a constant cut, one subflow while all are at the minimum";
    "xmp" "xmp" ecn=true ["beta", "cwnd-min", "ssthresh-after-cut"] "BOS and TraSh";
    "dcm" "dcm" ecn=true ["alpha0", "g", "cwnd-min", "ack-order"] "LIA's increase, DCTCP's cut";
    "mptcp-cut" "mptcp_cut" ecn=true ["beta", "cwnd-min", "ack-order"] "LIA with a constant cut of 1/beta on marks";
    "dctcp" "dctcp" ecn=true ["alpha0", "g", "cwnd-min", "ack-order"] "cuts in proportion to the fraction of marks";
    "lia" "lia" ecn=false [] "linked increases (RFC 6356)";
    "olia" "olia" ecn=false [] "opportunistic linked increases";
    "balia" "balia" ecn=false [] "balanced linked adaptation";
    "ewtcp" "ewtcp" ecn=false ["ewtcp-increase"] "a TCP of less weight on each subflow";
    "uncoupled" "uncoupled" ecn=false [] "NewReno on each subflow";
}

impl Algorithm {
    /// The one that scenarios call so.
    pub fn named(name: &str) -> Option<Algorithm> {
        ALL.iter().copied().find(|algorithm| algorithm.name == name)
    }

    /// What the kernel calls it, unless another name is asked for: also the name of its map.
    pub fn kernel_name(&self) -> String {
        format!("lp_{}", self.file)
    }
}

//! Network namespaces for tests, and transfers between them. What a test makes goes when it ends,
//! also when it fails.

use linkpool_linux_control::algorithm::Algorithm;
use linkpool_linux_control::instance::{self, Instance};
use linkpool_linux_control::namespace::Namespace;
use linkpool_linux_control::settings::Settings;
use rustix::net::{AddressFamily, Protocol, SocketType, bind, connect, listen, socket, sockopt};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

/// Why the tests of this file cannot run here: no root, or the kernel lacks something.
pub fn skipped(test: &str) -> bool {
    let findings = linkpool_linux_control::check::running_kernel();
    // The test of cgroups says for itself what it needs.
    let needed = |what: &str| !what.contains("cgroup");
    let lack = findings.iter().find(|f| needed(f.what) && f.state != linkpool_linux_control::check::State::Has);
    let root = rustix::process::geteuid().is_root();
    if let Some(lack) = lack {
        eprintln!("{test} skipped: {} ({})", lack.what, lack.remedy);
    } else if !root {
        eprintln!("{test} skipped: needs root");
    }
    lack.is_some() || !root
}

pub fn run(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap();
    let output = Command::new(program).args(words).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A client and a server with `links` links between them: 10.9.i.1 and 10.9.i.2.
pub struct Net {
    pub client: Namespace,
    pub server: Namespace,
    pub names: [String; 2],
}

impl Net {
    pub fn new(links: u8) -> Net {
        let number = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let names = [format!("lptest-c-{number}"), format!("lptest-s-{number}")];
        // Made first, so that what is there already goes when a command below fails.
        for name in &names {
            run(&format!("ip netns add {name}"));
        }
        let [c, s] = &names;
        for i in 0..links {
            run(&format!("ip -n {c} link add l{i} type veth peer name l{i} netns {s}"));
            for (name, end) in [(c, 1), (s, 2)] {
                run(&format!("ip -n {name} addr add 10.9.{i}.{end}/24 dev l{i}"));
                run(&format!("ip -n {name} link set l{i} up"));
            }
        }
        for name in &names {
            run(&format!("ip -n {name} link set lo up"));
        }
        let [client, server] = [&names[0], &names[1]].map(|name| Namespace::named(name).unwrap());
        Net { client, server, names }
    }

    pub fn client_name(&self) -> &str {
        &self.names[0]
    }

    /// The kernel's counters of MPTCP at both ends that are not zero, for the message of a failure.
    pub fn mptcp_counters(&self) -> [Vec<String>; 2] {
        [&self.client, &self.server].map(|namespace| {
            let text = namespace.within(|| Ok(std::fs::read_to_string("/proc/thread-self/net/netstat")?)).unwrap();
            let mut of_mptcp = text.lines().filter_map(|line| line.strip_prefix("MPTcpExt: "));
            let (names, values) = (of_mptcp.next().unwrap_or_default(), of_mptcp.next().unwrap_or_default());
            let counters = names.split(' ').zip(values.split(' ')).filter(|(_, value)| *value != "0");
            counters.map(|(name, value)| format!("{name} {value}")).collect()
        })
    }

    /// A rate limit on link `i`, from the client, in Mbit/s: a token bucket over a queue of `limit`
    /// packets.
    pub fn limit(&self, i: u8, mbps: u32) {
        let c = self.client_name();
        run(&format!("tc -n {c} qdisc replace dev l{i} root tbf rate {mbps}mbit burst 20kb limit 150kb"));
    }

    /// Marks each packet of link `i` from the client that is ECN-capable, or no more.
    pub fn mark(&self, i: u8, on: bool) {
        if on {
            self.mark_by("tc", i);
        } else {
            run(&format!("tc -n {} qdisc del dev l{i} clsact", self.client_name()));
        }
    }

    /// Marks packets of link `i` from the client by a program of `mark.c`.
    pub fn mark_by(&self, section: &str, i: u8) {
        let c = self.client_name();
        run(&format!("tc -n {c} qdisc add dev l{i} clsact"));
        let object = concat!(env!("OUT_DIR"), "/mark.o");
        run(&format!(
            "ip netns exec {c} tc filter add dev l{i} egress bpf direct-action object-file {object} section {section}"
        ));
    }

    /// Both ends use `controller` from now on, and the server accepts subflows.
    pub fn enable(&self, controller: &str) {
        for namespace in [&self.client, &self.server] {
            namespace.set("net/ipv4/tcp_congestion_control", controller).unwrap();
            namespace.set("net/mptcp/enabled", "1").unwrap();
        }
        run(&format!("ip -n {} mptcp limits set subflows 8 add_addr_accepted 8", self.names[1]));
    }

    /// The kernel's path manager opens a subflow from each further link.
    pub fn subflow_on_each_link(&self, links: u8) {
        let c = self.client_name();
        run(&format!("ip -n {c} mptcp limits set subflows 8 add_addr_accepted 8"));
        for i in 1..links {
            run(&format!("ip -n {c} mptcp endpoint add 10.9.{i}.1 dev l{i} subflow"));
        }
    }

    /// Addresses of IPv6 on link 0, fd00:9::1 and fd00:9::2, at once in use.
    pub fn add_ipv6(&self) {
        for (name, end) in self.names.iter().zip([1, 2]) {
            run(&format!("ip -n {name} addr add fd00:9::{end}/64 dev l0 nodad"));
        }
    }

    /// A server that reads until its peer closes; the thread returns how many bytes came.
    pub fn serve(&self, port: u16) -> JoinHandle<u64> {
        self.serve_at((Ipv4Addr::UNSPECIFIED, port).into())
    }

    /// The same at an address of either family.
    pub fn serve_at(&self, address: SocketAddr) -> JoinHandle<u64> {
        let listener = self.server.within(|| Ok(mptcp_listener(address))).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 18];
            let mut bytes = 0;
            loop {
                match stream.read(&mut buffer).unwrap() {
                    0 => return bytes,
                    n => bytes += n as u64,
                }
            }
        })
    }

    /// A server that takes so many connections, and reads each until it is closed; the thread
    /// returns how many bytes came.
    pub fn serve_many(&self, port: u16, connections: usize) -> JoinHandle<u64> {
        let address = (Ipv4Addr::UNSPECIFIED, port).into();
        let listener = self.server.within(|| Ok(mptcp_listener(address))).unwrap();
        thread::spawn(move || {
            let streams: Vec<_> = (0..connections).map(|_| listener.accept().unwrap().0).collect();
            let readers = streams.into_iter().map(|mut stream| {
                let read = move || std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
                thread::Builder::new().stack_size(1 << 16).spawn(read).unwrap()
            });
            readers.collect::<Vec<_>>().into_iter().map(|reader| reader.join().unwrap()).sum()
        })
    }

    /// An MPTCP connection to the server on link 0.
    pub fn connect(&self, port: u16) -> TcpStream {
        self.connect_to((Ipv4Addr::new(10, 9, 0, 2), port).into())
    }

    /// An MPTCP connection to an address of either family.
    pub fn connect_to(&self, address: SocketAddr) -> TcpStream {
        self.client.within(|| Ok(mptcp_connect(address))).unwrap()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

fn mptcp_socket(address: SocketAddr) -> rustix::fd::OwnedFd {
    let mptcp = Protocol::from_raw(NonZeroU32::new(262).unwrap());
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    socket(family, SocketType::STREAM, Some(mptcp)).unwrap()
}

fn mptcp_listener(address: SocketAddr) -> TcpListener {
    let socket = mptcp_socket(address);
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    bind(&socket, &address).unwrap();
    listen(&socket, 2048).unwrap();
    TcpListener::from(socket)
}

pub fn mptcp_connect(address: SocketAddr) -> TcpStream {
    let socket = mptcp_socket(address);
    connect(&socket, &address).unwrap();
    TcpStream::from(socket)
}

/// Sends `bytes`.
pub fn send(stream: &mut TcpStream, bytes: u64) {
    let chunk = vec![7; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let n = left.min(chunk.len() as u64) as usize;
        stream.write_all(&chunk[..n]).unwrap();
        left -= n as u64;
    }
}

/// A controller that is unloaded when the test ends. Its name is of this process, since tests run
/// side by side.
pub struct Loaded(pub Instance);

impl Loaded {
    pub fn new(algorithm: &str, settings: &Settings) -> Loaded {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let algorithm = Algorithm::named(algorithm).unwrap();
        let name = format!("lpt{}_{number}", std::process::id() % 1_000_000);
        Loaded(instance::load(&algorithm, &name, settings).unwrap())
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(loaded) = instance::find(&self.0.name) {
            let _ = loaded.unload();
        }
    }
}

//! The daemon: subflows by rule, suppression, loss of subflows, restarts.

use crate::net::{Loaded, Net, run, send, skipped};
use linkpool_linux_control::daemon::{self, Config, Report, Rule};
use linkpool_linux_control::intf::Conn;
use linkpool_linux_control::namespace::Namespace;
use linkpool_linux_control::settings::Settings;
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

/// A daemon on a thread; it stops when the test ends.
struct Serving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<anyhow::Result<Report>>>,
    _alone: MutexGuard<'static, ()>,
}

/// One daemon at a time: it takes the events of all controllers.
static DAEMON: Mutex<()> = Mutex::new(());

impl Serving {
    fn new(nets: &[&Net], rule: Rule) -> Serving {
        let alone = DAEMON.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = Arc::new(AtomicBool::new(false));
        let config = Config { namespaces: nets.iter().map(|net| net.client.clone()).collect(), rule };
        let (ready, started) = channel();
        let thread = thread::spawn({
            let stop = stop.clone();
            move || daemon::run(&config, &stop, move |_| ready.send(()).unwrap())
        });
        started.recv_timeout(Duration::from_secs(60)).expect("the daemon starts");
        Serving { stop, thread: Some(thread), _alone: alone }
    }

    fn end(mut self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn client_conn(loaded: &Loaded, net: &Net) -> Option<Conn> {
    let all = loaded.0.connections().unwrap();
    all.iter().map(|(_, entry)| entry.conn).find(|conn| conn.netns == net.client.inode)
}

/// Sends until it is so; for a minute at most, since the machine may have other work.
fn send_until(
    stream: &mut TcpStream,
    loaded: &Loaded,
    net: &Net,
    what: &str,
    is: impl Fn(&Conn) -> bool,
) -> (Conn, u64) {
    let end = Instant::now() + Duration::from_secs(60);
    let mut sent = 0;
    loop {
        send(stream, 50_000);
        sent += 50_000;
        if let Some(conn) = client_conn(loaded, net) {
            if is(&conn) {
                return (conn, sent);
            }
            assert!(Instant::now() < end, "not {what}: {conn:?}");
        }
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn subflows_are_opened_suppressed_released_and_opened_again() {
    if skipped("subflows_are_opened_suppressed_released_and_opened_again") {
        return;
    }
    let net = Net::new(1);
    net.limit(0, 100);
    let loaded = Loaded::new("amp", &Settings { tau: Some(3), ..Settings::default() });
    net.enable(loaded.name());
    let serving = Serving::new(&[&net], Rule { subflows: 4, ..Rule::default() });
    assert_eq!(net.client.setting("net/mptcp/pm_type").unwrap().as_deref(), Some("1"));
    let server = net.serve(7000);
    let mut stream = net.connect(7000);
    let mut sent = 0;
    let mut until = |what: &str, is: &dyn Fn(&Conn) -> bool| {
        let (conn, bytes) = send_until(&mut stream, &loaded, &net, what, is);
        sent += bytes;
        conn
    };
    let conn = until("four subflows", &|c| c.subflows == 4);
    let mut ports: Vec<u16> = conn.established().map(|(_, p)| p.local.port & 7).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 4, "ports that differ in their lowest bits");

    net.mark(0, true);
    until("suppressed", &|c| c.suppressed != 0);
    // The kernel's own flags, as the last rounds of the subflows saw them.
    let delivered =
        |c: &Conn| c.established().filter(|(s, _)| *s != usize::from(c.first)).map(|(_, p)| p.delivered).sum::<u64>();
    // What is queued on them drains first, in a time that depends on the machine.
    let quiet_until = Instant::now() + Duration::from_secs(60);
    loop {
        let before = client_conn(&loaded, &net).unwrap();
        let first = |c: &Conn| c.paths[usize::from(before.first)].delivered;
        let after = until("more data of the first", &|c| first(c) > first(&before) + 100);
        assert!(after.suppressed != 0);
        if delivered(&after) == delivered(&before) {
            break;
        }
        assert!(Instant::now() < quiet_until, "suppressed subflows carry new data: {before:?} {after:?}");
    }

    // A daemon that ends and comes back finds what there is.
    let first_report = serving.end();
    assert_eq!(net.client.setting("net/mptcp/pm_type").unwrap().as_deref(), Some("0"), "given back");
    net.mark(0, false);
    until("released", &|c| c.suppressed == 0);
    let serving = Serving::new(&[&net], Rule { subflows: 4, ..Rule::default() });
    let released = client_conn(&loaded, &net).unwrap();
    until("data on the released subflows", &|c| delivered(c) > delivered(&released) + 50);

    // A subflow dies: another is opened in its place.
    let lost = released.established().find(|(slot, _)| *slot != usize::from(released.first)).unwrap().1.local.port;
    run(&format!("ip netns exec {} ss -K sport = :{lost}", net.client_name()));
    let losses = |c: &Conn| c.established().all(|(_, p)| p.local.port != lost);
    until("one lost", &losses);
    until("four again", &|c| c.subflows == 4);

    drop(stream);
    assert_eq!(server.join().unwrap(), sent);
    let report = serving.end();
    println!("suppression: {}; after the restart: {}", first_report.latency, report.latency);
    assert!(
        first_report.latency.count() >= 1 && first_report.opened >= 3 && report.opened >= 1,
        "{first_report:?} {report:?}"
    );
    assert_eq!(loaded.0.counters().unwrap()[..4], [0, 0, 0, 0]);
}

/// Sends until no subflow but the first carries data while the first carries 100 packets. What is
/// queued on the others drains first, in a time that depends on the machine.
fn send_until_the_first_is_alone(stream: &mut TcpStream, loaded: &Loaded, net: &Net) -> u64 {
    let delivered = |c: &Conn| c.established().map(|(_, p)| p.delivered).sum::<u64>();
    let of_first = |c: &Conn| c.paths[usize::from(c.first)].delivered;
    let (end, mut sent) = (Instant::now() + Duration::from_secs(60), 0);
    loop {
        let before = client_conn(loaded, net).unwrap();
        let (after, bytes) =
            send_until(stream, loaded, net, "more data of the first", |c| of_first(c) > of_first(&before) + 100);
        sent += bytes;
        if delivered(&after) - delivered(&before) == of_first(&after) - of_first(&before) {
            assert!(after.suppressed != 0, "{after:?}");
            return sent;
        }
        assert!(Instant::now() < end, "suppressed subflows carry data: {before:?} {after:?}");
    }
}

/// The kernel takes no flag for a subflow before its handshake is over. Nor may the one that
/// follows the first stay what it was, a backup.
#[test]
fn subflows_that_come_while_suppressed_are_suppressed() {
    if skipped("subflows_that_come_while_suppressed_are_suppressed") {
        return;
    }
    let net = Net::new(1);
    // Slow, for a subflow without data keeps its window, and then AMP suppresses none.
    net.limit(0, 20);
    // No release, but for the loss of the first.
    let loaded = Loaded::new("amp", &Settings { tau: Some(1_000_000), ..Settings::default() });
    net.enable(loaded.name());
    let serving = Serving::new(&[&net], Rule { subflows: 4, ..Rule::default() });
    let server = net.serve(7050);
    let mut stream = net.connect(7050);
    let mut sent = 0;
    let mut until = |what: &str, is: &dyn Fn(&Conn) -> bool| {
        let (conn, bytes) = send_until(&mut stream, &loaded, &net, what, is);
        sent += bytes;
        conn
    };
    let kill = |port: u16| run(&format!("ip netns exec {} ss -K sport = :{port}", net.client_name()));
    until("four subflows", &|c| c.subflows == 4);
    net.mark(0, true);
    let conn = until("suppressed", &|c| c.suppressed != 0);

    let lost = conn.established().find(|(slot, _)| *slot != usize::from(conn.first)).unwrap().1.local.port;
    kill(lost);
    until("one lost", &|c| c.established().all(|(_, p)| p.local.port != lost));
    until("four again", &|c| c.subflows == 4 && c.suppressed != 0);
    sent += send_until_the_first_is_alone(&mut stream, &loaded, &net);

    let conn = client_conn(&loaded, &net).unwrap();
    kill(conn.paths[usize::from(conn.first)].local.port);
    let (_, bytes) = send_until(&mut stream, &loaded, &net, "suppressed once more", |c| {
        c.subflows == 4 && c.suppressions > conn.suppressions && c.suppressed != 0
    });
    sent += bytes + send_until_the_first_is_alone(&mut stream, &loaded, &net);

    drop(stream);
    assert_eq!(server.join().unwrap(), sent);
    let report = serving.end();
    assert_eq!(report.failed, 0, "{report:?}");
}

/// Without a daemon nobody makes backups of suppressed subflows.
#[test]
fn suppressed_subflows_do_not_grow() {
    if skipped("suppressed_subflows_do_not_grow") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 100));
    let loaded = Loaded::new("amp", &Settings { tau: Some(1_000_000), ..Settings::default() });
    net.enable(loaded.name());
    let server = net.serve(7060);
    let mut stream = net.connect(7060);
    let (_, opening) = send_until(&mut stream, &loaded, &net, "two subflows", |c| c.subflows == 2);
    (0..2).for_each(|i| net.mark(i, true));
    let (_, marked) = send_until(&mut stream, &loaded, &net, "suppressed", |c| c.suppressed != 0);
    (0..2).for_each(|i| net.mark(i, false));
    let floor = |c: &Conn| c.established().find(|(slot, _)| *slot != usize::from(c.first)).unwrap().1.cwnd;
    let before = floor(&client_conn(&loaded, &net).unwrap());
    let (after, rest) =
        send_until(&mut stream, &loaded, &net, "data on both", |c| c.paths.iter().take(2).all(|p| p.delivered > 2_000));
    assert!(after.suppressed != 0 && floor(&after) <= before, "{after:?}");
    drop(stream);
    assert_eq!(server.join().unwrap(), opening + marked + rest);
}

/// Where others have ports, subflows get other ones, and each has an address identifier of its own.
#[test]
fn a_port_that_is_taken_is_avoided() {
    if skipped("a_port_that_is_taken_is_avoided") {
        return;
    }
    let net = Net::new(1);
    let loaded = Loaded::new("lia", &Settings::default());
    net.enable(loaded.name());
    let serving = Serving::new(&[&net], Rule { subflows: 4, ..Rule::default() });
    let server = net.serve(7400);
    let mut stream = net.connect(7400);
    // Those of the second further subflow, at its first attempts.
    let first = stream.local_addr().unwrap().port();
    let others = (0..11).map(|attempt| first ^ 2 ^ (attempt << 3));
    let bind = || Ok(others.map(|port| TcpListener::bind(("10.9.0.1", port)).unwrap()).collect::<Vec<_>>());
    let taken = net.client.within(bind).unwrap();
    let (conn, _) = send_until(&mut stream, &loaded, &net, "four subflows", |c| c.subflows == 4);
    let ids: BTreeSet<u8> = conn.established().map(|(_, path)| path.local.id).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    drop((stream, taken));
    server.join().unwrap();
    serving.end();
}

/// The path manager of a namespace: "0" is the kernel's, "1" that in user space.
fn manager(namespace: &Namespace) -> String {
    namespace.setting("net/mptcp/pm_type").unwrap().unwrap()
}

/// Why a second daemon, which is to serve `namespace`, does not begin.
fn refused(namespace: &Namespace) -> String {
    let config = Config { namespaces: vec![namespace.clone()], rule: Rule::default() };
    let ended = daemon::run(&config, &Arc::new(AtomicBool::new(false)), |_| panic!("a second daemon serves"));
    ended.unwrap_err().to_string()
}

/// One daemon serves a namespace. What one that was killed has left, there or in a namespace that
/// nobody serves any more, the next one puts right.
#[test]
fn a_daemon_cleans_up_after_one_that_was_killed() {
    if skipped("a_daemon_cleans_up_after_one_that_was_killed") {
        return;
    }
    let (net, other) = (Net::new(1), Net::new(1));
    let _loaded = Loaded::new("lia", &Settings::default());
    let note = |namespace: &Namespace| PathBuf::from(format!("/run/linkpool/path-manager-{}", namespace.inode));
    // As a daemon leaves them that is killed: both namespaces taken over, and one that is gone.
    fs::create_dir_all("/run/linkpool").unwrap();
    for namespace in [&net.client, &other.client] {
        let by_name = namespace.setting("net/mptcp/path_manager").unwrap().is_some();
        namespace.set("net/mptcp/pm_type", "1").unwrap();
        fs::write(note(namespace), if by_name { "kernel" } else { "0" }).unwrap();
    }
    let gone = PathBuf::from("/run/linkpool/path-manager-1");
    fs::write(&gone, "kernel").unwrap();

    let serving = Serving::new(&[&net], Rule::default());
    assert_eq!((manager(&net.client), manager(&other.client)), ("1".to_string(), "0".to_string()));
    assert!(note(&net.client).exists() && !note(&other.client).exists() && !gone.exists());

    assert!(refused(&net.client).contains("another daemon serves"));
    assert_eq!(manager(&net.client), "1", "the first one serves on");
    serving.end();
    assert_eq!(manager(&net.client), "0");
    assert!(!note(&net.client).exists());
}

/// An event is taken once. So a second daemon is refused, in another namespace too, and takes
/// nothing over; what it would have served, one daemon serves with all namespaces.
#[test]
fn one_daemon_takes_the_events_of_all_namespaces() {
    if skipped("one_daemon_takes_the_events_of_all_namespaces") {
        return;
    }
    let (net, other) = (Net::new(1), Net::new(1));
    let loaded = Loaded::new("lia", &Settings::default());
    net.enable(loaded.name());
    other.enable(loaded.name());
    let note = PathBuf::from(format!("/run/linkpool/events-{}", loaded.0.id));

    let serving = Serving::new(&[&net], Rule { subflows: 2, ..Rule::default() });
    assert!(note.exists());
    let message = refused(&other.client);
    assert!(message.contains("takes the events of this controller") && message.contains("--netns"), "{message}");
    assert_eq!((manager(&net.client), manager(&other.client)), ("1".to_string(), "0".to_string()));
    serving.end();
    assert!(!note.exists());

    let serving = Serving::new(&[&net, &other], Rule { subflows: 2, ..Rule::default() });
    for (net, port) in [(&net, 7500), (&other, 7501)] {
        let server = net.serve(port);
        let mut stream = net.connect(port);
        send_until(&mut stream, &loaded, net, "two subflows", |c| c.subflows == 2);
        drop(stream);
        server.join().unwrap();
    }
    assert!(serving.end().opened >= 2);
}

/// How long it takes from an event to all subflows suppressed or released. Not a test, but a
/// measurement.
#[test]
#[ignore = "measures, and takes a minute"]
fn measure_suppression() {
    if skipped("measure_suppression") {
        return;
    }
    let net = Net::new(1);
    net.limit(0, 100);
    let loaded = Loaded::new("amp", &Settings { tau: Some(2), ..Settings::default() });
    net.enable(loaded.name());
    let serving = Serving::new(&[&net], Rule { subflows: 4, ..Rule::default() });
    let server = net.serve(7300);
    let mut stream = net.connect(7300);
    send_until(&mut stream, &loaded, &net, "four subflows", |c| c.subflows == 4);
    net.mark_by("waves", 0);
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        send(&mut stream, 1_000_000);
    }
    drop(stream);
    server.join().unwrap();
    let report = serving.end();
    println!("real-time priority: {}; from event to effect: {}", report.real_time, report.latency);
    assert_eq!(report.failed, 0, "{report:?}");
}

/// The path manager and the controllers over IPv6: subflows, their addresses, and suppression.
#[test]
fn subflows_are_opened_and_suppressed_over_ipv6() {
    if skipped("subflows_are_opened_and_suppressed_over_ipv6") {
        return;
    }
    if !Path::new("/proc/net/if_inet6").exists() {
        return eprintln!("subflows_are_opened_and_suppressed_over_ipv6 skipped: no IPv6");
    }
    let net = Net::new(1);
    net.add_ipv6();
    net.limit(0, 100);
    let loaded = Loaded::new("amp", &Settings::default());
    net.enable(loaded.name());
    let serving = Serving::new(&[&net], Rule { subflows: 3, ..Rule::default() });
    let server = net.serve_at("[::]:7600".parse().unwrap());
    let mut stream = net.connect_to("[fd00:9::2]:7600".parse().unwrap());
    let (conn, opening) = send_until(&mut stream, &loaded, &net, "three subflows", |c| c.subflows == 3);
    let own: Ipv6Addr = "fd00:9::1".parse().unwrap();
    assert!(conn.established().all(|(_, p)| p.local.address == own.octets()), "{conn:?}");
    net.mark(0, true);
    let (_, marked) = send_until(&mut stream, &loaded, &net, "suppressed", |c| c.suppressed != 0);
    // The daemon answers within milliseconds; the machine may have other work.
    sleep(Duration::from_secs(1));
    drop(stream);
    assert_eq!(server.join().unwrap(), opening + marked);
    let report = serving.end();
    assert!(report.opened >= 2 && report.flags_set >= 2, "{report:?}");
}

/// MMPTCP's switch: one subflow until so many bytes were sent.
#[test]
fn subflows_are_opened_by_bytes() {
    if skipped("subflows_are_opened_by_bytes") {
        return;
    }
    let net = Net::new(1);
    let loaded = Loaded::new("lia", &Settings::default());
    net.enable(loaded.name());
    let _serving = Serving::new(&[&net], Rule { subflows: 3, after_bytes: 400_000, ..Rule::default() });
    let server = net.serve(7100);
    let mut stream = net.connect(7100);
    send(&mut stream, 200_000);
    sleep(Duration::from_millis(200));
    assert_eq!(client_conn(&loaded, &net).unwrap().subflows, 1);
    send_until(&mut stream, &loaded, &net, "three subflows", |c| c.subflows == 3);
    drop(stream);
    server.join().unwrap();
}

//! Output ports: the queue of a device, by the words for `tc`, and what its program heeds.

use super::device;
use crate::fabric::wire::FRAMING;
use linkpool_linux_control::switch::{NEVER, Port};
use linkpool_network::{LinkId, LinkSpec, QueueLevels};
use linkpool_sim::Plan;

/// Bytes of a packet on the wire that a device does not see: its header of 14 bytes is there, but
/// neither preamble, checksum nor gap.
const AROUND: u32 = FRAMING as u32 - 14;
/// The bucket holds a packet, and what a link sends in this time, ns. A timer of the kernel that is
/// late by less costs the link nothing.
const SLACK_NS: u64 = 200_000;

/// What the programs of all ports heed, by link, for packets of up to `mtu` bytes.
pub(super) fn ports(plan: &Plan, mtu: u32) -> Vec<Port> {
    let port = |link: &LinkSpec| {
        let QueueLevels { limit_packets, limit_bytes, mark_packets, mark_bytes, drop_non_ect } = levels(plan, link);
        Port {
            limit_packets,
            limit_bytes: within(limit_bytes),
            mark_packets,
            mark_bytes: within(mark_bytes),
            drops_non_ect: drop_non_ect.into(),
            around: AROUND,
            rate: link.rate.0,
            slack_ns: bucket(link.rate.0, mtu) * 8_000_000_000 / link.rate.0,
        }
    };
    plan.fabric.links().iter().map(port).collect()
}

/// The queue of `link`, for packets of up to `mtu` bytes.
pub(super) fn words(plan: &Plan, link: LinkId, mtu: u32) -> String {
    let spec = &plan.fabric.links()[link.index()];
    let (levels, rate) = (levels(plan, spec), spec.rate.0);
    let (device, burst) = (device::name(device::of_link(link)), bucket(rate, mtu));
    let child = match (levels.limit_packets, levels.limit_bytes) {
        (packets, u64::MAX) => format!("pfifo limit {packets}"),
        (_, bytes) => format!("bfifo limit {}", within(bytes)),
    };
    // The limit of tbf is that of a child which the next line replaces.
    format!(
        "qdisc add dev {device} root handle 1: stab overhead {AROUND} tbf rate {rate}bit burst {burst}b limit 1000000b\n\
         qdisc add dev {device} parent 1:1 handle 10: {child}\n"
    )
}

/// Bytes that the bucket of a link holds.
fn bucket(rate: u64, mtu: u32) -> u64 {
    let slack = u128::from(rate) * u128::from(SLACK_NS) / 8_000_000_000;
    (u64::from(mtu) + FRAMING as u64).saturating_add(slack as u64).min(NEVER.into())
}

fn levels(plan: &Plan, link: &LinkSpec) -> QueueLevels {
    plan.policies.at(&plan.fabric, link).levels()
}

/// As programs and queues have it, which count up to 4 GiB.
fn within(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::kernel::qdisc::Queues;
    use crate::namespace::{Namespace, ip, tc};
    use anyhow::Result;
    use linkpool_linux_control::switch::Switches;
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    fn plan(queue: &str) -> Plan {
        let text = format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 1\nrate = \"100Mbps\"\ndelay = \"1us\"\n{queue}\n[transport.x]\n\
             control = \"reno\"\n[[workload.flow]]\ntransport = \"x\"\nfrom = \"S1\"\nto = \"R\"\n"
        );
        Plan::new(&linkpool_scenario::load(&text, "test", None, &[]).unwrap())
    }

    #[test]
    fn ports_have_the_levels_of_the_scenario() {
        let queues = "[queue]\nlimit = 50\nmark = 10\n[queue.layer.host]\nlimit = \"30KB\"\nmark = \"9KB\"\nmark_when = \">\"\nnon_ect = \"drop\"";
        let all = ports(&plan(queues), 1500);
        // Of two hosts, then of the switch.
        let never = NEVER;
        let host = Port {
            limit_packets: never,
            limit_bytes: 30_000,
            mark_packets: never,
            mark_bytes: 9001,
            drops_non_ect: 1,
            around: 24,
            rate: 100_000_000,
            // The bucket holds 4,038 bytes.
            slack_ns: 323_040,
        };
        let switch = Port {
            limit_packets: 50,
            limit_bytes: never,
            mark_packets: 10,
            mark_bytes: never,
            drops_non_ect: 0,
            around: 24,
            rate: 100_000_000,
            // The bucket holds 4,038 bytes.
            slack_ns: 323_040,
        };
        assert_eq!(all, [host, host, switch, switch]);
        let spared = ports(&plan("[queue]\nlimit = 50\nmark = 10\nmark_to_hosts = false"), 1500);
        assert_eq!(
            spared,
            [switch, switch, Port { mark_packets: never, ..switch }, Port { mark_packets: never, ..switch }]
        );
    }

    /// Has a port of 100 Mbit/s, with packets to send for all of this time, be taken for one of
    /// `rate`. Returns what it has lost, what it has sent, bytes, and the time that went by.
    fn busy(rate: u64, time: Duration) -> Result<(f64, u64, f64)> {
        let plan = plan("[queue]\nlimit = 50");
        let device = device::of_link(LinkId::new(0));
        let port = Port { rate, ..ports(&plan, 1500)[0] };
        let work = || {
            let made = device::words(&device::name(device), device, 1500);
            ip(&format!(
                "link add {made} type veth peer name far\nlink set far up\nlink set {0} arp off up\naddr add 10.9.0.1/24 dev {0}\n",
                device::name(device)
            ))?;
            tc(&words(&plan, LinkId::new(0), 1500))?;
            let programs = Switches::load(&[port])?;
            programs.attach(device, true, false)?;
            let socket = UdpSocket::bind("10.9.0.1:0")?;
            let began = Instant::now();
            while began.elapsed() < time {
                // It waits for room in the socket's buffer, that is in the queue.
                _ = socket.send_to(&[0; 1472], "10.9.0.2:9");
            }
            let sent = Queues::open()?.read(device)?.sent_bytes;
            Ok((programs.lost(0)?.as_secs_f64(), sent, began.elapsed().as_secs_f64()))
        };
        Namespace::new(work).map(|(_, lost)| lost)
    }

    /// However this machine runs it, a port has lost no more than the time in which it was not
    /// sending; and one of half the rate loses half of its time, once this machine lets it have
    /// packets all the time.
    #[test]
    fn time_is_lost_while_packets_wait() {
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: making network namespaces needs root");
        }
        for (rate, least) in [(100_000_000, 0.0), (200_000_000, 0.4)] {
            let enough = (0..10).any(|_| {
                let (lost, sent, time) = match busy(rate, Duration::from_millis(400)) {
                    Err(error) if format!("{error:#}").contains("this kernel") => {
                        eprintln!("skipped: {error:#}");
                        return true;
                    }
                    of_run => of_run.unwrap(),
                };
                // The bucket may have sent ahead.
                let idle = (time - sent as f64 * 8.0 / rate as f64).max(0.0);
                assert!(lost <= idle + 1e-5, "{lost} s of {time}, {idle} s idle");
                lost >= least * time
            });
            assert!(enough, "a port of {rate} bit/s has never lost {least} of its time");
        }
    }

    /// A packet of 1,538 bytes, and 200 us of 100 Mbit/s.
    #[test]
    fn queues_have_their_rate_and_their_limit() {
        let words = words(&plan("[queue]\nlimit = 50"), LinkId::new(2), 1500);
        assert!(words.contains("dev lp1002 root") && words.contains("rate 100000000bit burst 4038b"), "{words}");
        assert!(words.contains("pfifo limit 50"), "{words}");
        assert!(super::words(&plan("[queue]\nlimit = \"30KB\""), LinkId::new(0), 1500).contains("bfifo limit 30000"));
        assert_eq!(bucket(40_000_000_000, 1500), 1_001_538);
        assert_eq!(bucket(u64::MAX, 1500), u64::from(u32::MAX));
    }
}

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

/// What the programs of all ports heed, by link.
pub(super) fn ports(plan: &Plan) -> Vec<Port> {
    let port = |link: &LinkSpec| {
        let QueueLevels { limit_packets, limit_bytes, mark_packets, mark_bytes, drop_non_ect } = levels(plan, link);
        Port {
            limit_packets,
            limit_bytes: within(limit_bytes),
            mark_packets,
            mark_bytes: within(mark_bytes),
            drops_non_ect: drop_non_ect.into(),
            around: AROUND,
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
    plan.policies.of(plan.fabric.layer(link.from)).levels()
}

/// As programs and queues have it, which count up to 4 GiB.
fn within(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(queue: &str) -> Plan {
        let text = format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 1\nrate = \"100Mbps\"\ndelay = \"1us\"\n{queue}\n[transport.x]\n\
             control = \"reno\"\n[[workload.flow]]\ntransport = \"x\"\nfrom = \"S1\"\nto = \"R\"\n"
        );
        Plan::new(&linkpool_scenario::load(&text, "test", None, &[]).unwrap())
    }

    #[test]
    fn ports_have_the_levels_of_the_scenario() {
        let all = ports(&plan(
            "[queue]\nlimit = 50\nmark = 10\n[queue.layer.host]\nlimit = \"30KB\"\nmark = \"9KB\"\nmark_when = \">\"\nnon_ect = \"drop\"",
        ));
        // Of two hosts, then of the switch.
        let never = NEVER;
        let host = Port {
            limit_packets: never,
            limit_bytes: 30_000,
            mark_packets: never,
            mark_bytes: 9001,
            drops_non_ect: 1,
            around: 24,
        };
        let switch = Port {
            limit_packets: 50,
            limit_bytes: never,
            mark_packets: 10,
            mark_bytes: never,
            drops_non_ect: 0,
            around: 24,
        };
        assert_eq!(all, [host, host, switch, switch]);
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

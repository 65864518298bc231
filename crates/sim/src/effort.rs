//! Estimates the work of a run, to order runs and to predict their time.

use crate::plan::LinkChanges;
use linkpool_network::{Carried, Fabric, NodeId, QueueLimit, carried_between, carried_uniform};
use linkpool_scenario::{Nic, Scenario, Transport, Workload};
use linkpool_transport::SendBuffer;
use linkpool_units::{Rate, Time};
use linkpool_workload::kinds::{Expected, Pairs, Setting};

/// The packet-hops that `scenario` lets expect: of data, the answers of receivers, and what opens and
/// ends connections, with no loss. A flow without a size, and hosts that always have one more to
/// send, are taken to fill the links that they pass, as fast as these are from time to time, unless
/// buffers, readers or adapters hold them back; no workload sends more.
pub fn expected_hops(scenario: &Scenario) -> f64 {
    let fabric = scenario.topology.fabric();
    let changes = LinkChanges::new(scenario, &fabric, |_| QueueLimit::Packets(0));
    let hops = |workload: &Workload| {
        let carried = carried(workload, scenario, &fabric, &changes);
        let Segments { data, flows, others } = segments(workload, scenario, &fabric, carried);
        let transport = &scenario.transports[workload.transport];
        let family = transport.control.family().config(&transport.own, &transport.config, transport.wire);
        let answers = family.answers(&transport.config, (data / flows).max(1.0));
        carried.passed * (data * (1.0 + answers) + 2.0 * others)
    };
    scenario.workloads.iter().map(hops).sum()
}

/// The data segments that `scenario` lets expect, with those that open and end connections, as
/// [`expected_hops`] counts them.
pub(crate) fn expected_segments(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let changes = LinkChanges::new(scenario, fabric, |_| QueueLimit::Packets(0));
    let all = |workload| {
        let Segments { data, others, .. } =
            segments(workload, scenario, fabric, carried(workload, scenario, fabric, &changes));
        data + others
    };
    scenario.workloads.iter().map(all).sum()
}

/// What the senders of a workload send.
struct Segments {
    data: f64,
    flows: f64,
    /// Those without data that open and end connections, each with an answer.
    others: f64,
}

fn segments(workload: &Workload, scenario: &Scenario, fabric: &Fabric, carried: Carried) -> Segments {
    let transport = &scenario.transports[workload.transport];
    let mss = f64::from(transport.config.mss);
    let of_a_flow = most_of_a_flow(transport, carried);
    let setting = Setting { together: carried.rate / 8.0, of_a_flow, ..setting(workload, scenario, fabric) };
    let settings = workload.kind.settings();
    let Expected { flows, bytes, .. } = settings.expected(&setting);
    let span = scenario.end().saturating_sub(workload.start).secs();
    let most = setting.most_bytes().min(carried.rate / 8.0 * span);
    let flows = flows.min(most);
    // A flow of a few bytes is a segment too.
    let data = (bytes.min(most) / mss).max(flows);
    let facts = transport.control.family().facts();
    let once = f64::from(u8::from(facts.handshake)) + f64::from(u8::from(facts.fins));
    let others = if settings.persistent() { 0.0 } else { once * flows };
    Segments { data, flows, others }
}

/// The most bytes per second that buffers and the reading application let a flow carry.
fn most_of_a_flow(transport: &Transport, carried: Carried) -> f64 {
    let (buffers, wire) = (&transport.config.buffers, &transport.wire);
    let packet = f64::from(transport.config.mss) + f64::from(wire.header);
    let round = 2.0 * carried.delay + 8.0 * (packet + f64::from(wire.ack_size)) * carried.busy;
    let window = |bytes: u64| if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 };
    let send = match buffers.send {
        SendBuffer::Fixed(bytes) => window(bytes),
        SendBuffer::Auto => f64::INFINITY,
    };
    let of_subflows = f64::from(transport.subflows.most()) * window(buffers.subflow_window);
    let read = buffers.read_rate.map_or(f64::INFINITY, |rate| rate.0 as f64 / 8.0);
    (send.min(window(buffers.receive)).min(of_subflows) / round).min(read)
}

/// What the fabric carries of the flows of `workload`.
fn carried(workload: &Workload, scenario: &Scenario, fabric: &Fabric, changes: &LinkChanges) -> Carried {
    let rates = rates(workload, scenario, fabric, changes);
    match workload.kind.settings().pairs(fabric.hosts() as u32) {
        Pairs::Listed(pairs) => carried_between(fabric, &pairs, &rates),
        Pairs::Any { in_rack } => carried_uniform(fabric, in_rack, &rates),
    }
}

/// By link: how fast it is on average from the start of `workload` to the end of the run, bit/s,
/// and no faster than the adapters of the hosts at its ends.
fn rates(workload: &Workload, scenario: &Scenario, fabric: &Fabric, changes: &LinkChanges) -> Vec<f64> {
    let (start, end) = (workload.start, scenario.end());
    let built = fabric.links().iter().map(|link| link.rate.0 as f64);
    let mut rates: Vec<f64> = built.collect();
    for link in changes.links.keys().filter(|_| end > start) {
        let rate = fabric.links()[link.index()].rate;
        let by = |at: Time| changes.capacity(*link, rate, at).bytes() as f64;
        rates[link.index()] = 8.0 * (by(end) - by(start)) / (end - start).secs();
    }
    for slow in &scenario.slow_hosts {
        let from = slow.from.max(start).min(end);
        let part = (slow.until.min(end).saturating_sub(from)).secs() / (end.saturating_sub(start)).secs();
        let takes = slow.rate.map_or(0.0, |rate| rate.0 as f64);
        for link in slow.hosts.iter().flat_map(|host| fabric.links_from(NodeId::from(*host))) {
            let rate = &mut rates[fabric.reverse(link).index()];
            *rate = rate.min(takes * part + *rate * (1.0 - part));
        }
    }
    let transport = &scenario.transports[workload.transport];
    if let Some(nic) = &scenario.nic {
        let (sends, takes) = of_adapters(nic, transport);
        for (link, rate) in fabric.links().iter().zip(&mut rates) {
            if link.from.index() < fabric.hosts() {
                *rate = rate.min(sends);
            }
            if link.to.index() < fabric.hosts() {
                *rate = rate.min(takes);
            }
        }
    }
    rates
}

/// How fast an adapter sends and takes data of `transport`, bit/s on the wire.
fn of_adapters(nic: &Nic, transport: &Transport) -> (f64, f64) {
    let payload = f64::from(transport.config.mss);
    let bits = 8.0 * (payload + f64::from(transport.wire.header));
    let at = |rate: Option<Rate>| rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
    let each = |time: Time| if time == Time::ZERO { f64::INFINITY } else { bits / time.secs() };
    let sends = (at(nic.rate) * bits / (8.0 * payload)).min(each(nic.packet_time));
    (sends, at(nic.receive_rate).min(each(nic.receive_packet_time)))
}

/// Where `workload` runs, if nothing but the links of hosts holds its flows back.
pub(crate) fn setting(workload: &Workload, scenario: &Scenario, fabric: &Fabric) -> Setting {
    Setting {
        hosts: fabric.hosts() as f64,
        access: fabric.access_rate() / 8.0,
        together: f64::INFINITY,
        of_a_flow: f64::INFINITY,
        start: workload.start,
        duration: scenario.duration,
        end: scenario.end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(workload: &str) -> f64 {
        hops_with("", workload)
    }

    fn hops_with(keys: &str, rest: &str) -> f64 {
        hops_of(&format!("control = \"reno\"\nack_every = 1\n{keys}"), &format!("[queue]\nlimit = 100\n{rest}"))
    }

    /// Of a transport with these keys, packets of 1,000 B and 90 B more, and ACKs of 90 B.
    fn hops_of(keys: &str, rest: &str) -> f64 {
        expected_hops(&crate::scenario(&format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             [transport.t]\nmss = \"1000B\"\nheader = \"90B\"\nack_size = \"90B\"\n{keys}\n{rest}"
        )))
    }

    /// The packet-hops per second of flows without a size to R that carry so many bytes per second
    /// together.
    fn of_rate(bytes: f64, flows: f64) -> f64 {
        (bytes / 1000.0 + 2.0 * flows) * 4.0
    }

    const FLOWS: &str = "[[workload.many-to-one]]\ntransport = \"t\"\nflows = 4\nreceiver = \"R\"\n";

    const PFC: &str = "[queue.pfc]\nbuffer = \"4MB\"\n";

    fn close(hops: f64, bytes: f64, flows: f64) {
        let expected = of_rate(bytes, flows);
        assert!((hops / expected - 1.0).abs() < 1e-6, "{hops} for {expected}");
    }

    /// Three links there and back for each of 5 packets, and two to open and end.
    #[test]
    fn links_are_those_that_flows_pass() {
        let text = "duration = \"1s\"\n[topology.dumbbell]\npairs = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                    [transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\nack_every = 1\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\n\
                    to = \"D1\"\nsize = \"5KB\"\n";
        let hops = expected_hops(&crate::scenario(text));
        assert!((hops - 2.0 * 3.0 * 7.0).abs() < 1e-9, "{hops}");
    }

    #[test]
    fn flows_of_a_size_are_counted_by_hand() {
        // 4 senders, 3 bursts, 50 packets and 2 each, two links there and two back.
        let incast = "[[workload.incast]]\ntransport = \"t\"\nsenders = 4\nreceiver = \"R\"\nsize = \"50KB\"\nevery = \"1ms\"\nbursts = 3";
        assert!((hops(incast) - 4.0 * 3.0 * 52.0 * 4.0).abs() < 1e-6);
    }

    /// A flow of 8 B has one segment, and not 8 thousandths of one.
    #[test]
    fn a_flow_of_a_few_bytes_is_a_segment() {
        let few = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"8B\"\ncount = 100\n";
        assert!((hops(few) - 100.0 * 3.0 * 4.0).abs() < 1e-6, "{}", hops(few));
    }

    #[test]
    fn a_flow_without_a_size_fills_its_link() {
        let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"";
        assert!((hops(flow) - (1.25e9 / 1000.0 + 2.0) * 4.0).abs() < 1.0);
    }

    /// Four flows without a size to one receiver share its link.
    #[test]
    fn flows_to_one_receiver_send_what_its_link_carries() {
        let flows = "[[workload.many-to-one]]\ntransport = \"t\"\nflows = 4\nreceiver = \"R\"";
        assert!((hops(flows) - (1.25e9 / 1000.0 + 8.0) * 4.0).abs() < 1.0, "{}", hops(flows));
    }

    #[test]
    fn nobody_sends_more_than_the_links_carry() {
        let overload = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1000GB\"";
        assert!(hops(overload) <= 1.25e9 / 1000.0 * 4.0 + 9.0);
    }

    /// Four readers of 1 Gbit/s take 4 of 10; of 4 Gbit/s, what the link carries.
    #[test]
    fn readers_hold_flows_back() {
        let read = |rate| hops_with(&format!("receive_buffer = \"1MB\"\nread_rate = \"{rate}\"\n"), FLOWS);
        close(read("1Gbps"), 4.0 * 1.25e8, 4.0);
        close(read("4Gbps"), 1.25e9, 4.0);
    }

    /// A round trip: two links of 1 us there and back, and a packet of 1,090 B and an ACK of 90 B
    /// on two links each, which take 0.8 ns a byte: 4 us + 1.888 us. In it a flow carries its
    /// buffer, or that of each of its subflows.
    #[test]
    fn buffers_hold_flows_back() {
        let each = |bytes: f64| 4.0 * bytes / 5.888e-6;
        close(hops_with("send_buffer = \"1KB\"\n", FLOWS), each(1000.0), 4.0);
        close(hops_with("receive_buffer = \"1500B\"\n", FLOWS), each(1500.0), 4.0);
        let lia = |most: &str| {
            let keys = format!("subflows = 2\nsubflow_window = \"{most}\"\nsend_buffer = \"2500B\"");
            hops_of(&format!("control = \"lia\"\nack_every = 1\n{keys}"), &FLOWS.replace("flows = 4", "flows = 2"))
        };
        close(lia("1KB"), 0.5 * each(2000.0), 2.0);
        close(lia("5KB"), 0.5 * each(2500.0), 2.0);
    }

    /// The link to R has 1 Gbit/s for the first half of the second, and is down for the next
    /// quarter.
    #[test]
    fn links_carry_what_their_changes_leave() {
        let slow = "[[change]]\nlinks = [\"W->R\"]\nrate = \"1Gbps\"\nuntil = \"500ms\"\n";
        let down = "[[change]]\nlinks = [\"W->R\"]\nat = \"500ms\"\nstate = \"down\"\nuntil = \"750ms\"\n[routing]\nreconverge = \"never\"\n";
        close(hops(&format!("{FLOWS}{slow}")), 0.55 * 1.25e9, 4.0);
        close(hops(&format!("{FLOWS}{slow}{down}")), 0.3 * 1.25e9, 4.0);
        // From 600 ms on it is down for 150 of 400 ms.
        let late = FLOWS.replace("\nreceiver", "\nstart = \"600ms\"\nreceiver");
        close(hops(&format!("{late}{slow}{down}")), 0.25 * 1.25e9, 4.0);
        // Flows from each host to a random other one, of tiers that have a tenth.
        let uniform = |rate: &str| {
            let change = format!("[[change]]\nlayer = \"host\"\nrate_factor = {rate}\n");
            hops(&format!("[[workload.random]]\ntransport = \"t\"\n{change}"))
        };
        assert!((uniform("0.1") / uniform("1.0") - 0.1).abs() < 0.001, "{} {}", uniform("0.1"), uniform("1.0"));
    }

    #[test]
    fn flows_that_stop_send_no_more() {
        close(hops(&FLOWS.replace("\nreceiver", "\nstop = \"100ms\"\nreceiver")), 0.1 * 1.25e9, 4.0);
        let reads = hops_with(
            "receive_buffer = \"1MB\"\nread_rate = \"1Gbps\"\n",
            &FLOWS.replace("\nreceiver", "\nstop = \"100ms\"\nreceiver"),
        );
        close(reads, 0.1 * 4.0 * 1.25e8, 4.0);
    }

    /// An adapter with 1 us a packet sends 10^6 of them a second, and one that takes 2 us for each
    /// takes half as many.
    #[test]
    fn adapters_hold_flows_back() {
        let one = FLOWS.replace("flows = 4", "flows = 1");
        let nic = |keys: &str| hops_of("control = \"roce\"", &format!("{one}{PFC}[nic]\n{keys}\n"));
        close(nic("packet_time = \"1us\""), 1.09e9, 0.0);
        close(nic("receive_packet_time = \"2us\""), 0.545e9, 0.0);
        close(nic("rate = \"1Gbps\""), 1.25e8 * 1.09, 0.0);
        close(nic("receive_rate = \"1Gbps\""), 1.25e8, 0.0);
    }

    /// From 250 to 500 ms R takes nothing, or 1 Gbit/s.
    #[test]
    fn slow_hosts_hold_flows_back() {
        let slow = |rate: &str| {
            let slow = format!("[[slow_host]]\nhosts = [\"R\"]\nfrom = \"250ms\"\nuntil = \"500ms\"\n{rate}");
            hops_of("control = \"roce\"", &format!("{FLOWS}{slow}{PFC}"))
        };
        close(slow(""), 0.75 * 1.25e9, 0.0);
        close(slow("rate = \"1Gbps\"\n"), 0.775 * 1.25e9, 0.0);
    }

    /// Of two links there and back: data, and what answers it. Delayed ACKs: 16 at once and one for two of the
    /// other 84. UET acknowledges 16 KiB at once: 16,384 B of packets of 1,090 B. NDP pulls what is beyond its
    /// first window of 30. Only TCP's flows begin with a SYN and end with a FIN, each with an answer.
    #[test]
    fn answers_are_those_of_the_family() {
        let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"100KB\"\n";
        let queue = "[queue]\nlimit = 100\n";
        let trimming = "[queue]\nlimit = 8\ndiscipline = \"trimming\"\n";
        let near = |hops: f64, answers: f64, others: f64| {
            let by_hand = 2.0 * (100.0 + answers + others);
            assert!((hops - by_hand).abs() < 1e-6, "{hops} for {by_hand}");
        };
        near(hops_of("control = \"reno\"", &format!("{flow}{queue}")), 16.0 + 84.0 / 2.0, 4.0);
        let late = "control = \"reno\"\nquickack = false";
        near(hops_of(late, &format!("{flow}{queue}")), 50.0, 4.0);
        near(hops_of("control = \"uet\"", &format!("{flow}{trimming}")), 100.0 * 1090.0 / 16384.0, 0.0);
        near(hops_of("control = \"ndp\"", &format!("{flow}{trimming}")), 100.0 + 70.0, 0.0);
        near(hops_of("control = \"roce\"", &format!("{flow}{PFC}")), 100.0, 0.0);
    }
}

//! The settings of queues and topologies: what they refuse, what follows from them, and what they mean.

use linkpool_network::topology::{Dragonfly, Dumbbell, Generator, SlimFly, Topology};
use linkpool_network::{
    Exempt, MarkAt, MarkWhen, NonEct, Order, Queue, QueueLimit, QueuePolicy, Red, RedAction, SharedBuffer, Trimming,
};
use linkpool_settings::{Declared, Kinds, Preset, Quantity, Setting, Settings, State, Visit, Written, Wrong};
use linkpool_units::Bytes;
use schemars::SchemaGenerator;
use std::collections::BTreeSet;

/// Reads settings as a file that has only the keys that were set by hand: other values follow from
/// the settings before them, and errors are kept with their keys.
#[derive(Default)]
struct Reader {
    by_hand: Vec<&'static str>,
    keys: Vec<&'static str>,
    wrong: Vec<(&'static str, String)>,
}

impl Visit for Reader {
    fn derives(&self, key: &str) -> bool {
        !self.by_hand.contains(&key)
    }

    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, state: State) {
        self.keys.push(setting.key);
        self.wrong.extend(state.wrong.or(state.refused).map(|wrong| (setting.key, wrong.message)));
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        wrong: Option<Wrong>,
    ) {
        self.wrong.extend(wrong.map(|wrong| (key, wrong.message)));
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, value: &mut K) {
        value.each(self);
    }
}

/// The errors of `settings`.
fn wrong<S: Settings>(mut settings: S) -> Vec<(&'static str, String)> {
    let mut reader = Reader::default();
    settings.each(&mut reader);
    reader.wrong
}

fn queue() -> Queue {
    Queue::defaults(Preset::Linux)
}

fn trimming() -> Order {
    Order::named("trimming").unwrap()
}

fn red() -> Red {
    Red::defaults(Preset::Linux)
}

fn buffer() -> SharedBuffer {
    SharedBuffer::defaults(Preset::Linux)
}

/// Is `queue` refused for the value of `key`, with a message that says `why`?
fn is_refused(queue: Queue, key: &str, why: &str) -> bool {
    let wrong = wrong(queue);
    matches!(&wrong[..], [(at, message)] if *at == key && message.contains(why))
}

#[test]
fn a_threshold_of_nothing_marks_every_packet_unless_the_queue_must_be_longer() {
    for nothing in [QueueLimit::Packets(0), QueueLimit::Bytes(0)] {
        let marking = |mark_when| Queue { mark: Some(nothing), mark_when, ..queue() };
        assert!(is_refused(marking(MarkWhen::AtLeast), "mark", "marks every packet"));
        assert_eq!(wrong(marking(MarkWhen::Above)), []);
    }
    assert_eq!(wrong(Queue { mark: Some(QueueLimit::Packets(1)), ..queue() }), []);
    assert_eq!(wrong(queue()), []);
}

/// RED marks leaving packets by the queue of the moment, and drops none of them.
#[test]
fn red_on_leaving_packets_has_no_average_and_drops_nothing() {
    let leaving = Red { leaving: true, weight: 1.0, ..red() };
    let refused = |red: Red, why: &str| {
        let wrong = wrong(red);
        matches!(&wrong[..], [(at, message)] if at.ends_with("leaving") && message.contains(why))
    };
    assert_eq!(wrong(leaving), []);
    assert!(refused(Red { weight: 0.5, ..leaving }, "write weight = 1"));
    assert!(refused(Red { action: RedAction::Drop, ..leaving }, "write action = \"mark\""));
}

/// A port that trims orders, drops and marks in its own way.
#[test]
fn trimming_combines_with_nothing_and_priority_with_everything() {
    let variants = |order: Order| {
        let mark = Some(QueueLimit::Packets(5));
        [
            ("exempt", Queue { order, exempt: BTreeSet::from([Exempt::Syn]), ..queue() }),
            ("mark_at", Queue { order, mark, mark_at: MarkAt::Dequeue, ..queue() }),
            ("red", Queue { order, red: Some(red()), ..queue() }),
            ("shared_buffer", Queue { order, shared_buffer: Some(buffer()), ..queue() }),
        ]
    };
    for (key, queue) in variants(trimming()) {
        assert!(is_refused(queue, key, "cannot be combined with discipline = \"trimming\"; leave it out"), "{key}");
    }
    for order in [Order::Fifo, Order::Priority] {
        assert!(order.is_combined() && order.default_limit().is_none());
        for (key, queue) in variants(order) {
            assert_eq!(wrong(queue), [], "{key}");
        }
    }
    assert!(!trimming().is_combined());
    assert_eq!(trimming().default_limit(), Some(QueueLimit::Packets(8)));
}

#[test]
fn what_would_need_unlimited_room_or_drop_what_leaves_is_refused() {
    let shared = Queue { exempt: BTreeSet::from([Exempt::Ack]), shared_buffer: Some(buffer()), ..queue() };
    assert!(is_refused(shared, "exempt", "unlimited room"));
    let mark = Some(QueueLimit::Packets(5));
    let leaving = Queue { mark, mark_at: MarkAt::Dequeue, non_ect: NonEct::Drop, ..queue() };
    assert!(is_refused(leaving.clone(), "mark_at", "a leaving packet is not dropped"));
    assert_eq!(wrong(Queue { mark_at: MarkAt::Enqueue, ..leaving.clone() }), []);
    assert_eq!(wrong(Queue { non_ect: NonEct::Queue, ..leaving.clone() }), []);
    assert_eq!(wrong(Queue { mark: None, ..leaving }), []);
}

/// Each setting is one step of the policy.
#[test]
fn a_queue_becomes_the_policy_that_it_describes() {
    let (limit, k) = (QueueLimit::Packets(100), QueueLimit::Bytes(30_000));
    let plain = || QueuePolicy::drop_tail(limit);
    let marking = Queue { mark: Some(k), ..queue() };
    let exempting = |kind| Queue { exempt: BTreeSet::from([kind]), ..queue() };
    for (queue, policy) in [
        (queue(), plain()),
        (Queue { limit: k, ..queue() }, QueuePolicy::drop_tail(k)),
        (Queue { count_in_service: true, ..queue() }, plain().counting_in_service(true)),
        (exempting(Exempt::Syn), plain().exempting(true, false, false)),
        (exempting(Exempt::Fin), plain().exempting(false, true, false)),
        (exempting(Exempt::Ack), plain().exempting(false, false, true)),
        (Queue { order: Order::Priority, ..queue() }, plain().ordered(Order::Priority)),
        (marking.clone(), plain().marking(k, false)),
        (Queue { mark_when: MarkWhen::Above, ..marking.clone() }, plain().marking(k, true)),
        (Queue { non_ect: NonEct::Drop, ..marking.clone() }, plain().marking(k, false).dropping_non_ect(true)),
        (Queue { mark_at: MarkAt::Dequeue, ..marking }, plain().marking(k, false).marking_at_dequeue()),
        (Queue { red: Some(red()), ..queue() }, plain().with_red(red())),
        (Queue { shared_buffer: Some(buffer()), ..queue() }, plain().sharing(buffer())),
    ] {
        assert_eq!(QueuePolicy::from(&queue), policy, "{queue:?}");
    }
}

/// The header queue has the memory of the data queue: 8 packets of 1,500 B are 12,000 B.
#[test]
fn the_largest_packet_completes_a_queue() {
    let completed = |limit, headers| {
        let Order::Trimming(settings) = trimming() else { unreachable!() };
        let order = Order::Trimming(Trimming { headers, ..settings });
        let mut queue = Queue { limit, order, red: Some(red()), ..queue() };
        queue.complete(1500);
        assert_eq!(queue.red.unwrap().packet, Some(Bytes(1500)));
        let Order::Trimming(settings) = queue.order else { unreachable!() };
        settings.headers
    };
    assert_eq!(completed(QueueLimit::Packets(8), None), Some(QueueLimit::Bytes(12_000)));
    assert_eq!(completed(QueueLimit::Bytes(9_000), None), Some(QueueLimit::Bytes(9_000)));
    assert_eq!(completed(QueueLimit::Packets(8), Some(QueueLimit::Packets(3))), Some(QueueLimit::Packets(3)));
}

/// A host knows when its own queue is full, and so neither drops, trims nor returns.
#[test]
fn hosts_order_as_switches_do_without_trimming() {
    assert_eq!(queue().at_hosts(), None);
    assert_eq!(Queue { order: Order::Priority, ..queue() }.at_hosts(), None);
    let Order::Trimming(settings) = trimming() else { unreachable!() };
    let of_switches = Trimming { headers: Some(QueueLimit::Bytes(12_000)), share: 7, ..settings };
    assert!(of_switches.return_to_sender);
    let endless = QueueLimit::Packets(u32::MAX);
    let of_hosts = Trimming { headers: Some(endless), return_to_sender: false, ..of_switches };
    let queue = Queue { order: Order::Trimming(of_switches), count_in_service: true, ..queue() };
    let at_hosts = queue.at_hosts().unwrap();
    assert_eq!(at_hosts, Queue { limit: endless, order: Order::Trimming(of_hosts), ..queue });
}

#[test]
fn a_queue_length_is_read_and_written_in_both_forms() {
    for (text, limit, number) in
        [("100", QueueLimit::Packets(100), 100.0), ("\"150KB\"", QueueLimit::Bytes(150_000), 150_000.0)]
    {
        assert_eq!(serde_json::to_string(&limit).unwrap(), text);
        assert_eq!(limit.text(), text.trim_matches('"'));
        assert_eq!(limit.number(), Some(number));
    }
    assert_eq!(serde_json::from_str::<QueueLimit>("\"150KB\"").unwrap(), QueueLimit::Bytes(150_000));
    // TOML has signed numbers, JSON has not.
    let packets: Result<QueueLimit, serde::de::value::Error> =
        serde::Deserialize::deserialize(serde::de::IntoDeserializer::into_deserializer(100_i64));
    assert_eq!(packets.unwrap(), QueueLimit::Packets(100));
    let schema = SchemaGenerator::default().into_root_schema_for::<QueueLimit>();
    let forms = schema.get("anyOf").and_then(|forms| forms.as_array()).unwrap();
    assert_eq!(forms.len(), 2);
    assert_eq!(forms[1], serde_json::json!({ "$ref": "#/$defs/Bytes" }));
}

/// A size is refused before anything is built, so it must be known before. Each names the settings
/// that make it large.
#[test]
fn topologies_know_their_size_before_they_are_built() {
    for name in Topology::NAMES {
        let mut topology = Topology::named(name).unwrap();
        let mut reader = Reader::default();
        topology.each(&mut reader);
        assert_eq!(reader.wrong, [], "{name}");
        let generator = topology.generator();
        let keys = generator.size_keys();
        assert!(!keys.is_empty() && keys.iter().all(|key| reader.keys.contains(key)), "{name}: {keys:?}");
        let fabric = generator.fabric();
        let built = (fabric.hosts() as u64, fabric.links().len() as u64 / 2);
        assert_eq!((generator.hosts(), generator.cables()), built, "{name}");
    }
    // The two pairs of the example are as many hosts by a sum as by a product.
    let three_pairs = Dumbbell { pairs: 3, ..Dumbbell::defaults(Preset::Linux) };
    assert_eq!((three_pairs.hosts(), three_pairs.cables()), (6, 7));
}

/// With a = 6 routers of h = 3 global ports a group reaches 18 others.
#[test]
fn a_dragonfly_has_at_most_as_many_groups_as_its_ports_reach() {
    let mut fly = Dragonfly { routers_per_group: 6, ..Dragonfly::defaults(Preset::Linux) };
    let mut reader = Reader { by_hand: vec!["routers_per_group"], ..Reader::default() };
    fly.each(&mut reader);
    assert_eq!((fly.hosts_per_router, fly.global_ports, fly.groups), (3, 3, 19));
    fly.groups = 20;
    let mut reader = Reader { by_hand: vec!["routers_per_group", "groups"], ..Reader::default() };
    fly.each(&mut reader);
    assert_eq!(reader.wrong, [("groups", "20 groups; the global ports of a group reach 18 others".into())]);
}

/// 961 = 31^2, 851 = 23 * 37.
#[test]
fn a_slim_fly_is_of_a_power_of_a_prime() {
    for q in [3, 4, 5, 7, 8, 9, 11, 13, 25, 512, 961, 997] {
        assert_eq!(wrong(SlimFly { q, ..SlimFly::defaults(Preset::Linux) }), [], "{q}");
    }
    for q in [1, 2, 6, 12, 15, 851, 1009, 1024] {
        let wrong = wrong(SlimFly { q, ..SlimFly::defaults(Preset::Linux) });
        assert!(matches!(&wrong[..], [("q", message)] if message.contains("no power of a prime")), "{q}: {wrong:?}");
    }
}

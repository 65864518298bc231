//! Links that fail, change and lose packets during a run.

use crate::common::run;
use linkpool_units::Time;

const BED: &str = r#"
[topology.dumbbell]
pairs = 1
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
min_rto = "1ms"
rto_above_srtt = false
initial_rto = "1ms"
syn_timeout = "1ms"
[queue]
limit = 100
mark = 20
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
"#;

/// The payload of a second at the rate of the bottleneck, bytes.
fn goodput(r: &crate::common::Run) -> f64 {
    r.flow(0).acked_bytes as f64 * 8.0 / r.outcome.simulated.secs() * (1448.0 + 90.0) / 1448.0
}

#[test]
fn a_degraded_link_carries_its_new_rate() {
    // 10 Gbit/s for 20 ms, 1 Gbit/s for 20 ms.
    let r =
        run(&format!("duration = \"40ms\"\n{BED}[[change]]\nat = \"20ms\"\nlinks = [\"L->R\"]\nrate = \"1Gbps\"\n"));
    assert!((goodput(&r) / 5.5e9 - 1.0).abs() < 0.02, "{}", goodput(&r));
    let back = run(&format!(
        "duration = \"40ms\"\n{BED}[[change]]\nat = \"10ms\"\nuntil = \"20ms\"\nlinks = [\"L->R\"]\nrate = \"1Gbps\"\n"
    ));
    assert!((goodput(&back) / 7.75e9 - 1.0).abs() < 0.02, "{}", goodput(&back));
}

#[test]
fn what_holds_from_the_start_needs_no_change() {
    let slow = |text: &str| run(&format!("duration = \"5ms\"\n{text}"));
    let changed = slow(&format!("{BED}[[change]]\nlinks = [\"L<->R\"]\nrate = \"1Gbps\"\n"));
    let built = slow(&BED.replace("pairs = 1", "pairs = 1\nbottleneck_rate = \"1Gbps\""));
    assert_eq!(changed.outcome.links, built.outcome.links);
    assert_eq!(changed.flow(0).acked_bytes, built.flow(0).acked_bytes);
}

#[test]
fn a_link_that_fails_loses_what_it_holds_and_all_that_comes() {
    let text = format!(
        "duration = \"30ms\"\n{BED}[routing]\nreconverge = \"never\"\n[[change]]\nat = \"10ms\"\nuntil = \"20ms\"\n\
         links = [\"L->R\"]\nstate = \"down\"\n"
    );
    let r = run(&text);
    let link = r.link("L->R").stats;
    assert!(link.rare.drops_down > 10, "{link:?}");
    assert_eq!(r.outcome.links.iter().map(|l| l.stats.rare.drops_down).sum::<u64>(), link.rare.drops_down);
    // The timer runs out 1, 3, 7 and 15 ms after the failure, and the last time the link works
    // again: 10 and 5 of 30 ms.
    assert!((goodput(&r) / 10e9 - 0.5).abs() < 0.01, "{}", goodput(&r));
    assert_eq!(r.flow(0).total(|s| s.timeouts), 4);
}

/// Two flows over a fat-tree; a core switch fails.
#[test]
fn routing_follows_after_its_time() {
    let text = |reconverge: &str, duration: &str| {
        format!(
            "duration = \"{duration}\"\nseed = 3\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [transport.t]\ncontrol = \"dctcp\"\nmin_rto = \"1ms\"\n[queue]\nmark = 20\n\
             [[workload.permutation]]\ntransport = \"t\"\n[routing]\nreconverge = {reconverge}\n\
             [[change]]\nat = \"10ms\"\nnodes = [\"c0\", \"c1\", \"c2\"]\nstate = \"down\"\n"
        )
    };
    // Flows that carry next to nothing from 12 ms on.
    let silent = |reconverge: &str| {
        let (before, after) = (run(&text(reconverge, "12ms")), run(&text(reconverge, "40ms")));
        let carried = |i: usize| after.flow(i).acked_bytes - before.flow(i).acked_bytes;
        (0..16).filter(|i| carried(*i) < 10_000).count()
    };
    // Those over the failed switches stand still in the one case; in the other all go over the last
    // core switch.
    assert!(silent("\"never\"") > 3);
    assert_eq!(silent("\"1ms\""), 0);
    let soon = run(&text("\"1ms\"", "40ms"));
    let (_, down) = soon.plan.changes.reroutes().remove(0);
    assert_eq!(down.len(), 3 * 8);
    let timetable = soon.plan.timetable();
    let at = |ms| timetable.routes_at(Time::from_ms(ms)).path_count(&soon.plan.fabric, 0.into(), 15.into());
    assert_eq!((at(0), at(10), at(11), at(40)), (4, 4, 1, 1));
}

#[test]
fn random_loss_is_as_frequent_as_told() {
    let text = |loss: &str| {
        format!(
            "duration = \"300ms\"\n{}[[change]]\nlinks = [\"L->R\"]\n{loss}\n",
            BED.replace("10Gbps", "1Gbps").replace("dctcp", "cubic")
        )
    };
    let losses = |r: &crate::common::Run| {
        let link = r.link("L->R").stats;
        (link.rare.drops_loss as f64, link.packets as f64)
    };
    let (lost, packets) = losses(&run(&text("loss = 0.01")));
    // Five standard deviations.
    assert!((lost - 0.01 * packets).abs() < 5.0 * (0.01 * packets).sqrt(), "{lost} of {packets}");
    let (lost, packets) = losses(&run(&text("burst_loss = { to_bad = 0.005, to_good = 0.5 }")));
    // Bursts of two on average: their number and lengths both spread.
    let expected = packets * 0.005 / 0.505;
    assert!((lost - expected).abs() < 5.0 * (3.0 * expected).sqrt(), "{lost}, not {expected}");
}

/// Of 10^-6 a bit, one of 82 packets of 1,538 bytes is lost. On the way back go ACKs, which have
/// fewer bits to go wrong.
#[test]
fn bit_errors_go_by_the_length_of_packets() {
    let text = format!(
        "duration = \"300ms\"\n{}[[change]]\nlinks = [\"L<->R\"]\nbit_errors = 1e-6\n",
        BED.replace("10Gbps", "1Gbps").replace("dctcp", "cubic")
    );
    let r = run(&text);
    for link in ["L->R", "R->L"] {
        let stats = r.link(link).stats;
        let (lost, packets, bytes) = (stats.rare.drops_loss as f64, stats.packets as f64, stats.bytes as f64);
        // All data packets have one length, and so have nearly all ACKs.
        let expected = packets * (1.0 - (1.0 - 1e-6f64).powf(8.0 * bytes / packets));
        assert!(packets > 3_000.0 && (lost - expected).abs() < 5.0 * expected.sqrt(), "{link}: {lost}, not {expected}");
    }
}

/// Down for 1 ms of every 4: three quarters of the time remain, less the time until the sender
/// notices that the link works again.
#[test]
fn a_flapping_cable_works_between_its_failures() {
    let r = run(&format!(
        "duration = \"40ms\"\n{BED}[routing]\nreconverge = \"never\"\n[[change]]\nat = \"4ms\"\nlinks = [\"L->R\"]\n\
         state = \"down\"\nrepeat = {{ every = \"4ms\", lasts = \"1ms\" }}\n"
    ));
    let link = r.plan.changes.links.values().next().unwrap();
    assert_eq!(link.len(), 2 * 9, "down and up, nine times");
    let share = goodput(&r) / 10e9;
    assert!((0.5..0.775).contains(&share), "{share}");
    assert!(r.link("L->R").stats.rare.drops_down > 9 * 10);
}

/// A switch knows at once that its own link is down, long before routing follows, and sends nothing
/// there but the packets that are queued then.
#[test]
fn adaptive_routing_leaves_out_a_link_that_is_down() {
    let lost = |kind: &str| {
        let r = run(&format!(
            "duration = \"10ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nrate = \"10Gbps\"\n\
             delay = \"1us\"\n[queue]\nlimit = 100\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\nmin_rto = \"1ms\"\n\
             [[workload.permutation]]\ntransport = \"t\"\n[routing]\nkind = \"{kind}\"\nreconverge = \"never\"\n\
             [[change]]\nat = \"2ms\"\nlinks = [\"l0->s0\"]\nstate = \"down\"\n"
        ));
        r.link("l0->s0").stats.rare.drops_down
    };
    assert!(lost("spray") > 500);
    // At most a queue of 100 packets and one in service; marks keep it shorter.
    assert!(lost("adaptive") <= 101, "{}", lost("adaptive"));
}

//! `[nic]`: its presets, and its mistakes.

use linkpool_scenario::{Nic, load};
use linkpool_settings::{Preset, Settings};
use linkpool_units::{Rate, Time};

fn text(nic: &str, queue: &str) -> String {
    format!(
        "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n[queue]\nlimit = 1000\n{queue}\n\
         [transport.t]\ncontrol = \"roce\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1KB\"\n{nic}\n"
    )
}

fn nic(keys: &str) -> Option<Nic> {
    load(&text(keys, ""), "test.toml", None, &[]).unwrap().nic
}

/// What a ConnectX-5 does by its preset; keys that are written go first. Without the table there is
/// none.
#[test]
fn a_preset_sets_defaults() {
    let none = Nic::defaults(Preset::Linux);
    assert_eq!((nic(""), nic("[nic]")), (None, Some(none)));
    let preset = nic("[nic]\npreset = \"connectx-5\"").unwrap();
    let (latency, rate) = (Time::from_ns(2_080), Some(Rate::mbps(97_700)));
    assert_eq!(preset, Nic { preset: preset.preset, latency, rate, ..none });
    let own = nic("[nic]\npreset = \"connectx-5\"\nlatency = \"1us\"\nsend_queue = 3").unwrap();
    assert_eq!(own, Nic { latency: Time::from_us(1), send_queue: 3, ..preset });
    let unlimited = nic("[nic]\npreset = \"connectx-5\"\nrate = \"unlimited\"").unwrap();
    assert_eq!(unlimited, Nic { rate: None, ..preset });
}

/// The scenario as run says all, and is the same again.
#[test]
fn the_scenario_as_run_has_it() {
    let first =
        load(&text("[nic]\npreset = \"connectx-5\"\npacket_time = \"5ns\"", ""), "test.toml", None, &[]).unwrap();
    let again = load(&first.to_toml(), "test.toml", None, &[]).unwrap();
    assert_eq!((first.nic, first.to_toml()), (again.nic, again.to_toml()));
    assert!(!load(&text("", ""), "test.toml", None, &[]).unwrap().to_toml().contains("[nic]"));
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let pfc = "pfc = { buffer = \"9MB\" }";
    for (keys, queue, key, says) in [
        ("preset = \"connectx-6\"", "", "nic.preset", "connectx-5"),
        ("rate = \"0bps\"", "", "nic.rate", "must be above zero, or \"unlimited\""),
        ("send_queue = 0", "", "nic.send_queue", "must be above zero, or \"unlimited\""),
        ("shared_send_queue = 0", "", "nic.shared_send_queue", "must be above zero, or \"unlimited\""),
        ("latencies = \"2us\"", "", "nic.latencies", "latency"),
        ("packet_time = \"2000000s\"", "", "nic.packet_time", "too large"),
        ("receive_buffer = \"90KB\"", pfc, "nic.receive_buffer", "`receive_rate` and `receive_packet_time`"),
        ("receive_rate = \"9Gbps\"", "", "nic.receive_rate", "write pfc in [queue]"),
        ("receive_packet_time = \"9ns\"", "", "nic.receive_packet_time", "write pfc in [queue]"),
        (
            "receive_rate = \"9Gbps\"\nreceive_buffer = \"8KB\"",
            pfc,
            "nic.receive_buffer",
            "8000 B is no more than what comes",
        ),
    ] {
        let wrong = load(&text(&format!("[nic]\n{keys}"), queue), "test.toml", None, &[]).unwrap_err();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].key == key && wrong[0].message.contains(says), "{wrong:?}");
    }
}

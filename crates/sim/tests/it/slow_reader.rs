//! Applications that read slower than the network delivers: they get their rate, whatever the buffer
//! and the transport, and no delayed ACK holds them up.

use crate::common::run;
use linkpool_units::Time;

/// 1 MB at 10 Gbit/s to an application that reads 1 Gbit/s through 64 KiB, 45 packets. It takes 8 ms,
/// less the 0.52 ms in which the application reads what the buffer holds at the end. (With each window
/// followed by a delayed ACK it was 561 ms.)
#[test]
fn one_megabyte_takes_eight_milliseconds() {
    let one = ["reno", "cubic", "dctcp"].map(|control| format!("control = \"{control}\""));
    let several = ["lia", "amp", "cubic"].map(|control| format!("control = \"{control}\"\nsubflows = 4"));
    let plain = "control = \"reno\"\nquickack = false\npush_acks = false".to_string();
    let each = "control = \"reno\"\nack_every = 1".to_string();
    for transport in one.into_iter().chain(several).chain([plain, each]) {
        let r = run(&format!(
            r#"
            duration = "200ms"
            drain = "100s"
            [topology.many-to-one]
            senders = 1
            rate = "10Gbps"
            delay = "2us"
            [queue]
            limit = 2000
            [transport.t]
            {transport}
            receive_buffer = "64KiB"
            read_rate = "1Gbps"
            [[workload.flow]]
            transport = "t"
            from = "S1"
            to = "R"
            size = "1MB"
            "#
        ));
        let (fct, timeouts) = (r.fct(0), r.flow(0).total(|s| s.timeouts));
        assert!(Time::from_us(7450) < fct && fct < Time::from_us(7650), "{transport}: {fct}");
        assert_eq!(timeouts, 0, "{transport}");
    }
}

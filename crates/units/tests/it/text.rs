//! Quantities with units, and the errors of wrong ones.

use linkpool_units::{Bytes, Rate, Time};
use proptest::prelude::*;

#[test]
fn the_documented_examples_are_exact() {
    for (text, bps) in [("10Gbps", 10_000_000_000), ("300Mbps", 300_000_000), ("2.2 Mbps", 2_200_000), ("0bps", 0)] {
        assert_eq!(text.parse(), Ok(Rate(bps)), "{text}");
    }
    for (text, ps) in [("5.6us", 5_600_000), ("200ms", 200_000_000_000), ("100ns", 100_000), ("33600ps", 33_600)] {
        assert_eq!(text.parse(), Ok(Time(ps)), "{text}");
    }
    assert_eq!("20s".parse(), Ok(Time::from_secs(20)));
    for (text, bytes) in [("128KiB", 131_072), ("70KB", 70_000), ("1500B", 1_500), ("1MiB", 1_048_576)] {
        assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
    }
    for (text, bytes) in [("3GiB", 3 << 30), ("3TiB", 3 << 40), ("0.5KiB", 512)] {
        assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
    }
    // 2^-25 TiB, with all its 25 decimals.
    assert_eq!("0.0000000298023223876953125TiB".parse(), Ok(Bytes(1 << 15)));
    assert_eq!("1.10s".parse(), Ok(Time::from_ms(1_100)));
}

#[test]
fn the_shortest_exact_form_is_written() {
    for (time, text) in [
        (Time(5_600_000), "5.6us"),
        (Time::from_ms(200), "200ms"),
        (Time::from_ms(1_500), "1.5s"),
        (Time(33_600), "33.6ns"),
        (Time::ZERO, "0s"),
        (Time(1), "1ps"),
        (Time::MAX, "18446744073709551615ps"),
    ] {
        assert_eq!(time.to_string(), text);
    }
    for (rate, text) in [(Rate::gbps(10), "10Gbps"), (Rate(2_200_000), "2.2Mbps"), (Rate(0), "0bps")] {
        assert_eq!(rate.to_string(), text);
    }
    for (size, text) in [(131_072, "128KiB"), (70_000, "70KB"), (1_400, "1400B"), (65_535, "65535B"), (0, "0B")] {
        assert_eq!(Bytes(size).to_string(), text);
    }
    assert_eq!(format!("{:>6}|{:<5}|", Time::from_ms(2), Bytes(3)), "   2ms|3B   |");
}

fn error<Q: std::str::FromStr<Err = linkpool_units::ParseQuantityError>>(text: &str) -> String {
    text.parse::<Q>().err().unwrap_or_else(|| panic!("{text:?} was accepted")).to_string()
}

#[test]
fn what_is_wrong_comes_with_its_remedy() {
    assert_eq!(error::<Rate>("10GB"), r#""10GB": GB is a size; write "10Gbps""#);
    assert_eq!(error::<Rate>("10gbps"), r#""10gbps": write "10Gbps""#);
    assert_eq!(error::<Rate>("10G"), r#""10G": "G" is no unit of a rate; write "10Gbps""#);
    assert_eq!(error::<Rate>("10"), r#""10": the unit is missing; expected a rate with its unit, such as "10Gbps""#);
    assert_eq!(error::<Rate>("-1Gbps"), r#""-1Gbps": a rate cannot be negative"#);
    assert_eq!(error::<Rate>("0.5bps"), r#""0.5bps": too precise; a rate is a whole number of bps"#);
    assert_eq!(error::<Rate>("nan"), r#""nan": expected a rate with its unit, such as "10Gbps""#);
    assert_eq!(
        error::<Rate>("1.25GB/s"),
        r#""1.25GB/s": "GB/s" are bytes a second, and rates are in bits; write "10Gbps""#
    );
    assert_eq!(error::<Rate>("3MBps"), r#""3MBps": "MBps" are bytes a second, and rates are in bits; write "24Mbps""#);
    assert_eq!(error::<Bytes>("64K"), r#""64K": "K" is no unit of a size; write "64KB""#);
    assert_eq!(error::<Bytes>("64kb"), r#""64kb": write "64KB""#);
    assert_eq!(error::<Bytes>("1Gbps"), r#""1Gbps": Gbps is a rate; write "1GB""#);
    assert_eq!(
        error::<Bytes>("2ms"),
        r#""2ms": ms is a time; units are B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, as in "128KiB""#
    );
    assert_eq!(
        error::<Time>("1min"),
        r#""1min": "min" is no unit of a time; units are ps, ns, us, ms, s, as in "5.6us""#
    );
    assert_eq!(error::<Time>("5  us"), r#""5  us": write "5us""#);
    assert_eq!(error::<Time>("0.0001ns"), r#""0.0001ns": too precise; a time is a whole number of ps"#);
    assert_eq!(error::<Time>("20000000s"), r#""20000000s": too large; a time is at most 1000000s"#);
}

#[test]
fn the_largest_is_the_last_that_is_read() {
    assert_eq!("1000000s".parse(), Ok(Time::from_secs(1_000_000)));
    assert!(error::<Time>("1000000.000000000001s").contains("at most 1000000s"));
    assert_eq!("1000000TB".parse(), Ok(Bytes(10u64.pow(18))));
    assert!(error::<Bytes>("1000000000000000001B").contains("at most 1000000TB"));
    assert_eq!("100Tbps".parse(), Ok(Rate(10u64.pow(14))));
    // At this rate a packet would take no time.
    assert_eq!(error::<Rate>("1000000Tbps"), r#""1000000Tbps": too large; a rate is at most 100Tbps"#);
}

#[test]
fn no_other_notation_of_numbers_is_read() {
    for text in ["", " ", "s", ".5s", "5.s", "1..2s", "1.2.3s", "+1s", "1e3s", "1_000s", "inf", "∞s", " 1s", "1s "] {
        error::<Time>(text);
    }
    error::<Time>(&format!("0.{}1s", "0".repeat(60)));
    error::<Time>(&format!("{}s", "9".repeat(60)));
}

#[test]
fn a_bare_number_says_how_to_write_it() {
    let error = serde_json::from_str::<Rate>("10").unwrap_err().to_string();
    assert!(error.contains(r#"expected a rate with its unit, such as "10Gbps""#), "{error}");
    let error = serde_json::from_str::<Time>(r#""5""#).unwrap_err().to_string();
    assert!(error.contains("the unit is missing"), "{error}");
    assert_eq!(serde_json::from_str::<Bytes>(r#""1400B""#).unwrap(), Bytes(1_400));
    assert_eq!(serde_json::to_string(&Time::from_us(49)).unwrap(), r#""49us""#);
}

#[test]
fn the_schema_has_a_pattern_and_examples() {
    let schema = schemars::schema_for!(Rate);
    assert_eq!(schema.get("pattern").unwrap(), r"^[0-9]+(\.[0-9]+)? ?(bps|kbps|Mbps|Gbps|Tbps)$");
    for example in schema.get("examples").unwrap().as_array().unwrap() {
        example.as_str().unwrap().parse::<Rate>().unwrap();
    }
}

/// Values of every magnitude, and round ones.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0u32..64, any::<u64>()).prop_map(|(shift, n)| n >> shift),
        (0u32..13, 0u64..1_000_000).prop_map(|(zeros, n)| n * 10u64.pow(zeros)),
        (0u32..41, 0u64..1_000_000).prop_map(|(zeros, n)| n << zeros),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_up_to_the_largest(n in value()) {
        prop_assert_eq!(Time(n).to_string().parse().ok(), (n <= 10u64.pow(18)).then_some(Time(n)));
        prop_assert_eq!(Rate(n).to_string().parse().ok(), (n <= 10u64.pow(14)).then_some(Rate(n)));
        prop_assert_eq!(Bytes(n).to_string().parse().ok(), (n <= 10u64.pow(18)).then_some(Bytes(n)));
    }

    #[test]
    fn what_is_written_is_no_longer_than_the_smallest_unit(n in value()) {
        let in_ps = format!("{}ps", n);
        prop_assert!(Time(n).to_string().len() <= in_ps.len());
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[0-9.]{0,40} ?[a-zA-Zµ]{0,5}") {
        let _ = (text.parse::<Time>(), text.parse::<Rate>(), text.parse::<Bytes>());
    }
}

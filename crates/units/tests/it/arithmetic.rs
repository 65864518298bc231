//! What quantities are in their smallest units, and sums of them.

use linkpool_units::{Rate, Time};

#[test]
fn units_of_time_are_powers_of_a_thousand_picoseconds() {
    let times = [Time::from_ps(7), Time::from_ns(7), Time::from_us(7), Time::from_ms(7), Time::from_secs(7)];
    assert_eq!(times.map(|time| time.0), [7, 7_000, 7_000_000, 7_000_000_000, 7_000_000_000_000]);
    assert_eq!((Rate::gbps(3).0, Rate::mbps(3).0), (3_000_000_000, 3_000_000));
}

#[test]
fn seconds_are_rounded_to_the_nearest_picosecond() {
    assert_eq!(Time::from_secs_f64(1.5e-12), Time(2));
    assert_eq!(Time::from_secs_f64(2.4e-12), Time(2));
    assert_eq!(Time::from_secs_f64(0.25), Time::from_ms(250));
    assert_eq!(Time::from_ms(250).secs(), 0.25);
}

#[test]
fn times_are_added_subtracted_and_multiplied() {
    let (short, long) = (Time(3), Time(10));
    assert_eq!((long + short, long - short, long * 4), (Time(13), Time(7), Time(40)));
    let mut sum = long;
    sum += short;
    assert_eq!(sum, Time(13));
    assert_eq!((long.saturating_sub(short), short.saturating_sub(long)), (Time(7), Time::ZERO));
    assert_eq!((long.saturating_add(short), Time::MAX.saturating_add(short)), (Time(13), Time::MAX));
}

/// 1,000 B at 10 Gbit/s; one at 3 bit/s, up to the next picosecond; and what no time can hold.
#[test]
fn bytes_take_their_time() {
    assert_eq!(Rate::gbps(10).time_of(1_000), Time::from_ns(800));
    assert_eq!(Rate(3).time_of(1), Time(2_666_666_666_667));
    assert_eq!((Rate::gbps(10).time_of(0), Rate(1).time_of(u64::MAX)), (Time::ZERO, Time::MAX));
}

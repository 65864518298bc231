//! Where a packet is counted while it waits at a switch.

use linkpool_units::Time;

/// A packet's way through a switch, where its bytes are counted: kept in its `arrival` while it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    /// The number of the account, and the class.
    pub(super) account: u32,
    pub(super) class: u8,
}

impl Counted {
    const NOWHERE: Time = Time::MAX;

    /// As `arrival` has it.
    pub(super) fn of(at: Time) -> Option<Counted> {
        (at != Counted::NOWHERE).then_some(Counted { account: (at.0 >> 8) as u32, class: at.0 as u8 })
    }

    /// What `arrival` has.
    pub(super) fn write(counted: Option<Counted>) -> Time {
        counted.map_or(Counted::NOWHERE, |Counted { account, class }| Time(u64::from(account) << 8 | u64::from(class)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_remembers_where_it_is_counted() {
        for counted in [None, Some(Counted { account: 0, class: 0 }), Some(Counted { account: 300, class: 1 })] {
            assert_eq!(Counted::of(Counted::write(counted)), counted);
        }
    }
}

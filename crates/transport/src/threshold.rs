//! The setting of the duplicate-ACK threshold: the number of duplicate ACKs that means a loss.

use linkpool_settings::{Form, Mixed, mixed};

/// The number of duplicate ACKs that means a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackThreshold {
    /// A fixed number.
    Acks(u32),
    /// For scattered packets: it depends on the number of paths, and
    /// [`Sender::expect_reordering`](crate::Sender::expect_reordering) sets it.
    Auto,
    /// It depends on the reordering that SACKs and D-SACKs show (RR-TCP; with MMPTCP, in phase 1).
    Adaptive,
}

impl DupackThreshold {
    /// The threshold at the start.
    pub(crate) fn initial(self) -> u32 {
        match self {
            DupackThreshold::Acks(n) => n,
            DupackThreshold::Auto | DupackThreshold::Adaptive => 3,
        }
    }
}

impl Mixed for DupackThreshold {
    const NAME: &'static str = "DupackThreshold";
    const FORMS: &'static str = "a whole number of duplicate ACKs, such as 3, or \"auto\" or \"adaptive\"";
    const WORDS: &'static [(&'static str, DupackThreshold)] =
        &[("auto", DupackThreshold::Auto), ("adaptive", DupackThreshold::Adaptive)];
    const NUMBERS: Option<(u32, u32)> = Some((1, u32::MAX));

    fn of_number(number: u32) -> Option<DupackThreshold> {
        Some(DupackThreshold::Acks(number))
    }

    fn written(&self) -> Option<Form> {
        match *self {
            DupackThreshold::Acks(number) => Some(Form::Number(number)),
            DupackThreshold::Auto | DupackThreshold::Adaptive => None,
        }
    }
}

mixed!(DupackThreshold);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_number_or_a_word() {
        let seven = DupackThreshold::Acks(7);
        assert_eq!(DupackThreshold::of_number(7), Some(seven));
        assert_eq!(seven.written(), Some(Form::Number(7)));
        assert_eq!([DupackThreshold::Auto, DupackThreshold::Adaptive].map(|word| word.written()), [None, None]);
        assert_eq!([seven, DupackThreshold::Auto].map(DupackThreshold::initial), [7, 3]);
    }
}

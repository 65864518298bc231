//! One, two, three and four threads write the same bytes, and so does a second run on one.

use crate::common::written::{differ, written};
use crate::common::{cases, random, scenario};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn any_number_of_threads_writes_the_same_bytes(text in random::scenarios()) {
        let s = scenario(&text);
        let one = written(&s, 1);
        for threads in 1..=4 {
            prop_assert_eq!(differ(&one, &written(&s, threads)), Vec::<String>::new(), "{} threads", threads);
        }
    }
}

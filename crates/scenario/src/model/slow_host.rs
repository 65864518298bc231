//! Hosts that take slowly what comes to them.

use linkpool_settings::{Bounds, HostName, Length, settings};
use linkpool_units::{Bytes, HostId, Rate, Time};

settings! {
    /// Hosts that take from their adapters less than may come, and pause their neighbours
    /// meanwhile.
    #[derive(Eq)]
    pub struct SlowHost {
        /// The hosts.
        hosts: Vec<HostId> as Vec<HostName>, required vec![HostId::new(0)],
            within Length::from(1, "names no host; write for example hosts = [\"R\"]");
        /// Rate at which a host takes what comes by each of its links, first come, first served.
        rate: Option<Rate>, from |_s| None => "nothing", within Bounds::POSITIVE;
        /// Room of the adapter of each link for what the host has not taken. A packet that finds
        /// none is lost. The default is an assumption.
        buffer: u64 as Bytes = 256_000, within Bounds::POSITIVE;
        /// Time at which the hosts become slow.
        from: Time = Time::ZERO;
        /// Time at which they are slow no longer: they take at once what waits.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
    }
}

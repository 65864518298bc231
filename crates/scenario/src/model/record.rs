//! Time series, and packet captures.

use linkpool_settings::{Bounds, HostName, Length, LinkEnds, LinkName, settings};
use linkpool_units::{HostId, Time};

settings! {
    /// Time series and packets to record. None is recorded by default.
    #[derive(Eq)]
    pub struct Record {
        /// What each rank of a job does over time, where a workload is of the kind `program` or
        /// `training`: [`rank_spans.parquet`](results.md#rank_spans).
        ranks: bool = false;
        /// Each step of the instances that decode, where a workload is of the kind `inference`:
        /// [`decode_steps.parquet`](results.md#decode_steps).
        steps: bool = false;
    }
    tables {
        /// Queue length of these links.
        queue: QueueSeries;
        /// Window of each subflow.
        cwnd: Series;
        /// Acknowledged data of each subflow per interval.
        rate: Series;
        /// Round-trip times that senders measure, at most one of each subflow in each `every`;
        /// `"1ps"`: all.
        rtt: Series;
        /// Packets, bytes, drops and marks of links per interval.
        counters: CounterSeries;
        /// When and why ports are paused, where `[queue]` has `pfc`:
        /// [`pause_events.parquet`](results.md#pause_events).
        pauses: PauseSeries;
        /// Packets, as Wireshark reads them, in [`capture.pcapng`](capture.md).
        capture: Capture;
    }
}

impl Record {
    /// The threads of a run, of those that it may have: one, whatever is asked for, where it
    /// records why ports are paused, which a switch tells the port of its neighbour.
    pub fn threads(&self, threads: u8) -> u8 {
        if self.pauses.is_some() { 1 } else { threads }
    }
}

settings! {
    /// Queue length of links.
    #[derive(Eq)]
    pub struct QueueSeries {
        /// Directed links, each written "FROM->TO" with names of hosts or switches.
        links: Vec<LinkEnds> as Vec<LinkName>, required vec![("S1".to_string(), "W".to_string())],
            within Length::from(1, "names no link; write for example links = [\"S1->W\"]");
        /// Sampling interval.
        every: Time, required Time::from_us(10), within Bounds::POSITIVE_SPAN;
        /// First sample.
        from: Time = Time::ZERO;
        /// No sample after this.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
    }
}

settings! {
    /// A series of each subflow.
    #[derive(Eq)]
    pub struct Series {
        /// Sampling interval.
        every: Time, required Time::from_us(10), within Bounds::POSITIVE_SPAN;
        /// First sample.
        from: Time = Time::ZERO;
        /// No sample after this.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
        /// Records only flows of workloads with one of these labels.
        labels: Option<Vec<String>>, from |_s| None => "all flows",
            within Length::from(1, "names no label; leave it out to record all flows");
    }
}

settings! {
    /// Counters of carried, dropped and marked packets of links, per interval.
    #[derive(Eq)]
    pub struct CounterSeries {
        /// Directed links, each written "FROM->TO" with names of hosts or switches.
        links: Option<Vec<LinkEnds>> as Option<Vec<LinkName>>, from |_s| None => "all links",
            within Length::from(1, "names no link; leave it out to record all");
        /// Length of an interval.
        every: Time, required Time::from_us(10), within Bounds::POSITIVE_SPAN;
        /// Start of the first interval.
        from: Time = Time::ZERO;
        /// No interval ends after this.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
    }
}

settings! {
    /// Pauses of ports, each when it begins, goes on, or ends, with the reason.
    #[derive(Eq)]
    pub struct PauseSeries {
        /// No pause before this.
        from: Time = Time::ZERO;
        /// No pause after this.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
    }
}

settings! {
    /// The ports whose packets are recorded. Without `hosts` and `links`: for each flow, those of
    /// the host that sends its data.
    #[derive(Eq)]
    pub struct Capture {
        /// Hosts; at each of their ports the packets that come and go.
        hosts: Option<Vec<HostId>> as Option<Vec<HostName>>,
            from |_s| None => "none; without `links`, the senders of flows",
            within Length::from(1, "names no host; leave it out to record at the senders of all flows");
        /// Directed links, each written "FROM->TO" with names of hosts or switches: the packets
        /// that FROM puts on the wire.
        links: Option<Vec<LinkEnds>> as Option<Vec<LinkName>>,
            from |_s| None => "none; without `hosts`, see there",
            within Length::from(1, "names no link; leave it out to record at hosts");
        /// Only packets of the flows with these numbers.
        flows: Option<Vec<u32>>, from |_s| None => "all flows",
            within Length::from(1, "names no flow; leave it out to record all flows");
        /// Are packets written? Pause frames, where `[queue]` has `pfc`, are written in any case.
        packets: bool = true;
        /// Is payload written, as zeros? Without it a packet ends in the file where its headers
        /// end; its length and its checksums are those of the whole packet.
        payload: bool = false;
        /// No packet before this.
        from: Time = Time::ZERO;
        /// No packet after this.
        until: Time, from |_s| Time::MAX => "the end of the run, `duration` and `drain`";
    }
}

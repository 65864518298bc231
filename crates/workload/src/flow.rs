use linkpool_units::Time;

/// One flow that will be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Sending host.
    pub src: u16,
    /// Receiving host; not `src`.
    pub dst: u16,
    /// Payload in bytes; none: without end.
    pub size: Option<u64>,
    /// When it is asked for.
    pub start: Time,
    /// When it stops sending new data; [`Time::MAX`]: never.
    pub stop: Time,
    /// Number of its burst, 0 if there are none.
    pub burst: u32,
    /// Number of the job that it belongs to.
    pub job: Option<u32>,
}

impl Flow {
    /// A flow that goes on to its end, of no burst and no job.
    pub fn new((src, dst): (u16, u16), size: Option<u64>, start: Time) -> Flow {
        Flow { src, dst, size, start, stop: Time::MAX, burst: 0, job: None }
    }
}

/// `bursts` bursts `every` apart, the first at `start`; in each, one flow of `size` bytes from every sender to
/// `receiver`, `spacing` apart.
pub fn incast(
    senders: &[u16],
    receiver: u16,
    size: u64,
    (start, every, bursts): (Time, Time, u32),
    spacing: Time,
) -> Vec<Flow> {
    let burst = |b: u32| {
        senders.iter().enumerate().map(move |(i, src)| {
            let at = start + every * b as u64 + spacing * i as u64;
            Flow { burst: b, ..Flow::new((*src, receiver), Some(size), at) }
        })
    };
    (0..bursts).flat_map(burst).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_start_when_they_should() {
        let flows = incast(&[0, 1, 2], 9, 1000, (Time::from_ms(1), Time::from_secs(1), 2), Time::from_us(50));
        assert_eq!(flows.len(), 6);
        assert_eq!((flows[5].src, flows[5].burst), (2, 1));
        assert_eq!(flows[5].start, Time::from_ms(1) + Time::from_secs(1) + Time::from_us(100));
    }
}

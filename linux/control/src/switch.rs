//! The eBPF programs that make switches of network namespaces (`bpf/switch`): they mark and count
//! at output ports, and give packets the paths that are set for them.
//!
//! Programs and what they know go with the devices that they are attached to.

use anyhow::{Context as _, Result};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, Object, ObjectBuilder, TC_EGRESS, TC_INGRESS, TcHook};
use std::net::SocketAddrV4;
use std::os::fd::AsFd as _;
use std::time::Duration;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The number of the device of link 0; the others follow.
pub const FIRST_LINK: u32 = 1000;

/// Never, as a threshold.
pub const NEVER: u32 = u32::MAX;

/// When an output port drops and marks, by the queue that a packet finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoBytes, Immutable)]
#[repr(C)]
pub struct Port {
    /// Packets from which on the queue has no room.
    pub limit_packets: u32,
    /// Bytes that the queue never exceeds.
    pub limit_bytes: u32,
    /// Packets from which on it marks.
    pub mark_packets: u32,
    /// Bytes from which on it marks.
    pub mark_bytes: u32,
    /// 1: a packet that would be marked, and is not ECN-capable, is dropped.
    pub drops_non_ect: u32,
    /// Bytes on the wire that the device does not have in a packet.
    pub around: u32,
    /// Of the link, bit/s, not 0.
    pub rate: u64,
    /// A delay that costs the link nothing, because the bucket holds what it would have sent, ns.
    pub slack_ns: u64,
}

/// What a port has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Counters {
    /// Packets that came to it.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Marked packets.
    pub marks: u64,
    /// Packets dropped instead of a mark.
    pub drops: u64,
    /// The longest queue that a packet has found and made longer, packets.
    pub longest: u64,
}

/// How well a port keeps its rate.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Pace {
    lock: u32,
    unused: u32,
    sent: u64,
    until: u64,
    behind: u64,
    lost: u64,
}

/// The programs of ports, and those of paths.
#[derive(Debug)]
pub struct Switches {
    ports: Object,
    paths: Object,
    counted: MapHandle,
    paces: MapHandle,
    ways: MapHandle,
}

impl Switches {
    /// Loads the programs for these ports, by the number of their link. Errors: no right to, or the
    /// kernel refuses a program.
    pub fn load(ports: &[Port]) -> Result<Switches> {
        let load = |object: &[u8]| -> Result<Object> {
            let mut open = ObjectBuilder::default().open_memory(object)?;
            for mut map in open.maps_mut() {
                if ["ports", "counted", "paces"].iter().any(|name| map.name() == *name) {
                    map.set_max_entries(u32::try_from(ports.len())?)?;
                }
            }
            open.load().context(
                "this kernel refuses the programs of switches, or there is no right to load them \
                 (they need Linux 6.2, CONFIG_BPF_SYSCALL=y and CONFIG_DEBUG_INFO_BTF=y)",
            )
        };
        let of_ports = load(include_bytes!(concat!(env!("OUT_DIR"), "/port.o")))?;
        let of_paths = load(include_bytes!(concat!(env!("OUT_DIR"), "/path.o")))?;
        let thresholds = map(&of_ports, "ports")?;
        for (link, port) in (0u32..).zip(ports) {
            thresholds.update(&link.to_ne_bytes(), port.as_bytes(), MapFlags::ANY)?;
        }
        Ok(Switches {
            counted: map(&of_ports, "counted")?,
            paces: map(&of_ports, "paces")?,
            ways: map(&of_paths, "ways")?,
            ports: of_ports,
            paths: of_paths,
        })
    }

    /// Has the device of this number, in the network namespace of the calling thread, be an output
    /// port, and have packets that come by it take the paths that are set; either, or both.
    pub fn attach(&self, device: u32, is_port: bool, has_paths: bool) -> Result<()> {
        let hook = |object: &Object, point| -> Result<TcHook> {
            let program = object.progs().next().context("an object has a program")?;
            let mut hook = TcHook::new(program.as_fd());
            hook.ifindex(i32::try_from(device)?).attach_point(point);
            Ok(hook)
        };
        hook(&self.ports, TC_EGRESS | TC_INGRESS)?
            .create()
            .context("this kernel has no clsact (CONFIG_NET_SCH_INGRESS)")?;
        for (object, point, wanted) in [(&self.ports, TC_EGRESS, is_port), (&self.paths, TC_INGRESS, has_paths)] {
            if wanted {
                let attached = hook(object, point)?.attach();
                attached.context("this kernel runs no programs at devices (CONFIG_NET_CLS_BPF)")?;
            }
        }
        Ok(())
    }

    /// Gives packets of these ends that come by `device` a mark.
    pub fn mark(&self, device: u32, (source, target): (SocketAddrV4, SocketAddrV4), mark: u32) -> Result<()> {
        let mut arrival = device.to_ne_bytes().to_vec();
        arrival.extend(source.ip().octets().into_iter().chain(target.ip().octets()));
        arrival.extend(source.port().to_be_bytes().into_iter().chain(target.port().to_be_bytes()));
        self.ways.update(&arrival, &mark.to_ne_bytes(), MapFlags::ANY).context("cannot set the path of a packet")
    }

    /// What the port of this link has counted, over all processors.
    pub fn counters(&self, link: u32) -> Result<Counters> {
        let values = self.counted.lookup_percpu(&link.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        let mut sum = Counters::default();
        for value in &values {
            let (of, _) = Counters::read_from_prefix(value).ok().context("counters are shorter than they should be")?;
            sum.packets += of.packets;
            sum.bytes += of.bytes;
            sum.marks += of.marks;
            sum.drops += of.drops;
            sum.longest = sum.longest.max(of.longest);
        }
        Ok(sum)
    }

    /// So long the port of this link has sent nothing though packets waited, beyond what it could
    /// make up for: this machine did not let the kernel run.
    pub fn lost(&self, link: u32) -> Result<Duration> {
        let value = self.paces.lookup(&link.to_ne_bytes(), MapFlags::ANY)?.context("no such port")?;
        let (pace, _) = Pace::read_from_prefix(&value).ok().context("a pace is shorter than it should be")?;
        Ok(Duration::from_nanos(pace.lost + pace.behind))
    }
}

fn map(object: &Object, name: &str) -> Result<MapHandle> {
    let map = object.maps().find(|map| map.name() == name).with_context(|| format!("no map {name}"))?;
    Ok(MapHandle::try_from(&map)?)
}

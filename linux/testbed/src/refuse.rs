//! What a test bed cannot run, and why.

use crate::controllers::{self, Controller};
use crate::ends::Settings;
use crate::fabric::Switches;
use crate::fabric::kernel::limits as switch_limits;
use crate::kernel;
use anyhow::{Context as _, Result, bail, ensure};
use linkpool_network::{Layer, MarkAt, Order, Queue, Spreading};
use linkpool_scenario::{Control, Paths, Preset, Scenario, Subflows, Transport, WorkloadKind};
use linkpool_transport::SendBuffer;
use linkpool_units::Time;
use toml_edit::{DocumentMut, Item, TableLike};

/// Hosts at the most; each has two namespaces.
const MOST_HOSTS: usize = 64;
/// Subflows that the kernel's path manager takes beside the first.
const MOST_SUBFLOWS: u32 = 8;
/// Series are sampled by a thread that also sends and receives.
const LEAST_INTERVAL: Time = Time::from_ms(1);

/// Settings of transports that the test bed gives to the kernel; others must be as the kernel has
/// them.
const HEEDED: [&str; 11] = [
    "control",
    "preset",
    "subflows",
    "paths",
    "priority",
    "mss",
    "initial_window",
    "min_rto",
    "ack_every",
    "send_buffer_headers",
    "segmentation_offload",
];

/// Settings that follow from others.
const IMPLIED: [&str; 3] = ["ack_delay", "quickack", "push_acks"];

/// Checks that `scenario` can run here over these `switches`. Returns what the hosts need, and what
/// runs the connections of each transport.
pub(crate) fn check(scenario: &Scenario, switches: Switches) -> Result<(Settings, Vec<Controller>)> {
    let fabric = scenario.topology.fabric();
    ensure!(fabric.hosts() <= MOST_HOSTS, "[topology]: {} hosts; at most {MOST_HOSTS} are possible", fabric.hosts());
    ensure!(!fabric.hosts_forward(), "[topology.bcube]: its hosts forward packets, those of the test bed do not");
    ensure!(
        fabric.servers().is_none(),
        "[topology.gpu-servers]: its hosts know their servers, those of the test bed do not"
    );
    if scenario.routing.kind == Spreading::TwoLevel {
        bail!("[routing] kind: with \"two-level\" hosts have several addresses, those of the test bed have one");
    }
    ensure!(scenario.routing.placement.is_none(), "[routing] placement: there is no scheduler that places real flows");
    queues(scenario)?;
    for workload in &scenario.workloads {
        let missing = match workload.kind {
            WorkloadKind::Collective(_) => "collective operations",
            WorkloadKind::Program(_) => "programs of ranks",
            WorkloadKind::Training(_) => "training jobs",
            WorkloadKind::Inference(_) => "requests to models",
            WorkloadKind::Session(_) => "messages of a program that drives the run",
            WorkloadKind::Flow(_)
            | WorkloadKind::Incast(_)
            | WorkloadKind::ManyToOne(_)
            | WorkloadKind::Permutation(_)
            | WorkloadKind::Poisson(_)
            | WorkloadKind::Random(_)
            | WorkloadKind::Stride(_)
            | WorkloadKind::AllToAll(_)
            | WorkloadKind::Hotspot(_)
            | WorkloadKind::Staggered(_)
            | WorkloadKind::PartitionAggregate(_)
            | WorkloadKind::Trace(_) => continue,
        };
        bail!("[workload] {}: {missing} are not among the workloads of the test bed", workload.label);
    }
    for change in &scenario.changes {
        let mut links = change.changed().victims(&fabric).into_iter().flatten();
        let is_host = links.any(|link| fabric.layer(fabric.links()[link.index()].from) == Layer::Host);
        ensure!(!is_host, "[[change]]: links from hosts do not change in the test bed, only those from switches");
    }
    record(scenario)?;
    if switches == Switches::Kernel {
        switch_limits::check(scenario, &fabric)?;
    }
    let controllers = scenario.transports.iter().map(transport).collect::<Result<Vec<_>>>()?;
    Ok((settings(scenario)?, controllers))
}

/// The port of a host is one FIFO queue.
fn queues(scenario: &Scenario) -> Result<()> {
    let plain = |q: &Queue| {
        q.order == Order::Fifo && q.red.is_none() && q.shared_buffer.is_none() && q.mark_at == MarkAt::Enqueue
    };
    let of_hosts = scenario.layer_queues.iter().find(|(layer, _)| *layer == Layer::Host);
    let at_hosts = of_hosts.map_or(&scenario.queue, |(_, queue)| queue);
    ensure!(
        plain(at_hosts),
        "[queue]: ports of hosts are plain FIFO queues in the test bed; give switches a queue of their own, [queue.layer.switch]"
    );
    let all = scenario.layer_queues.iter().map(|(_, queue)| queue).chain([&scenario.queue]);
    for queue in all {
        ensure!(queue.classes.is_empty(), "[queue] class: packets of real hosts have no priority here; leave it out");
        let trims = matches!(queue.order, Order::Trimming(_));
        ensure!(!trims, "[queue] discipline: no kernel takes trimmed packets");
        ensure!(queue.pfc.is_none(), "[queue] pfc: network namespaces do not obey pause frames; leave it out");
    }
    Ok(())
}

fn record(scenario: &Scenario) -> Result<()> {
    let r = &scenario.record;
    ensure!(
        r.rtt.is_none(),
        "[record] rtt: the kernel does not tell its RTT samples; record cwnd, which has the smoothed RTT"
    );
    ensure!(
        r.capture.is_none(),
        "[record] capture: of the test bed, tcpdump in a host's network namespace captures packets"
    );
    ensure!(r.counters.is_none(), "[record] counters: the test bed counts over the whole run only (links.parquet)");
    for (key, series) in [("cwnd", &r.cwnd), ("rate", &r.rate)] {
        if let Some(series) = series {
            ensure!(series.every >= LEAST_INTERVAL, "[record] {key}: every = 1ms is the least in the test bed");
        }
    }
    Ok(())
}

/// What all hosts have alike.
fn settings(scenario: &Scenario) -> Result<Settings> {
    let first = scenario.transports.first().context("[transport]: there is none")?;
    for t in &scenario.transports {
        let same = |key: &str, is: bool| -> Result<()> {
            ensure!(is, "[transport.{}] {key}: all transports of the test bed have the same", t.name);
            Ok(())
        };
        same("mss", t.config.mss == first.config.mss)?;
        same("ack_every", t.config.ack_every == first.config.ack_every)?;
        same("initial_window", t.config.initial_window == first.config.initial_window)?;
        same("min_rto", t.config.rtt.min_rto == first.config.rtt.min_rto)?;
    }
    Ok(Settings {
        // 20 bytes IP, 20 TCP, 12 timestamps.
        mtu: u32::from(first.config.mss) + 52,
        ack_each: first.config.ack_every == 1,
        initial_window: first.config.initial_window,
        min_rto_us: first.config.rtt.min_rto.0 / 1_000_000,
        multipath: scenario.transports.iter().any(Transport::is_several),
        ecn: false,
    })
}

/// What the simulator has otherwise than this kernel, and a scenario can say: the memory that send
/// buffers count for headers, which depends on how a kernel was built, and whether devices segment,
/// which those of the test bed do not.
pub(crate) fn unlike_the_kernel(scenario: &Scenario) -> Vec<String> {
    let growing = |t: &&Transport| t.is_several() && t.config.buffers.send == SendBuffer::Auto;
    let segments = |t: &Transport| {
        t.config.buffers.offload.then(|| {
            format!(
                "[transport.{}] segmentation_offload: devices of the test bed have none, those of the simulator do: set \
                 it to false",
                t.name
            )
        })
    };
    let unlike = |t: &Transport| {
        let (mss, headers) = (t.config.mss, t.config.buffers.headers);
        let (kernel, scenario) = (kernel::first_send_buffer(mss).ok()?, SendBuffer::first(mss, headers));
        let remedy =
            kernel::send_buffer_headers(mss).map_or(String::new(), |right| format!(": set it to \"{right}B\""));
        (kernel != scenario).then(|| {
            format!(
                "[transport.{}] send_buffer_headers: a send buffer begins with {kernel} B on this kernel, and with \
                 {scenario} B in the simulator{remedy}",
                t.name
            )
        })
    };
    let transports = || scenario.transports.iter().filter(growing);
    transports().filter_map(unlike).chain(transports().filter_map(segments)).collect()
}

/// Checks a transport; returns what runs its connections.
fn transport(t: &Transport) -> Result<Controller> {
    let key = |key: &str| format!("[transport.{}] {key}", t.name);
    let Control::Tcp(algorithm) = t.control else {
        bail!("{}: no kernel has {}", key("control"), t.control.family().title())
    };
    ensure!(!t.is_mmptcp(), "{}: the test bed has no phases yet", key("control"));
    ensure!(!t.trimming, "{}: no kernel takes trimmed packets", key("trimming"));
    match t.paths.rule {
        Paths::Hash | Paths::Distinct | Paths::Disjoint => {}
        _ => bail!("{}: only \"hash\", \"distinct\" and \"disjoint\" are possible in the test bed", key("paths")),
    }
    match t.subflows {
        Subflows::Count(n) if n <= MOST_SUBFLOWS => {}
        _ => bail!("{}: a number up to {MOST_SUBFLOWS} is possible in the test bed", key("subflows")),
    }
    ensure!(t.subflows.most() == 1 || kernel::has_mptcp(), "{}: this kernel has no MPTCP", key("subflows"));
    let controller = controller(t, algorithm.name())?;
    as_the_kernel(t, &controller)?;
    Ok(controller)
}

/// What runs its connections.
fn controller(t: &Transport, name: &str) -> Result<Controller> {
    if let Some(algorithm) = linkpool_linux_control::algorithm::Algorithm::named(name) {
        let (table, mut settings) = (table(t)?, linkpool_linux_control::settings::Settings::default());
        for parameter in algorithm.parameters {
            if let Some(value) = table.get(&key_of(parameter)).and_then(Item::as_value) {
                controllers::set(&mut settings, parameter, value).with_context(|| {
                    format!("[transport.{}] {}: not as the kernel can have it", t.name, key_of(parameter))
                })?;
            }
        }
        return Ok(Controller::Load(algorithm, Box::new(settings)));
    }
    ensure!(
        kernel::has_algorithm(name)?,
        "[transport.{}] control: neither the kernel nor linkpool-linux has {name:?}",
        t.name
    );
    Ok(Controller::OfKernel(name.to_string()))
}

/// The key of a scenario for a parameter of the command line.
fn key_of(parameter: &str) -> String {
    parameter.replace('-', "_")
}

/// Refuses settings that the kernel has otherwise.
fn as_the_kernel(t: &Transport, controller: &Controller) -> Result<()> {
    // Which settings apply depends on the number of subflows.
    let linux = Transport { name: t.name.clone(), subflows: t.subflows, ..Transport::of(t.control, Preset::Linux) };
    let [wanted, has] = [t, &linux].map(table);
    let (wanted, has) = (wanted?, has?);
    differing(&wanted, &has, "", &mut |key| {
        let is_parameter = match controller {
            Controller::Load(algorithm, _) => algorithm.parameters.iter().any(|p| key_of(p) == key),
            Controller::OfKernel(_) => false,
        };
        let heeded = HEEDED.contains(&key) || IMPLIED.contains(&key) || is_parameter;
        ensure!(
            heeded,
            "[transport.{}] {key}: the kernel has {}, and the test bed cannot change it",
            t.name,
            show(&has, key)
        );
        Ok(())
    })
}

/// A transport as the file has it.
fn table(t: &Transport) -> Result<toml_edit::Table> {
    let text = linkpool_scenario::Scenario { transports: vec![t.clone()], ..example()? }.to_toml();
    let document: DocumentMut = text.parse().context("a scenario is written as TOML")?;
    let found = document.get("transport").and_then(|all| all.get(&t.name)).and_then(Item::as_table_like);
    let table = found.context("a scenario has its transports")?;
    Ok(table.iter().map(|(key, item)| (key.to_string(), item.clone())).collect())
}

/// The smallest scenario there is, for its transport to be replaced.
fn example() -> Result<Scenario> {
    let text = "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
                [transport.x]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"x\"\nfrom = \"S1\"\nto = \"R\"\n";
    linkpool_scenario::load(text, "", None, &[]).map_err(|e| anyhow::anyhow!("{e:?}"))
}

/// Calls `each` with the keys whose values differ.
fn differing(
    a: &dyn TableLike,
    b: &dyn TableLike,
    inside: &str,
    each: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<()> {
    let keys = a.iter().map(|(key, _)| key).chain(b.iter().map(|(key, _)| key).filter(|key| a.get(key).is_none()));
    for key in keys {
        let path = if inside.is_empty() { key.to_string() } else { format!("{inside}.{key}") };
        match (a.get(key).and_then(Item::as_table_like), b.get(key).and_then(Item::as_table_like)) {
            (Some(a), Some(b)) => differing(a, b, &path, each)?,
            _ if a.get(key).map(plain) == b.get(key).map(plain) => {}
            _ => each(&path)?,
        }
    }
    Ok(())
}

fn plain(item: &Item) -> String {
    item.to_string().trim().to_string()
}

fn show(table: &dyn TableLike, key: &str) -> String {
    table.get(key).map_or("another".to_string(), plain)
}

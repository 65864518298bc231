//! What is wrong with a scenario: each mistake gives one error, at its key and line, with what
//! would be right.

use linkpool_scenario::load;

/// A good scenario, in which each case makes one mistake.
const GOOD: &str = r#"name = "good"
duration = "20s"

[topology.many-to-one]
senders = 30
rate = "10Gbps"
delay = "2us"

[queue]
limit = 100
mark = 10

[transport.amp]
control = "amp"
subflows = 4

[transport.tcp]
control = "reno"

[[workload.incast]]
transport = "amp"
senders = 30
receiver = "R"
size = "128KiB"
every = "1s"

[[workload.flow]]
transport = "tcp"
from = "S1"
to = "R"

[record]
cwnd = { every = "10us", labels = ["flow"] }
queue = { every = "10us", links = ["W->R"] }
"#;

/// Of [`GOOD`], the text replaced and by what; of the error, the key, the line (0: none), and a
/// part of the message.
type Case = (&'static str, &'static str, &'static str, usize, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("duration = \"20s\"", "duration = \"1000000s\"\ndrain = \"1us\"", "drain", 3, "a run is at most 1000000s long"),
    ("duration = \"20s\"", "duration = \"1000001s\"", "duration", 2, "at most 1000000s"),
    ("control = \"reno\"", "control = 3", "transport.tcp.control", 18, "expected one of reno, dctcp, lia, dcm, xmp, amp, "),
    // TOML.
    ("duration = \"20s\"", "duration = 20s", "", 2, "not valid TOML"),
    ("[transport.tcp]", "[transport.amp]", "", 17, "`amp` stands here twice; rename or remove one"),
    ("senders = 30\nrate", "senders = 30\nsenders = 31\nrate", "", 6, "`senders` stands here twice"),
    ("labels = [\"flow\"]", "labels = \"flow\"", "record.cwnd.labels", 33, "expected an array, found the string \"flow\""),
    // What is measured and recorded.
    ("[record]", "[measure]\nwarm_up = \"20s\"\n[record]", "measure.warm_up", 33, "20s is not before `duration`, 20s"),
    ("[record]", "[measure]\ncut_off = \"20001ms\"\n[record]", "measure.cut_off", 33, "is after the end of the run at 20s"),
    ("[record]", "[measure]\nwarm_up = \"5s\"\ncut_off = \"5s\"\n[record]", "measure.cut_off", 34, "must be after `warm_up`, 5s"),
    ("[record]", "[measure]\nwarmup = \"5s\"\n[record]", "measure.warmup", 33, "did you mean `warm_up`?"),
    ("[record]", "[record]\nrtt = { labels = [\"flow\"] }", "record.rtt.every", 33, "missing; write for example every = \"10us\""),
    ("[record]", "[record]\nrtt = { every = \"1ms\", labels = [\"flows\"] }", "record.rtt.labels.0", 33, "did you mean `flow`?"),
    ("[record]", "[record]\nrtt = { every = \"1ms\", links = [\"W->R\"] }", "record.rtt.links", 33, "unknown key"),
    ("[record]", "[record]\ncounters = { every = \"1ms\", links = [\"W->S\"] }", "record.counters.links.0", 33, "no host or switch is named \"S\""),
    ("[record]", "[record]\ncounters = { every = \"1ms\", links = [] }", "record.counters.links", 33, "leave it out to record all"),
    ("[record]", "[record]\ncounters = { every = \"9s\", from = \"12s\" }", "record.counters.every", 33, "9s is longer than from `from`, 12s, to `until`, 20s"),
    ("[record]", "[transport.ndp]\ncontrol = \"ndp\"\n[record]\ncapture = {}", "record.capture", 35, "packets of transport \"ndp\" (`control = \"ndp\"`) cannot be captured"),
    ("control = \"reno\"", "control = \"uet\"", "transport.tcp.trimmable", 17, "write discipline = \"trimming\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nentropies = 48", "transport.tcp.entropies", 20, "a power of two"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\npaths = \"scatter\"", "transport.tcp.paths", 20, "by their entropy value: write \"hash\", or \"planes\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\npaths = \"planes\"\nentropies = 2048", "transport.tcp.entropies", 21, "at most 1024 values"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = \"auto\"", "transport.tcp.subflows", 20, "write a number"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = 4\nentropies = 2", "transport.tcp.entropies", 21, "an equal part of them"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nentropies = 64\nsubflows = 3", "transport.tcp.entropies", 20, "set `subflows` to a power of two"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = 4\nreceiver_credit = true", "transport.tcp.receiver_credit", 21, "a connection with one window"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nbalancer = \"mp-rdma\"\nack_bytes = \"2B\"", "transport.tcp.ack_bytes", 21, "go by the ACK of each packet; leave `ack_bytes` out"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nack_bytes = \"1B\"\nsubflows = 2\nbalancer = \"mp-rdma\"", "transport.tcp.balancer", 22, "spreads one window over all values"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nack_bytes = \"1B\"\nsender_law = \"none\"\nreceiver_credit = true\nbalancer = \"mp-rdma\"", "transport.tcp.balancer", 23, "goes by the room that ACKs make in a window"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"mp-rdma\"\nack_bytes = \"2B\"", "transport.tcp.ack_bytes", 21, "go by the ACK of each packet; leave `ack_bytes` out"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nack_bytes = \"1B\"\nsubflows = 2\nsender_law = \"mp-rdma\"", "transport.tcp.sender_law", 22, "is one window over all paths"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nack_bytes = \"1B\"\nsubflows = 2\nsender_law = \"strack-htsim\"", "transport.tcp.sender_law", 22, "\"strack-htsim\" is one window"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"strack-htsim\"\nack_bytes = \"2B\"", "transport.tcp.ack_bytes", 21, "write \"1B\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"strack\"\nstrack_high = 0.9", "transport.tcp.strack_high", 21, "must be 1 to 1000"),
    ("control = \"reno\"", "control = \"strack\"", "transport.tcp.control", 18, "this is a law of Ultra Ethernet: write \"uet\" here, and `sender_law = \"strack\"`"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nmp_rdma_delta = 3", "transport.tcp.mp_rdma_delta", 20, "sender_law = \"mp-rdma\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"dctcp\"\nfeedback_median = 7", "transport.tcp.feedback_median", 21, "a law that hears delays"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = 2\nsender_law = \"constant\"\nsubflow_coupling = \"lia\"", "transport.tcp.subflow_coupling", 22, "a law that raises windows"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"none\"\nreceiver_credit = true\nfirst_window = \"9000B\"", "transport.tcp.first_window", 22, "a window, such as that of"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nuet_reps_freezing = \"1ms\"", "transport.tcp.uet_reps_freezing", 20, "balancer = \"reps\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nmp_rdma_probe = 0.5", "transport.tcp.mp_rdma_probe", 20, "balancer = \"mp-rdma\""),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = 4\nsleek = true", "transport.tcp.sleek", 21, "which other subflows may cause"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsubflows = 4\nbalancer = \"rss\"", "transport.tcp.balancer", 21, "spreads one window"),
    ("control = \"reno\"", "control = \"uet\"\nbalancer = \"rss\"\nrss_finds_losses = true", "transport.tcp.rss_finds_losses", 20, "set `trimmable = false`"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsleek = true\nbalancer = \"rss\"\nrss_finds_losses = true", "transport.tcp.rss_finds_losses", 22, "finds losses already"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nreceiver_credit = true\nbalancer = \"rss\"\nrss_finds_losses = true", "transport.tcp.rss_finds_losses", 22, "with a window alone"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsuppress_after = 0\nsubflows = 2\nsubflow_suppression = true", "transport.tcp.suppress_after", 20, "above zero"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nscheduler = \"lowest-rtt\"", "transport.tcp.scheduler", 20, "does not apply to uet"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsender_law = \"none\"", "transport.tcp.sender_law", 20, "set `receiver_credit = true`"),
    ("control = \"reno\"", "control = \"uet\"\ntrimmable = false\nsleek = true\nsender_law = \"none\"\nreceiver_credit = true", "transport.tcp.sleek", 20, "goes by the window"),
    ("control = \"reno\"", "control = \"reno\"\nnscc_target = \"1us\"", "transport.tcp.nscc_target", 19, "only to uet"),
    // Ports.
    ("mark = 10", "discipline = \"trimming\"\nmark = 10\ntrimming = { mark_min = \"1KB\", mark_max = \"9KB\" }", "queue.mark", 12, "cannot be combined with `mark_min`"),
    ("control = \"reno\"", "control = \"dctcp\"\npaths = \"mp-rdma\"", "transport.tcp.paths", 19, "an ACK of each packet"),
    ("control = \"reno\"", "control = \"ndp\"\npaths = \"mp-rdma\"", "transport.tcp.paths", 19, "unknown value"),
    ("control = \"reno\"", "control = \"dctcp\"\npaths = \"rss\"", "transport.tcp.paths", 19, "write `subflows`"),
    ("mark = 10", "mark_to_hosts = false", "queue.mark_to_hosts", 11, "applies only to queues with a `mark`, and those with `mark_min`"),
    ("mark = 10", "red = { min = 5, max = 15 }\nmark_to_hosts = false", "queue.mark_to_hosts", 12, "applies only to queues with a `mark`"),
    ("[transport.amp]", "mark_to_hosts = false\n[[queue.class]]\npriorities = [1]\nred = { min = 5, max = 15 }\n[transport.amp]", "queue.mark_to_hosts", 13, "cannot be combined with `red`"),
    ("mark = 10", "discipline = \"trimming\"\nlayer.host.mark_to_hosts = false", "queue.layer.host.mark_to_hosts", 12, "applies only to queues with a `mark`"),
    ("mark = 10", "discipline = \"trimming\"\ntrimming = { mark_min = \"1KB\" }", "queue.trimming.mark_max", 12, "from which size on"),
    ("mark = 10", "discipline = \"trimming\"\ntrimming = { mark_max = \"1KB\" }", "queue.trimming.mark_min", 12, "where do marks begin"),
    ("mark = 10", "discipline = \"trimming\"\ntrimming = { mark_min = \"3KB\", mark_max = \"1KB\" }", "queue.trimming.mark_max", 12, "below `mark_min`"),
    ("mark = 10", "mark = 10\nred = { min = 5, max = 15 }", "queue.red", 12, "there is `mark` too; leave one out"),
    ("mark = 10", "red = { min = 5 }", "queue.red.max", 11, "missing; write for example max = 15"),
    ("mark = 10", "red = { min = 5, max = \"15KB\" }", "queue.red.max", 11, "`min` and `max` must both be in packets or both be sizes"),
    ("mark = 10", "red = { min = 15, max = 15 }", "queue.red.max", 11, "must be above `min`"),
    ("mark = 10", "red = { min = 5, max = 15, weight = 0.0 }", "queue.red.weight", 11, "0 is no gain"),
    ("mark = 10", "red = { min = 5, max = 15 }\nnon_ect = \"queue\"", "queue.non_ect", 12, "applies only to queues with a `mark`"),
    ("mark = 10", "pfc = { buffer = \"1MB\", low = false }", "queue.pfc", 11, "no priority of the ports is lossless"),
    ("mark = 10", "pfc = {}", "queue.pfc.buffer", 11, "missing"),
    ("mark = 10", "pfc = { buffer = \"100KB\" }", "queue.pfc.buffer", 11, "the headroom and the reserve of the links to W take"),
    ("mark = 10", "pfc = { buffer = \"1MB\", xoff = \"10KB\", alpha = 0.5 }", "queue.pfc.alpha", 11, "applies only to queues without `xoff`"),
    ("mark = 10", "discipline = \"trimming\"\npfc = { buffer = \"1MB\" }", "queue.pfc", 12, "cannot be combined with discipline"),
    ("mark = 10", "mark = 10\nlayer.switch.pfc = { buffer = \"1MB\" }", "queue.layer", 12, "ports of all layers pause, or none"),
    ("mark = 10", "pfc = { buffer = \"1MB\" }\nlayer.switch.discipline = \"priority\"", "queue.layer", 12, "have the same priorities"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"1MB\"\n[[change]]\nlinks = [\"W->R\"]\nrate = \"1Gbps\"\n[transport.amp]", "change", 15, "links do not change in this version"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\nquanta = 0\n[transport.amp]", "queue.pfc.quanta", 15, "0 is no time of a pause"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\nquanta = 65536\n[transport.amp]", "queue.pfc.quanta", 15, "it goes from 1 to 65535"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\nrefresh = 1.1\n[transport.amp]", "queue.pfc.refresh", 15, "1.1 is no share of a pause"),
    ("[transport.amp]", "[nic]\nlatency = \"2us\"\n[transport.amp]", "nic", 13, "applies to RoCE and UET, whose senders take turns"),
    ("[transport.amp]", "[[slow_host]]\nhosts = [\"R\"]\n[transport.amp]", "slow_host.0.hosts", 14, "write pfc in [queue]"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[slow_host]]\nhosts = [\"R\"]\nbuffer = \"9KB\"\n[transport.amp]", "slow_host.0.buffer", 17, "9000 B is no more than what comes until a pause holds, "),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[slow_host]]\nhosts = [\"R\"]\nuntil = \"0s\"\n[transport.amp]", "slow_host.0.until", 17, "0s is not after `from`, 0s"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[slow_host]]\nhosts = [\"R\"]\nfrom = \"20s\"\n[transport.amp]", "slow_host.0.from", 17, "is not before the end of the run"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[slow_host]]\nhosts = [\"R\"]\n[[slow_host]]\nhosts = [\"S1\", \"R\"]\n[transport.amp]", "slow_host.1.hosts", 18, "is in another [[slow_host]]"),
    // Classes.
    ("[transport.amp]", "[[queue.class]]\npriorities = []\n[transport.amp]", "queue.class.0.priorities", 14, "names no priority"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [8]\n[transport.amp]", "queue.class.0.priorities", 14, "goes from 0 to 7"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1, 1]\n[transport.amp]", "queue.class.0.priorities", 14, "named twice"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\n[[queue.class]]\npriorities = [2, 1]\n[transport.amp]", "queue.class.1.priorities", 16, "priority 1 is named twice"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nlossless = true\n[transport.amp]", "queue.class.0.lossless", 15, "where [queue.pfc] says how"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[queue.class]]\npriorities = [1]\n[transport.amp]", "queue.pfc", 13, "no priority of the ports is lossless"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[queue.class]]\npriorities = [1, 2]\nlossless = true\n[transport.amp]", "queue.class.0.priorities", 16, "so a lossless class has one"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\n[[queue.class]]\npriorities = [1]\nlossless = true\nlimit = 9\n[transport.amp]", "queue.class.0.limit", 18, "not `lossless`"),
    ("[transport.amp]", "[queue.pfc]\nbuffer = \"9MB\"\nlow = true\n[[queue.class]]\npriorities = [1]\nlossless = true\n[transport.amp]", "queue.pfc.low", 15, "without `[[queue.class]]`"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nweight = 0\n[transport.amp]", "queue.class.0.weight", 15, "0 is no weight"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nmark = 101\n[transport.amp]", "queue.class.0.mark", 15, "above `limit`"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nlimit = 9\n[transport.amp]", "queue.class.0.limit", 15, "below the `mark` of a class"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nmark = 50\n[queue.layer.host]\nlimit = 40\n[transport.amp]", "queue.layer.host.limit", 17, "below the `mark` of a class"),
    ("[transport.amp]", "[[queue.class]]\npriorities = [1]\nlimit = 20\n[queue.layer.host]\nmark = 30\n[transport.amp]", "queue.layer.host.mark", 17, "above the `limit` of a class"),
    ("mark = 10", "discipline = \"priority\"\nclass = [{ priorities = [1] }]", "queue.discipline", 11, "cannot be combined with `[[queue.class]]`"),
    ("mark = 10", "exempt = [\"ack\"]\nclass = [{ priorities = [1] }]", "queue.exempt", 11, "cannot be combined with classes"),
    ("control = \"reno\"", "control = \"reno\"\npriority = 3", "transport.tcp.priority", 19, "write discipline = \"priority\" in [queue], or classes"),
    ("control = \"reno\"", "control = \"ndp\"\npriority = \"high\"", "transport.tcp.priority", 19, "whose packets have priorities by their kind"),
    ("control = \"reno\"", "control = \"reno\"\npriority = 8", "transport.tcp.priority", 19, "a whole number from 0 to 7"),
    ("[record]", "[record]\nranks = true", "record.ranks", 33, "there is no rank; write [[workload.program]]"),
    ("[record]", "[record]\npauses = {}", "record.pauses", 33, "no port is paused; write pfc in [queue]"),
    ("[record]", "[record]\ncapture = { packets = false }", "record.capture.packets", 33, "nothing is left to record"),
    ("mark = 10", "mark_at = \"dequeue\"", "queue.mark_at", 11, "applies only to queues with a `mark`"),
    ("mark = 10", "mark_when = \">\"", "queue.mark_when", 11, "applies only to queues with a `mark`"),
    ("mark = 10", "non_ect = \"drop\"", "queue.non_ect", 11, "applies only to queues with a `mark`"),
    ("mark = 10", "mark = 10\nmark_at = \"dequeue\"\nnon_ect = \"drop\"", "queue.mark_at", 12, "a leaving packet is not dropped"),
    ("mark = 10", "mark = 10\nmark_at = \"exit\"", "queue.mark_at", 12, "unknown value \"exit\""),
    ("mark = 10", "shared_buffer = { size = \"4MB\" }", "queue.shared_buffer", 11, "there is `limit` too; leave one out"),
    ("limit = 100", "shared_buffer = { size = \"1KB\" }", "queue.shared_buffer.size", 10, "the largest packet, 1538 B, does not fit in"),
    ("limit = 100", "shared_buffer = { size = \"1MB\", alpha = 0.0 }", "queue.shared_buffer.alpha", 10, "0 is not above 0"),
    ("limit = 100", "shared_buffer = { size = \"1MB\" }\nexempt = [\"syn\"]", "queue.exempt", 11, "cannot be combined with `shared_buffer`"),
    ("mark = 10", "trimming = { share = 4 }", "queue.trimming", 11, "applies with discipline = \"trimming\""),
    ("mark = 10", "discipline = \"trimming\"\ntrimming = { share = 0 }", "queue.trimming.share", 12, "no header is sent while data waits"),
    ("mark = 10", "discipline = \"trimming\"\ntrimming = { trim_arriving = 1.5 }", "queue.trimming.trim_arriving", 12, "1.5 is no probability"),
    ("mark = 10", "discipline = \"trimming\"\nexempt = [\"syn\"]", "queue.exempt", 12, "cannot be combined with discipline = \"trimming\""),
    ("limit = 100\nmark = 10", "discipline = \"trimming\"\nred = { min = 2, max = 5 }", "queue.red", 11, "cannot be combined with discipline = \"trimming\""),
    ("control = \"reno\"", "control = \"reno\"\ntrimming = true", "transport.tcp.trimming", 19, "write discipline = \"trimming\" in [queue]"),
    ("control = \"reno\"", "control = \"ndp\"\npaths = \"hash\"", "transport.tcp.paths", 19, "does not apply to ndp"),
    ("control = \"reno\"", "control = \"reno\"\npull_priority = true", "transport.tcp.pull_priority", 19, "only to ndp"),
    ("mark = 10", "discipline = \"wfq\"", "queue.discipline", 11, "unknown value \"wfq\""),
    ("control = \"reno\"", "control = \"reno\"\npriority = \"high\"", "transport.tcp.priority", 19, "write discipline = \"priority\" in [queue]"),
    ("control = \"reno\"", "control = \"reno\"\npriority = \"scatter\"", "transport.tcp.priority", 19, "\"scatter\" is for scattered packets"),
    // The least packet is a byte behind a header of 40 B here: 4100 B are 100 of them.
    ("limit = 100\nmark = 10", "limit = \"4100B\"\nmark = 101\n[transport.small]\ncontrol = \"reno\"\nheader = \"40B\"", "queue.mark", 11, "above `limit`"),
    ("limit = 100\nmark = 10", "shared_buffer = { size = \"1MB\" }\n[[change]]\nbetween = \"host<->switch\"\ncount = 1\nlimit = 9", "change.0.limit", 14, "the port of S1->W has no `limit`: it shares a buffer"),
    // Roles, and faults of other endpoints.
    ("[record]", "[roles]\nidle = 0\n[record]", "roles.idle", 33, "must be above zero"),
    ("subflows = 4", "subflows = 4\nfaults = [\"dupacks-kept\"]", "transport.amp.faults", 16, "are faults of endpoints without SACKs"),
    // Changes of links.
    ("[record]", "[[change]]\nlinks = [\"W->W\"]\nrate = \"1Gbps\"\n[record]", "change.0.links.0", 33, "there is no link from W to W; W is linked to S1, S2, S3, S4, S5, S6, S7, S8, ..."),
    ("[record]", "[[change]]\nlinks = [\"W->S\"]\nrate = \"1Gbps\"\n[record]", "change.0.links.0", 33, "no host or switch is named \"S\""),
    ("[record]", "[[change]]\nlinks = []\nrate = \"1Gbps\"\n[record]", "change.0.links", 33, "names none; write for example links = [\"A->B\"]"),
    ("[record]", "[[change]]\nnodes = [\"w\"]\nrate = \"1Gbps\"\n[record]", "change.0.nodes.0", 33, "no host or switch is named \"w\""),
    ("[record]", "[[change]]\nlayer = \"core\"\nrate = \"1Gbps\"\n[record]", "change.0.layer", 33, "its layers are host, switch"),
    ("[record]", "[[change]]\nlayer = \"cores\"\nrate = \"1Gbps\"\n[record]", "change.0.layer", 33, "unknown value \"cores\"; did you mean `core`?"),
    ("[record]", "[[change]]\nrate = \"1Gbps\"\n[record]", "change.0.links", 32, "names no links; write for example links"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlayer = \"switch\"\nrate = \"1Gbps\"\n[record]", "change.0.layer", 34, "there are nodes and layer; leave only one"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nshare = 0.5\nrate = \"1Gbps\"\n[record]", "change.0.share", 34, "applies only to `layer` and `between` without `count`; leave it out"),
    ("[record]", "[[change]]\nlayer = \"switch\"\nshare = 1.5\nrate = \"1Gbps\"\n[record]", "change.0.share", 34, "1.5 is not between 0 and 1"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\n[record]", "change.0.state", 32, "changes nothing; write state = \"down\""),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nloss = -0.1\n[record]", "change.0.loss", 34, "-0.1 is not between 0 and 1"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nloss = 0.1\nburst_loss = { to_bad = 0.1, to_good = 0.1 }\n[record]", "change.0.burst_loss", 35, "there is `loss` too; leave one out"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nburst_loss = { to_bad = 0.1 }\n[record]", "change.0.burst_loss.to_good", 34, "missing; write for example to_good = 0.25"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nburst_loss = { to_bad = 0.1, to_good = 2.0 }\n[record]", "change.0.burst_loss.to_good", 34, "2 is not between 0 and 1"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlimit = 0\n[record]", "change.0.limit", 34, "a queue with a limit of 0 drops every packet"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nrate = \"0Gbps\"\n[record]", "change.0.rate", 34, "must be above zero"),
    ("[record]", "[[change]]\nat = \"20s\"\nnodes = [\"W\"]\nlimit = 9\n[record]", "change.0.at", 33, "20s is not before the end of the run at 20s"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nrate = \"1Gbps\"\nrate_factor = 0.1\n[record]", "change.0.rate_factor", 35, "there is `rate` too; leave one out"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nrate_factor = 0\n[record]", "change.0.rate_factor", 34, "0 is no part of a rate; it is above 0 and at most 1"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nrate_factor = 1.5\n[record]", "change.0.rate_factor", 34, "1.5 is no part of a rate"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nrate_factor = 1e-12\n[record]", "change.0.rate_factor", 34, "would have less than 1 bit/s"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nbit_errors = 2\n[record]", "change.0.bit_errors", 34, "2 is not between 0 and 1"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\ncount = 1\nlimit = 9\n[record]", "change.0.count", 34, "applies only to `layer` and `between`"),
    ("[record]", "[[change]]\nbetween = \"host<->switch\"\nshare = 0.5\ncount = 1\nlimit = 9\n[record]", "change.0.share", 34, "applies only to `layer` and `between` without `count`"),
    ("[record]", "[[change]]\nbetween = \"host<->switch\"\ncount = 9000\nlimit = 9\n[record]", "change.0.count", 34, "9000 is more than there are"),
    ("[record]", "[[change]]\nbetween = \"host<->switch\"\nshare = 0.0001\nlimit = 9\n[record]", "change.0.share", 34, "is less than one half: none; at least 0.016, or count = 1"),
    ("[record]", "[[change]]\nbetween = \"host<->core\"\nlimit = 9\n[record]", "change.0.between", 33, "no cable of the topology joins these layers; there are host<->switch"),
    ("[record]", "[[change]]\nbetween = \"host\"\nlimit = 9\n[record]", "change.0.between", 33, "two layers, such as \"edge<->core\""),
    ("[record]", "[[change]]\nbetween = \"host->cores\"\nlimit = 9\n[record]", "change.0.between", 33, "no layer is named \"cores\"; did you mean `core`?"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlimit = 9\nrepeat = { every = \"1ms\", lasts = \"2ms\" }\n[record]", "change.0.repeat.lasts", 35, "is longer than `every`: the change would overlap its next one"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlimit = 9\nrepeat = { every = \"1ms\", lasts = \"1ms\" }\n[record]", "change.0.repeat.lasts", 35, "is as long as `every`: the change would never end"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlimit = 9\nrepeat = { every = \"1ms\", lasts = \"1us\", redraw = true }\n[record]", "change.0.repeat.redraw", 35, "applies where chance chooses: write a `share` or a `count`"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nlimit = 9\nrepeat = { every = \"1us\", lasts = \"1ns\" }\n[record]", "change.0.repeat.every", 35, "too short: the links change more than 1000000 times"),
    ("[record]", "[[change]]\nat = \"2s\"\nuntil = \"2s\"\nnodes = [\"W\"]\nlimit = 9\n[record]", "change.0.until", 34, "2s is not after `at`, 2s"),
    ("[record]", "[routing]\nreconverge = \"never\"\n[[change]]\nnodes = [\"W\"]\nat = \"1ms\"\nstate = \"up\"\n[record]", "change.0.state", 37, "works before 1ms already; write a [[change]] with state = \"down\" that begins earlier"),
    ("[record]", "[[change]]\nnodes = [\"W\"]\nstate = \"down\"\n[record]", "routing.reconverge", 0, "write for example reconverge = \"10ms\", or \"never\""),
    ("[record]", "[routing]\nreconverge = \"never\"\n[record]", "routing.reconverge", 33, "applies where a [[change]] has a `state`, and none has"),
    ("[record]", "[routing]\nreconverge = \"soon\"\n[record]", "routing.reconverge", 33, "expected a time with its unit, such as \"10ms\", or \"never\""),
    ("[record]", "[change]\nnodes = [\"W\"]\nlimit = 9\n[record]", "change", 32, "there may be several of these: write [[change]]"),
    // Keys.
    ("senders = 30\nrate", "sendrs = 30\nrate", "topology.many-to-one.sendrs", 5, "did you mean `senders`? (known: senders, rate, delay)"),
    ("[queue]", "[queues]", "queues", 9, "did you mean `queue`?"),
    ("name", "colour = 3\nname", "colour", 1, "known: name, seed, duration, drain, controls, until, measure, topology"),
    ("[topology.many-to-one]", "[topology.many-to-on]", "topology.many-to-on", 4, "did you mean `many-to-one`?"),
    ("[[workload.incast]]", "[[workload.incasts]]", "workload.incasts", 20, "did you mean `incast`?"),
    ("subflows = 4", "subflow = 4", "transport.amp.subflow", 15, "did you mean `subflows`?"),
    ("labels = [", "label = [", "record.cwnd.label", 33, "did you mean `labels`?"),
    // Keys of other tables.
    ("limit = 100", "limit = 100\ndrain = \"1s\"", "queue.drain", 11, "; `drain` is a key of the top of the file"),
    ("limit = 100", "limit = 100\nsubflows = 4", "queue.subflows", 11, "; `subflows` is a key of [transport.NAME]"),
    ("subflows = 4", "mark = 10", "transport.amp.mark", 15, "; `mark` is a key of [queue], [[queue.class]], [queue.layer.aggregation]"),
    ("senders = 30\nreceiver", "jitter = \"1s\"\nsenders = 30\nreceiver", "workload.incast.0.jitter", 22, "; `jitter` is a key of [[workload.all-to-all]], [[workload.hotspot]]"),
    // Types.
    ("rate = \"10Gbps\"", "rate = 10", "topology.many-to-one.rate", 6, "expected a rate with its unit, such as \"10Gbps\", found 10"),
    ("rate = \"10Gbps\"", "rate = \"10GB\"", "topology.many-to-one.rate", 6, "GB is a size; write \"10Gbps\""),
    ("rate = \"10Gbps\"", "rate = \"-10Gbps\"", "topology.many-to-one.rate", 6, "a rate cannot be negative"),
    ("rate = \"10Gbps\"", "rate = \"1.25GB/s\"", "topology.many-to-one.rate", 6, "\"GB/s\" are bytes a second, and rates are in bits; write \"10Gbps\""),
    ("delay = \"2us\"", "delay = \"2µs\"", "topology.many-to-one.delay", 7, "write \"2us\""),
    ("delay = \"2us\"", "delay = \"2\"", "topology.many-to-one.delay", 7, "the unit is missing"),
    ("delay = \"2us\"", "delay = \"0.5ps\"", "topology.many-to-one.delay", 7, "a whole number of ps"),
    ("delay = \"2us\"", "delay = 2020-01-01", "topology.many-to-one.delay", 7, "expected a time with its unit"),
    ("senders = 30\nrate", "senders = -3\nrate", "topology.many-to-one.senders", 5, "expected a whole number from 0 to 4294967295, found -3"),
    ("senders = 30\nrate", "senders = 30.0\nrate", "topology.many-to-one.senders", 5, "expected a whole number from 0 to 4294967295, found 30.0"),
    ("senders = 30\nrate", "senders = \"30\"\nrate", "topology.many-to-one.senders", 5, "found the string \"30\""),
    ("limit = 100", "limit = \"100\"", "queue.limit", 10, "a whole number of packets, such as 100, or a size"),
    ("limit = 100", "limit = \"150K\"", "queue.limit", 10, "write \"150KB\""),
    ("limit = 100", "limit = -1", "queue.limit", 10, "a whole number of packets"),
    ("limit = 100", "limit = 100\nmark_when = \"=>\"", "queue.mark_when", 11, "known: >=, >"),
    ("limit = 100", "limit = 100\nmark_when = 3", "queue.mark_when", 11, "expected one of >=, >, found 3"),
    ("limit = 100", "limit = 100\nexempt = [\n  \"syn\",\n  \"acks\",\n]", "queue.exempt.1", 13, "did you mean `ack`?"),
    ("limit = 100", "limit = 100\ncount_in_service = \"yes\"", "queue.count_in_service", 11, "expected true or false"),
    ("[queue]", "[[queue]]", "queue", 9, "expected a table, found an array"),
    ("[[workload.flow]]", "[workload.flow]", "workload.flow", 27, "write [[workload.flow]], with two brackets"),
    ("control = \"reno\"", "control = \"remo\"", "transport.tcp.control", 18, "did you mean `reno`?"),
    ("control = \"reno\"", "control = \"reno\"\npreset = \"paper\"", "transport.tcp.preset", 19, "did you mean `paper-2013`?"),
    ("control = \"reno\"", "control = \"reno\"\ninitial_ssthresh = \"none\"", "transport.tcp.initial_ssthresh", 19, "or \"unlimited\""),
    ("from = \"S1\"", "from = -1", "workload.flow.0.from", 29, "or its index, such as 0"),
    ("from = \"S1\"", "from = true", "workload.flow.0.from", 29, "the name of a host"),
    // The top.
    ("duration = \"20s\"\n", "", "duration", 0, "missing; write for example duration = \"20s\""),
    ("duration = \"20s\"", "duration = \"0s\"", "duration", 2, "above zero"),
    ("duration = \"20s\"", "duration = \"2000000s\"", "duration", 2, "at most 1000000s"),
    ("duration = \"20s\"", "duration = \"20s\"\ndrain = \"999990s\"", "drain", 3, "at most 1000000s"),
    ("name", "seed = -1\nname", "seed", 1, "a whole number from 0 to 9223372036854775807"),
    // The topology.
    ("[topology.many-to-one]\nsenders = 30\nrate = \"10Gbps\"\ndelay = \"2us\"\n", "", "topology", 0, "write exactly one of [topology.many-to-one]"),
    ("[queue]", "[topology.fat-tree]\nk = 4\n[queue]", "topology.fat-tree", 9, "many-to-one and fat-tree; leave only one"),
    ("senders = 30\nrate", "senders = 0\nrate", "topology.many-to-one.senders", 5, "above zero"),
    ("senders = 30\nrate", "senders = 2000000\nrate", "topology.many-to-one.senders", 5, "at most 1048576"),
    ("senders = 30\nrate", "rate", "topology.many-to-one.senders", 4, "write for example senders = 30"),
    ("rate = \"10Gbps\"", "rate = \"0bps\"", "topology.many-to-one.rate", 6, "above zero"),
    ("many-to-one]\nsenders = 30", "leaf-spine]\nleaves = 0\nspines = 2\nhosts_per_leaf = 2", "topology.leaf-spine.leaves", 5, "above zero"),
    ("many-to-one]\nsenders = 30", "leaf-spine]\nspines = 2\nhosts_per_leaf = 2", "topology.leaf-spine.leaves", 4, "leaves = 16"),
    ("many-to-one]\nsenders = 30", "leaf-spine]\nleaves = 60000\nspines = 60000\nhosts_per_leaf = 1", "topology.leaf-spine.leaves", 5, "at most 2000000"),
    ("many-to-one]\nsenders = 30", "leaf-spine]\nleaves = 6000\nspines = 1\nhosts_per_leaf = 600", "topology.leaf-spine.leaves", 5, "makes 3600000 hosts"),
    ("many-to-one]\nsenders = 30", "fat-tree]\nk = 4\ntiers = 4", "topology.fat-tree.tiers", 6, "2 or 3"),
    ("many-to-one]\nsenders = 30", "fat-tree]\nk = 4\nnics = 3", "topology.fat-tree.nics", 6, "1 or 2"),
    ("many-to-one]\nsenders = 30", "fat-tree]\nk = 2\nnics = 2", "topology.fat-tree.nics", 6, "raise `k`"),
    ("many-to-one]\nsenders = 30", "fat-tree]\nk = 4\ntiers = 2\naggregation_rate = \"1Gbps\"", "topology.fat-tree.aggregation_rate", 7, "leave it out"),
    ("many-to-one]\nsenders = 30", "fat-tree]\nk = 4\ncore_rate = \"0bps\"", "topology.fat-tree.core_rate", 6, "above zero"),
    ("many-to-one]\nsenders = 30", "vl2]\naggregation_ports = 3\nintermediate_ports = 4", "topology.vl2.aggregation_ports", 5, "even number"),
    ("many-to-one]\nsenders = 30", "vl2]\naggregation_ports = 4294967294\nintermediate_ports = 4294967294", "topology.vl2.aggregation_ports", 5, "hosts"),
    ("many-to-one]\nsenders = 30", "multi-plane]\nplanes = 9\nleaves = 2\nspines = 1\nhosts_per_leaf = 2", "topology.multi-plane.planes", 5, "9 planes; 1 to 8 are possible"),
    ("many-to-one]\nsenders = 30", "multi-plane]\nplanes = 2\nleaves = 2\nspines = 0\nhosts_per_leaf = 2", "topology.multi-plane.spines", 7, "no spine joins the leaves of a plane"),
    ("many-to-one]\nsenders = 30", "dragonfly]\nrouters_per_group = 4\ngroups = 10", "topology.dragonfly.groups", 6, "10 groups; the global ports of a group reach 8 others"),
    ("many-to-one]\nsenders = 30", "dragonfly]\nrouters_per_group = 4\ngroups = 1", "topology.dragonfly.groups", 6, "1 group; a dragonfly has 2 or more"),
    ("many-to-one]\nsenders = 30", "slim-fly]\nq = 6", "topology.slim-fly.q", 5, "6 is no power of a prime from 3 to 997"),
    ("many-to-one]\nsenders = 30", "xpander]\nlift = 2\nhosts_per_switch = 1\ndegree = 2", "topology.xpander.degree", 7, "2; an expander has"),
    ("many-to-one]\nsenders = 30", "slim-fly]\nq = 997", "topology.slim-fly.q", 5, "hosts; at most"),
    ("many-to-one]\nsenders = 30", "gpu-servers]\ngroups = 1\nservers_per_group = 1\nnvlink_rate = \"1Gbps\"\nnvlink_delay = \"1us\"\nspines = 0", "topology.gpu-servers.spines", 9, "or pxn = true"),
    ("many-to-one]\nsenders = 30", "gpu-servers]\ngroups = 2\nservers_per_group = 1\nnvlink_rate = \"1Gbps\"\nnvlink_delay = \"1us\"\npxn = true\nspines = 0", "topology.gpu-servers.spines", 10, "joins the groups"),
    ("many-to-one]\nsenders = 30", "gpu-servers]\ngroups = 2\nservers_per_group = 1\nnvlink_rate = \"1Gbps\"\nnvlink_delay = \"1us\"\nspines = 1\nshared_spines = false", "topology.gpu-servers.shared_spines", 10, "joins the rails"),
    ("many-to-one]\nsenders = 30", "gpu-servers]\ngroups = 2\nservers_per_group = 1\nnvlink_rate = \"1Gbps\"\nnvlink_delay = \"1us\"\nspines = 1\nnics = 3", "topology.gpu-servers.nics", 10, "divides"),
    ("many-to-one]\nsenders = 30", "gpu-servers]\ngroups = 2\nservers_per_group = 1\nnvlink_rate = \"1Gbps\"\nnvlink_delay = \"1us\"\nspines = 1\nrails = false\npxn = true", "topology.gpu-servers.pxn", 11, "rails = true"),
    ("many-to-one]\nsenders = 30", "bcube]\nn = 1\nk = 1", "topology.bcube.n", 5, "2 ports or more, not 1"),
    ("many-to-one]\nsenders = 30", "bcube]\nn = 4\nk = 4294967295", "topology.bcube.k", 6, "hosts"),
    ("many-to-one]\nsenders = 30", "ring]\nbottleneck_rates = [\"1Gbps\"]", "topology.ring.bottleneck_rates", 5, "two bottlenecks"),
    ("many-to-one]\nsenders = 30", "ring]\nbottleneck_rates = [\"1Gbps\", \"0bps\"]", "topology.ring.bottleneck_rates.1", 5, "above zero"),
    ("many-to-one]\nsenders = 30", "ring]\nbottleneck_rates = [\"1Gbps\", \"1Gbps\"]\nbottleneck_delays = [\"1us\"]", "topology.ring.bottleneck_delays", 6, "write one each"),
    ("delay = \"2us\"", "delay = \"1000001s\"", "topology.many-to-one.delay", 7, "at most 1000000s"),
    // Queues.
    ("limit = 100\nmark = 10", "limit = 0", "queue.limit", 10, "drops every packet"),
    ("mark = 10", "mark = 101", "queue.mark", 11, "lower `mark` or raise `limit`"),
    ("mark = 10", "mark = \"160KB\"", "queue.mark", 11, "above `limit`"),
    ("limit = 100\nmark = 10", "limit = \"600B\"\nmark = 10", "queue.mark", 11, "above `limit`"),
    ("mark = 10", "mark = 0", "queue.mark", 11, "for no marking leave `mark` out"),
    ("mark = 10", "mark = 10\nlayer.core.limit = 10", "queue.layer.core", 12, "its layers are host, switch"),
    ("mark = 10", "mark = 10\nlayer.cor.limit = 10", "queue.layer.cor", 12, "did you mean `core`?"),
    ("mark = 10", "mark = 10\n[queue.layer.switch]\nlimit = 9", "queue.layer.switch.mark", 12, "above `limit`"),
    ("mark = 10", "mark = 10\n[queue.layer.switch]\nlimit = 0", "queue.layer.switch.limit", 13, "drops every packet"),
    // Transports.
    ("control = \"reno\"", "mss = \"1400B\"", "transport.tcp.control", 17, "missing; write for example control = \"amp\""),
    ("control = \"reno\"", "control = \"reno\"\nbeta = 4", "transport.tcp.beta", 19, "does not apply to reno, only to xmp, amp, mptcp-cut"),
    ("control = \"reno\"", "control = \"reno\"\ncubic_beta = 0.5", "transport.tcp.cubic_beta", 19, "does not apply to reno, only to cubic"),
    ("control = \"reno\"", "control = \"reno\"\ncut_in_recovery = true", "transport.tcp.cut_in_recovery", 19, "does not apply to reno, only to dctcp"),
    ("control = \"reno\"", "control = \"reno\"\nrecovery = \"fack\"", "transport.tcp.recovery", 19, "newreno"),
    ("control = \"reno\"", "control = \"ewtcp\"\newtcp_increase = \"1/n\"", "transport.tcp.ewtcp_increase", 19, "1/n^2"),
    ("control = \"reno\"", "control = \"semi-coupled\"\naggressiveness = 0", "transport.tcp.aggressiveness", 19, "above zero"),
    ("control = \"reno\"", "control = \"fully-coupled\"\nloss_floor = 0", "transport.tcp.loss_floor", 19, "above zero"),
    ("control = \"reno\"", "control = \"swift\"\nswift_flow_max = 0.1", "transport.tcp.swift_flow_max", 19, "above `swift_flow_min`"),
    ("control = \"reno\"", "control = \"swift\"\nswift_max_window = 0.0005", "transport.tcp.swift_max_window", 19, "below `swift_min_window`"),
    ("control = \"reno\"", "control = \"swift\"\nswift_max_cut = 1", "transport.tcp.swift_max_cut", 19, "below 1"),
    ("control = \"reno\"", "control = \"reno\"\npacing = \"hw\"", "transport.tcp.pacing", 19, "fq"),
    ("control = \"reno\"", "control = \"cubic\"\ncubic_c = 0", "transport.tcp.cubic_c", 19, "above zero"),
    ("control = \"reno\"", "control = \"cubic\"\ncubic_beta = 1", "transport.tcp.cubic_beta", 19, "below 1"),
    ("control = \"reno\"", "control = \"reno\"\nsubflows = 2", "transport.tcp.subflows", 19, "only to lia, dcm, xmp, amp, mptcp-cut"),
    ("control = \"reno\"", "control = \"reno\"\njoin_jitter = \"1us\"", "transport.tcp.join_jitter", 19, "only to lia"),
    ("control = \"reno\"", "control = \"dctcp\"\ngamma = 2", "transport.tcp.gamma", 19, "only to amp"),
    ("subflows = 4", "alpha0 = 0", "transport.amp.alpha0", 15, "only to dctcp, dcm"),
    ("subflows = 4", "ssthresh_after_cut = \"w-1\"", "transport.amp.ssthresh_after_cut", 15, "only to xmp"),
    ("subflows = 4", "subflows = 33", "transport.amp.subflows", 15, "1 to 32"),
    ("subflows = 4", "subflows = 0", "transport.amp.subflows", 15, "1 to 32"),
    ("subflows = 4", "mss = \"0B\"", "transport.amp.mss", 15, "1B to 16293B"),
    ("subflows = 4", "mss = \"64KiB\"", "transport.amp.mss", 15, "1B to 16293B"),
    ("subflows = 4", "mss = \"1TB\"", "transport.amp.mss", 15, "1B to 16293B"),
    ("subflows = 4", "header = \"39B\"", "transport.amp.header", 15, "40B"),
    ("subflows = 4", "ack_size = \"20B\"", "transport.amp.ack_size", 15, "40B"),
    ("subflows = 4", "initial_window = 0", "transport.amp.initial_window", 15, "above zero"),
    ("subflows = 4", "initial_ssthresh = \"0B\"", "transport.amp.initial_ssthresh", 15, "or \"unlimited\""),
    ("subflows = 4", "cwnd_min = 0", "transport.amp.cwnd_min", 15, "above zero"),
    ("subflows = 4", "beta = 0.5", "transport.amp.beta", 15, "at least 1"),
    ("subflows = 4", "beta = nan", "transport.amp.beta", 15, "expected a finite number, found nan"),
    ("subflows = 4", "min_rto = nan", "transport.amp.min_rto", 15, "found NaN"),
    ("subflows = 4", "gamma = 0", "transport.amp.gamma", 15, "above zero"),
    ("subflows = 4", "tau = 0", "transport.amp.tau", 15, "above zero"),
    ("subflows = 4", "target_delay = \"0us\"", "transport.amp.target_delay", 15, "above zero"),
    ("subflows = 4", "dupack_threshold = \"auto\"", "transport.amp.dupack_threshold", 15, "set `paths = \"scatter\"` or `control = \"mmptcp\"`"),
    ("subflows = 4", "dupack_threshold = \"many\"", "transport.amp.dupack_threshold", 15, "such as 3, or \"auto\" or \"adaptive\""),
    ("subflows = 4", "dupack_threshold = \"adaptive\"", "transport.amp.dupack_threshold", 15, "set `recovery = \"sack\"`"),
    ("control = \"reno\"", "control = \"reno\"\nrecovery = \"newreno\"\ndupack_threshold = \"adaptive\"", "transport.tcp.dupack_threshold", 20, "needs SACKs"),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_bytes = \"100KB\"\npaths = \"scatter\"", "transport.tcp.paths", 20, "leave `paths` out"),
    ("control = \"reno\"", "control = \"mmptcp\"\nsubflows = 32\nswitch_bytes = \"100KB\"", "transport.tcp.subflows", 19, "1 to 31 subflows beside the one of phase 1"),
    ("subflows = 4", "subflows = \"many\"", "transport.amp.subflows", 15, "such as 4, or \"auto\""),
    ("control = \"reno\"", "control = \"reno\"\nsubflows = \"auto\"", "transport.tcp.subflows", 19, "does not apply to reno, only to lia"),
    ("control = \"reno\"", "control = \"mmptcp\"", "transport.tcp.switch_bytes", 17, "Write for example switch_bytes = \"100KB\""),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_window = 0", "transport.tcp.switch_window", 19, "above zero, or \"unlimited\""),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_window = 9\nphase_1 = \"lia\"", "transport.tcp.phase_1", 20, "unknown value \"lia\"; known: reno, dctcp"),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_window = 9\nphase_2 = \"mmptcp\"", "transport.tcp.phase_2", 20, "known: lia, dcm, xmp"),
    // Words of Linux and of other simulators.
    ("control = \"reno\"", "control = \"newreno\"", "transport.tcp.control", 18, "a loss recovery: write \"reno\" here, and `recovery = \"newreno\"`"),
    ("control = \"reno\"", "control = \"mptcp\"", "transport.tcp.control", 18, "write for example \"lia\" here, and `subflows = 8`"),
    ("control = \"reno\"", "control = \"tcp\"", "transport.tcp.control", 18, "write for example \"reno\", \"cubic\" or \"dctcp\""),
    ("control = \"reno\"", "control = \"Linux\"", "transport.tcp.control", 18, "a preset: write `preset = \"linux\"`"),
    ("control = \"reno\"", "control = \"DCTCP\"", "transport.tcp.control", 18, "names are in lower case: write \"dctcp\""),
    ("control = \"reno\"", "control = \"NewReno\"", "transport.tcp.control", 18, "write \"reno\" here, and `recovery = \"newreno\"`"),
    ("control = \"reno\"", "control = \"sack\"", "transport.tcp.control", 18, "write \"reno\" here, and `recovery = \"sack\"`"),
    ("control = \"reno\"", "control = \"bbr\"\nrecovery = \"newreno\"", "transport.tcp.recovery", 19, "does not know how fast packets arrive; set `recovery` to \"sack\" or \"rack\""),
    ("control = \"reno\"", "control = \"bbr\"\nbbr_offload = 0", "transport.tcp.bbr_offload", 19, "must be above zero"),
    ("control = \"reno\"", "control = \"rccc\"", "transport.tcp.control", 18, "write \"uet\" here, and `receiver_credit = true`"),
    ("control = \"reno\"", "control = \"nscc\"", "transport.tcp.control", 18, "write \"uet\" here, and `sender_law = \"nscc\"`"),
    ("control = \"reno\"", "control = \"eqds\"", "transport.tcp.control", 18, "unknown value \"eqds\"; this is a law of Ultra Ethernet: write \"uet\" here, and `sender_law = "),
    ("control = \"reno\"", "control = \"dcqcn\"\npaths = \"plb\"", "transport.tcp.paths", 19, "senders of RoCE do not choose paths by marks"),
    ("control = \"reno\"", "control = \"roce\"\ncnp = \"ack\"", "transport.tcp.cnp", 19, "does not apply to roce, only to dcqcn, dcqcn-hpcc"),
    ("control = \"reno\"", "control = \"roce\"\nwindow = \"0B\"", "transport.tcp.window", 19, "must be above zero"),
    ("control = \"reno\"", "control = \"roce\"\nwindow = \"bpd\"", "transport.tcp.window", 19, "\"bdp\" or \"unlimited\""),
    ("control = \"reno\"", "control = \"timely\"\ntimely_high = \"10us\"", "transport.tcp.timely_high", 19, "must not be below `timely_low`"),
    ("control = \"reno\"", "control = \"dcqcn\"\nsubflows = 2", "transport.tcp.subflows", 19, "does not apply to dcqcn"),
    ("control = \"reno\"", "control = \"hpcc\"\nhpcc_target = 1.5", "transport.tcp.hpcc_target", 19, "1.5 is no utilisation"),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_window = 9\nphase_2 = \"newreno\"", "transport.tcp.phase_2", 20, "write \"uncoupled\" here, and `recovery = \"newreno\"`"),
    ("mark = 10", "pfc = true", "queue.pfc", 11, "expected a table, found true"),
    ("mark = 10", "pause = true", "queue.pause", 11, "unknown key `pause`; pause frames are a table of `[queue]`"),
    ("mark = 10", "lossless = true", "queue.lossless", 11, "write for example pfc = { buffer = \"12MB\" }"),
    ("mark = 10", "discipline = \"sack\"", "queue.discipline", 11, "unknown value \"sack\"; known: "),
    ("control = \"reno\"", "control = \"lia\"\nswitch_window = 9", "transport.tcp.switch_window", 19, "does not apply to lia, only to mmptcp"),
    ("subflows = 4", "scatter_bytes = \"100KB\"", "transport.amp.scatter_bytes", 15, "is now `control = \"mmptcp\"` with `phase_2`"),
    ("subflows = 4", "scatter_window = 30", "transport.amp.scatter_window", 15, "and `switch_window`"),
    ("subflows = 4", "scatter_until_congestion = true", "transport.amp.scatter_until_congestion", 15, "and `switch_on_congestion`"),
    ("subflows = 4", "scatter_control = \"dctcp\"", "transport.amp.scatter_control", 15, "is now `phase_1` of `control = \"mmptcp\"`"),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_window = 9\ng = 0.1", "transport.tcp.g", 20, "does not apply to mmptcp of reno and lia, only to dctcp, dcm"),
    ("control = \"reno\"", "control = \"reno\"\nswitch_bytes = \"1B\"", "transport.tcp.switch_bytes", 19, "does not apply to reno, only to mmptcp"),
    ("control = \"reno\"", "control = \"reno\"\nstale_after = 1", "transport.tcp.stale_after", 19, "only to lia"),
    ("control = \"reno\"", "control = \"reno\"\nfaults = [\"join-stall\"]", "transport.tcp.faults", 19, "only to lia"),
    ("subflows = 4", "subflows = 4\nstale_after = 0", "transport.amp.stale_after", 16, "above zero, or \"never\""),
    ("subflows = 4", "fail_after = 0", "transport.amp.fail_after", 15, "above zero, or \"never\""),
    ("subflows = 4", "fail_after = \"unlimited\"", "transport.amp.fail_after", 15, "such as 3, or \"never\""),
    ("subflows = 4", "send_buffer = \"1000B\"", "transport.amp.send_buffer", 15, "must hold a segment, `mss` = 1448B"),
    ("subflows = 4", "receive_buffer = \"1KB\"", "transport.amp.receive_buffer", 15, "must hold a segment, `mss` = 1448B"),
    ("subflows = 4", "subflow_window = \"1KB\"", "transport.amp.subflow_window", 15, "must hold a segment, `mss` = 1448B"),
    ("subflows = 4", "receive_buffer = \"2GiB\"", "transport.amp.receive_buffer", 15, "at most 1GiB"),
    ("subflows = 4", "receive_buffer = \"1MB\"\nread_rate = \"0bps\"", "transport.amp.read_rate", 16, "above zero"),
    ("subflows = 4", "receive_buffer = \"1MB\"\nread_rate = \"fast\"", "transport.amp.read_rate", 16, "such as \"10Gbps\", or \"unlimited\""),
    ("subflows = 4", "faults = [\"join\"]", "transport.amp.faults.0", 15, "join-syn-once"),
    ("subflows = 4", "subflows = 4\nscheduler = \"lowest-rtt\"\nfaults = [\"join-stall\"]", "transport.amp.faults", 17, "a fault of `scheduler = \"round-robin\"`"),
    ("control = \"reno\"", "control = \"reno\"\nscheduler = \"lowest-rtt\"", "transport.tcp.scheduler", 19, "only to lia"),
    ("subflows = 4", "subflows = 4\nscheduler = \"blest\"", "transport.amp.scheduler", 16, "set `receive_buffer`"),
    ("subflows = 4", "subflows = 4\nscheduler = \"redundant\"\nfaults = [\"join-syn-once\"]", "transport.amp.faults", 17, "another `scheduler`"),
    ("control = \"reno\"", "control = \"cubic\"\ncubic_rules = \"rfc\"", "transport.tcp.cubic_rules", 19, "rfc9438"),
    ("control = \"reno\"", "control = \"cubic\"\ncubic_c = 1e-9", "transport.tcp.cubic_c", 19, "steps of 10/1024"),
    ("control = \"reno\"", "control = \"cubic\"\ncubic_beta = 0.9999", "transport.tcp.cubic_beta", 19, "steps of 1/1024"),
    ("subflows = 4", "scheduler = \"fastest\"", "transport.amp.scheduler", 15, "round-robin"),
    ("subflows = 4", "subflows = 4\njoin_at = [\"5s\"]", "transport.amp.join_at", 16, "has 1 time, but `subflows = 4` has 3 beside the first"),
    ("subflows = 4", "subflows = 2\njoin_at = [\"2000000s\"]", "transport.amp.join_at.0", 16, "at most 1000000s"),
    ("subflows = 4", "subflows = 4\nbackup = [4]", "transport.amp.backup", 16, "the last is 3"),
    ("subflows = 4", "subflows = 2\nbackup = [0, 1]", "transport.amp.backup", 16, "names all subflows"),
    ("control = \"reno\"", "control = \"mmptcp\"\nsubflows = 2\nbackup = [1]\nswitch_bytes = \"1KB\"", "transport.tcp.backup", 20, "applies only to transports other than MMPTCP"),
    ("control = \"reno\"", "control = \"mmptcp\"\nswitch_bytes = \"1KB\"\njoin_after = \"1KB\"", "transport.tcp.join_after", 20, "whose switch opens the subflows"),
    ("subflows = 4", "subflows = \"auto\"\npaths = \"disjoint\"", "transport.amp.subflows", 15, "disjoint ones are others"),
    ("control = \"reno\"", "control = \"reno\"\npaths = \"plb\"", "transport.tcp.paths", 19, "take one of dctcp, dcm"),
    ("control = \"reno\"", "control = \"lia\"\npaths = \"reps\"", "transport.tcp.paths", 19, "lia asks for no ECN"),
    ("control = \"reno\"", "control = \"mmptcp\"\npaths = \"reps\"\nswitch_bytes = \"1KB\"", "transport.tcp.paths", 19, "MMPTCP scatters"),
    ("subflows = 4", "plb_rounds = 3", "transport.amp.plb_rounds", 15, "applies only to `paths = \"plb\"`"),
    ("subflows = 4", "paths = \"plb\"\nreps_buffer = 9", "transport.amp.reps_buffer", 16, "applies only to `paths = \"reps\"`"),
    ("subflows = 4", "paths = \"plb\"\nplb_idle_rounds = 0", "transport.amp.plb_idle_rounds", 16, "above zero"),
    ("subflows = 4", "paths = \"plb\"\nplb_congested = 1.5", "transport.amp.plb_congested", 16, "above 0 and at most 1"),
    ("subflows = 4", "paths = \"reps\"\nreps_buffer = 0", "transport.amp.reps_buffer", 16, "must be 1 to 65536"),
    ("subflows = 4", "subflows = \"auto\"\nbackup = [1]", "transport.amp.backup", 16, "write their number instead"),
    ("subflows = 4", "subflows = \"auto\"\njoin_at = [\"1s\"]", "transport.amp.join_at", 16, "write their number instead"),
    ("control = \"reno\"", "control = \"mmptcp\"\nsubflows = 2\nswitch_bytes = \"1KB\"\njoin_at = [\"1s\"]", "transport.tcp.join_at", 21, "whose switch opens the subflows"),
    ("subflows = 4", "dupack_threshold = 0", "transport.amp.dupack_threshold", 15, "above zero"),
    ("subflows = 4", "max_backoff = 0", "transport.amp.max_backoff", 15, "above zero"),
    ("subflows = 4", "srtt_gain = 0", "transport.amp.srtt_gain", 15, "above 0 and at most 1"),
    ("subflows = 4", "rttvar_gain = 1.5", "transport.amp.rttvar_gain", 15, "above 0 and at most 1"),
    ("control = \"reno\"", "control = \"dctcp\"\ng = 2", "transport.tcp.g", 19, "above 0 and at most 1"),
    ("control = \"reno\"", "control = \"dctcp\"\nalpha0 = 1.1", "transport.tcp.alpha0", 19, "0 to 1"),
    ("subflows = 4", "min_rto = \"130s\"", "transport.amp.min_rto", 15, "must not be above `max_rto`, 120s"),
    ("subflows = 4", "max_rto = \"900ms\"", "transport.amp.max_rto", 15, "`initial_rto`, 1s, must not be above"),
    ("subflows = 4", "min_rto = \"0s\"", "transport.amp.min_rto", 15, "above zero"),
    ("subflows = 4", "syn_timeout = \"0s\"", "transport.amp.syn_timeout", 15, "above zero"),
    ("subflows = 4", "syn_retries = 40", "transport.amp.syn_retries", 15, "lower it"),
    ("subflows = 4", "byte_counting_limit = 0", "transport.amp.byte_counting_limit", 15, "above zero, or \"unlimited\""),
    ("subflows = 4", "byte_counting_limit = \"none\"", "transport.amp.byte_counting_limit", 15, "such as 3, or \"unlimited\""),
    ("subflows = 4", "ack_every = 3", "transport.amp.ack_every", 15, "must be 1, an ACK per packet, or 2"),
    ("subflows = 4", "ack_delay = \"2000000s\"", "transport.amp.ack_delay", 15, "at most 1000000s"),
    // Workloads.
    ("transport = \"tcp\"", "transport = \"tpc\"", "workload.flow.0.transport", 28, "did you mean `tcp`? (known: amp, tcp)"),
    ("transport = \"tcp\"\n", "", "workload.flow.0.transport", 27, "write for example transport = \"amp\""),
    ("from = \"S1\"", "from = \"S31\"", "workload.flow.0.from", 29, "hosts are S1 to S30 and R, or their indices 0 to 30"),
    ("from = \"S1\"", "from = \"W\"", "workload.flow.0.from", 29, "\"W\" is a switch; hosts are"),
    ("from = \"S1\"", "from = 31", "workload.flow.0.from", 29, "there is no host 31"),
    ("from = \"S1\"\n", "", "workload.flow.0.from", 27, "write for example from = \"S1\""),
    ("from = \"S1\"", "from = 30", "workload.flow.0.to", 30, "from one host to another"),
    ("to = \"R\"", "to = \"R\"\ncount = 0", "workload.flow.0.count", 31, "above zero"),
    ("to = \"R\"", "to = \"R\"\ncount = 200000000", "workload.flow.0.count", 31, "at most 100000000"),
    ("size = \"128KiB\"", "size = {}", "workload.incast.0.size", 24, "exactly one of"),
    ("size = \"128KiB\"", "size = 3", "workload.incast.0.size", 24, "a distribution, such as"),
    ("size = \"128KiB\"", "size = { uniform = [\"1KB\"] }", "workload.incast.0.size.uniform", 24, "the smallest and the largest"),
    ("size = \"128KiB\"", "size = { uniform = [\"2KB\", \"1KB\"] }", "workload.incast.0.size.uniform", 24, "not smaller"),
    ("size = \"128KiB\"", "size = { uniform = [\"1KB\", \"2KB\"], name = \"x\" }", "workload.incast.0.size.name", 24, "`cdf`, which is not given"),
    ("size = \"128KiB\"", "size = { unifrm = [\"1KB\", \"2KB\"] }", "workload.incast.0.size.unifrm", 24, "did you mean `uniform`?"),
    ("size = \"128KiB\"", "size = { pareto = { shape = 1, mean = \"1MB\" } }", "workload.incast.0.size.pareto.shape", 24, "only above 1"),
    ("size = \"128KiB\"", "size = { pareto = { shape = 2, mean = \"1MB\", max = \"500KB\" } }", "workload.incast.0.size.pareto.max", 24, "above the smallest size, 500000B"),
    ("size = \"128KiB\"", "size = { cdf = \"websearch\", interpolation = \"linear\" }", "workload.incast.0.size.cdf", 24, "did you mean `websearch_opera`?"),
    ("size = \"128KiB\"", "size = { cdf = \"websearch_dctcp\" }", "workload.incast.0.size.interpolation", 24, "\"linear\" or \"stair\""),
    ("size = \"128KiB\"", "size = { cdf = \"websearch_dctcp\", interpolation = \"linear\", mean = \"2434900B\" }", "workload.incast.0.size.mean", 24, "1711250B"),
    ("size = \"128KiB\"", "size = { cdf = \"fb_kv\", interpolation = \"step\" }", "workload.incast.0.size.interpolation", 24, "known: linear, stair"),
    ("size = \"128KiB\"", "size = { cdf = [[0, 0], [9, 0.5], [8, 1]], interpolation = \"linear\" }", "workload.incast.0.size.cdf.2", 24, "the size 8 is below"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.stride]]\ntransport = \"tcp\"\nlabel = \"flow\"\nstep = 31", "workload.stride.0.step", 30, "1 to 30"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nat_most = 0", "workload.random.0.at_most", 30, "above zero"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.hotspot]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = 9\nhosts = [\"R\", 30]\nshare = 0.5", "workload.hotspot.0.hosts.1", 31, "stands here twice"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.hotspot]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = 9\nhosts = [\"R\"]\nshare = 2", "workload.hotspot.0.share", 32, "from 0 to 1"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.staggered]]\ntransport = \"tcp\"\nlabel = \"flow\"\nrack = 0.5\npod = 0.5", "workload.staggered.0.pod", 31, "write pod = 0.0"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.staggered]]\ntransport = \"tcp\"\nlabel = \"flow\"\nrack = 0.5\npod = 0.0", "workload.staggered.0.pod", 31, "must add up to 1"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nload = 1.5", "workload.poisson.0.load", 31, "allow_overload = true"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nflows_per_second = 3\nload = 0.5", "workload.poisson.0.load", 32, "is not the load of `flows_per_second` with flows of 1000000B in the mean"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nflows_per_second = 3\nflows_per_second_per_host = 1", "workload.poisson.0.flows_per_second_per_host", 32, "leave one out"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nflows_per_second_per_host = 0", "workload.poisson.0.flows_per_second_per_host", 31, "above zero"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nflows_per_second_per_host = 1e5", "workload.poisson.0.flows_per_second_per_host", 31, "write allow_overload = true"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nflows_per_second = 1\nto = \"other-racks\"", "workload.poisson.0.to", 32, "in one rack"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nto = \"other-racks\"", "workload.random.0.to", 30, "in one rack"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nto = \"permutation\"", "workload.random.0.to", 30, "[[workload.permutation]]"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"", "workload.poisson.0.flows_per_second", 27, "or else load = 0.5"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nrepeat = \"each\"", "workload.random.0.size", 27, "missing; write for example size"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nrepeat = \"each\"\nsize = \"unlimited\"", "workload.random.0.size", 31, "must end"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\ngap = \"1ms\"", "workload.random.0.gap", 30, "that `repeat` starts"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nrepeat = \"each\"\ngap = { lognormal = { mean = \"1ms\", sigma = 9 } }", "workload.random.0.gap.lognormal.sigma", 32, "from 0 to 5"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nrepeat = \"each\"\ngap = {}", "workload.random.0.gap", 32, "exactly one of"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nrole = \"long\"", "workload.random.0.role", 30, "no role is named"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.flow]]\ntransport = \"tcp\"\nrole = \"others\"\nfrom = \"S1\"\nto = \"R\"", "workload.flow.0.role", 29, "does not apply to flow"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.random]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsmall = { below = \"1KB\", transport = \"ampp\" }", "workload.random.0.small.transport", 30, "did you mean `amp`?"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.partition-aggregate]]\ntransport = \"tcp\"\nlabel = \"flow\"\nservers = 31", "workload.partition-aggregate.0.servers", 30, "only 30 hosts beside the client"),
    ("duration = \"20s\"", "duration = \"20s\"\nuntil = { flows = 10, label = \"x\" }", "until.label", 3, "no workload has the label"),
    ("duration = \"20s\"", "duration = \"20s\"\nroles = { a = 20, b = 0.5 }", "roles.b", 3, "16 hosts, but the topology has 31, of which 11 have no role yet"),
    ("duration = \"20s\"", "duration = \"20s\"\nroles = { a = 32 }", "roles.a", 3, "32 hosts, but the topology has 31"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.poisson]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nload = \"50%\"", "workload.poisson.0.load", 31, "expected a number"),
    ("[record]\n", "[transport.n]\ncontrol = \"ndp\"\n[[workload.flow]]\ntransport = \"n\"\nlabel = \"p\"\nfrom = \"S1\"\nto = \"R\"\npriority = \"high\"\n[record]\n", "workload.flow.1.priority", 39, "does not apply to NDP, whose packets have priorities by their kind"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\", start = \"20s\" }]", "workload.trace.0.flows", 30, "the first of its flows would start at 20s, and no flow"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\" }, { from = 0, to = 1, size = \"1B\", start = \"20s\" }, { from = 0, to = 1, size = \"1B\", start = \"21s\" }]", "workload.trace.0.flows", 30, "2 of its 3 flows would start at or after `duration`, 20s, the last at 21s: raise `duration`, or write beyond_end"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nbeyond_end = \"drop\"\nflows = [{ from = 0, to = 1, size = \"1B\", start = \"20s\" }]", "workload.trace.0.flows", 31, "the first of its flows would start at 20s, and no flow"),
    ("workload.flow]]\ntransport = \"tcp\"\n", "workload.flow]]\ntransport = \"tcp\"\npriority = \"high\"\n", "workload.flow.0.priority", 29, "applies where ports have priorities; write discipline"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\" }, { from = 0, to = 1, size = \"1B\", priority = \"low\" }]", "workload.trace.0.flows.1.priority", 30, "applies where ports have priorities"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1 }]", "workload.trace.0.flows.0", 30, "missing field `size`"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\n", "workload.trace.0.file", 27, "either a `file` of flows or `flows`"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nfile = \"none.csv\"", "workload.trace.0.format", 27, "missing; write for example format"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nfile = \"none.csv\"\nformat = \"csv\"", "workload.trace.0.file", 30, "none.csv: "),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 0, size = \"1B\" }]", "workload.trace.0.flows.0.to", 30, "from one host to another"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\", after = [7] }]", "workload.trace.0.flows.0.after.0", 30, "there is no flow 7"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\", after = [1], enough = 2 }, { from = 1, to = 0, size = \"1B\" }]", "workload.trace.0.flows.0.enough", 30, "2, but `after` has 1 flow; leave it out"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.trace]]\ntransport = \"tcp\"\nlabel = \"flow\"\nflows = [{ from = 0, to = 1, size = \"1B\", after = [0] }]", "workload.trace.0.flows.0.after", 30, "waits for itself"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.collective]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nalgorithm = \"halving-doubling-all-reduce\"\nranks = 12", "workload.collective.0.ranks", 32, "a power of 2, not 12"),
    ("[record]\n", "[transport.n]\ncontrol = \"ndp\"\n[[workload.collective]]\ntransport = \"n\"\nlabel = \"c\"\nsize = \"1MB\"\nalgorithm = \"all-to-all\"\npersistent = true\n[record]\n", "workload.collective.0.persistent", 39, "NDP has no connections that stay open"),
    ("workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"", "workload.collective]]\ntransport = \"tcp\"\nlabel = \"flow\"\nsize = \"1MB\"\nalgorithm = \"ring-all-reduce\"\nranks = 32", "workload.collective.0.ranks", 32, "32 ranks among 31 hosts"),
    ("to = \"R\"", "to = \"R\"\nsize = \"0B\"", "workload.flow.0.size", 31, "at least \"1B\""),
    ("to = \"R\"", "to = \"R\"\nstart = \"20s\"", "workload.flow.0.start", 31, "not before `duration`, 20s"),
    ("to = \"R\"", "to = \"R\"\nstart = \"2s\"\nstop = \"2s\"", "workload.flow.0.stop", 32, "not after the start"),
    ("receiver = \"R\"", "receiver = \"X\"", "workload.incast.0.receiver", 23, "there is no host \"X\""),
    ("senders = 30\nreceiver", "senders = 31\nreceiver", "workload.incast.0.senders", 22, "only 30 hosts beside the receiver"),
    ("senders = 30\nreceiver", "senders = 0\nreceiver", "workload.incast.0.senders", 22, "above zero"),
    ("size = \"128KiB\"", "size = \"unlimited\"", "workload.incast.0.size", 24, "must end"),
    ("size = \"128KiB\"", "size = \"0B\"", "workload.incast.0.size", 24, "above zero"),
    ("every = \"1s\"\n", "", "workload.incast.0.every", 20, "write for example every = \"1s\""),
    ("every = \"1s\"\n", "every = \"0s\"\n", "workload.incast.0.every", 25, "above zero"),
    ("every = \"1s\"\n", "every = \"1ps\"\n", "workload.incast.0.every", 25, "at most 100000000"),
    ("every = \"1s\"\n", "every = \"1s\"\nbursts = 21\n", "workload.incast.0.bursts", 26, "no flow starts at or after `duration`, 20s"),
    ("every = \"1s\"\n", "every = \"1s\"\nbursts = 0\n", "workload.incast.0.bursts", 26, "above zero"),
    ("every = \"1s\"\n", "every = \"1s\"\nspacing = \"1s\"\n", "workload.incast.0.spacing", 26, "would start at 29s"),
    ("every = \"1s\"\n", "every = \"1s\"\nstart = \"30s\"\n", "workload.incast.0.start", 26, "not before `duration`"),
    // Records.
    ("labels = [\"flow\"]", "labels = [\"flows\"]", "record.cwnd.labels.0", 33, "did you mean `flow`?"),
    ("labels = [\"flow\"]", "labels = []", "record.cwnd.labels", 33, "leave it out to record all flows"),
    ("every = \"10us\", labels", "every = \"0us\", labels", "record.cwnd.every", 33, "above zero"),
    ("every = \"10us\", labels", "labels", "record.cwnd.every", 33, "write for example every = \"10us\""),
    ("every = \"10us\", labels", "every = \"10us\", from = \"2s\", until = \"1s\", labels", "record.cwnd.until", 33, "must be after `from`, 2s"),
    ("every = \"10us\", labels", "every = \"10us\", from = \"20s\", labels", "record.cwnd.from", 33, "not before the end of the run at 20s"),
    ("\"W->R\"", "\"W-R\"", "record.queue.links.0", 34, "written FROM->TO, as in \"S1->W\""),
    ("\"W->R\"", "\"W->Q\"", "record.queue.links.0", 34, "no host or switch is named \"Q\""),
    ("\"W->R\"", "\"S1->R\"", "record.queue.links.0", 34, "S1 is linked to W"),
    ("[\"W->R\"]", "[]", "record.queue.links", 34, "names no link"),
];

/// Another, with the kinds that [`GOOD`] lacks.
const OTHER: &str = r#"duration = "1s"

[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"

[transport.xmp]
control = "xmp"

[[workload.many-to-one]]
transport = "xmp"
flows = 15
first = 1
receiver = "h0"

[[workload.permutation]]
transport = "xmp"

[[workload.poisson]]
transport = "xmp"
flows_per_second = 1000
size = "70KB"
"#;

#[rustfmt::skip]
const OTHER_CASES: &[Case] = &[
    ("k = 4", "k = 5", "topology.fat-tree.k", 4, "an even number of ports, 2 or more"),
    ("k = 4", "k = 0", "topology.fat-tree.k", 4, "an even number of ports, 2 or more"),
    ("k = 4", "k = 200", "topology.fat-tree.k", 4, "at most 1048576"),
    ("k = 4", "hosts_per_edge = 2", "topology.fat-tree.k", 3, "write for example k = 8"),
    ("k = 4", "k = 4\nhosts_per_edge = 0", "topology.fat-tree.hosts_per_edge", 5, "above zero"),
    ("flows = 15", "flows = 16", "workload.many-to-one.0.flows", 13, "16 senders from host 1 on: 17 hosts, but the topology has 16"),
    ("flows = 15", "flows = 0", "workload.many-to-one.0.flows", 13, "above zero"),
    ("flows = 15\n", "", "workload.many-to-one.0.flows", 11, "write for example flows = 30"),
    ("first = 1", "first = 0", "workload.many-to-one.0.receiver", 15, "is host 0, one of the senders, hosts 0 to 14"),
    ("first = 1", "first = 1\nspacing = \"100ms\"", "workload.many-to-one.0.spacing", 15, "would start at 1.4s"),
    ("receiver = \"h0\"\n", "", "workload.many-to-one.0.receiver", 11, "write for example receiver = \"h0\""),
    ("\"h0\"", "\"h16\"", "workload.many-to-one.0.receiver", 15, "hosts are h0 to h15"),
    ("[[workload.permutation]]", "[[workload.permutation]]\njitter = \"1s\"", "workload.permutation.0.jitter", 18, "would start at 1s"),
    ("[[workload.permutation]]", "[[workload.permutation]]\nsize = 3", "workload.permutation.0.size", 18, "or \"unlimited\", found 3"),
    ("flows_per_second = 1000", "flows_per_second = 0", "workload.poisson.0.flows_per_second", 22, "above zero"),
    ("flows_per_second = 1000", "flows_per_second = inf", "workload.poisson.0.flows_per_second", 22, "expected a finite number, found inf"),
    ("flows_per_second = 1000", "flows_per_second = 1e10", "workload.poisson.0.flows_per_second", 22, "at most 100000000"),
    ("flows_per_second = 1000", "flows_per_second = \"1000\"", "workload.poisson.0.flows_per_second", 22, "expected a number"),
    ("flows_per_second = 1000\n", "", "workload.poisson.0.flows_per_second", 20, "write for example flows_per_second = 1000"),
    ("size = \"70KB\"\n", "", "workload.poisson.0.size", 20, "write for example size = \"100KB\""),
    // One mistake, not the errors that follow from it.
    ("[transport.xmp]", "[transports.xmp]", "transports", 8, "did you mean `transport`?"),
    ("[transport.xmp]\ncontrol = \"xmp\"", "[transport]\nxmp = \"xmp\"", "transport.xmp", 9, "expected a table"),
];

fn errors(text: &str) -> Vec<linkpool_scenario::ScenarioError> {
    load(text, "good.toml", None, &[]).err().unwrap_or_default()
}

#[test]
fn the_scenarios_without_mistakes_are_good() {
    assert_eq!(errors(GOOD), []);
    assert_eq!(errors(OTHER), []);
}

#[test]
fn each_mistake_is_named_at_its_line_with_its_remedy() {
    let mut wrong = Vec::new();
    let cases = CASES.iter().map(|case| (GOOD, case)).chain(OTHER_CASES.iter().map(|case| (OTHER, case)));
    for (scenario, (good, bad, key, line, says)) in cases {
        assert_eq!(scenario.matches(good).count(), 1, "{good:?} is not in the scenario exactly once");
        let errors = errors(&scenario.replacen(good, bad, 1));
        let line = Some(*line).filter(|line| *line > 0);
        let found = matches!(&errors[..], [e] if e.key == *key && e.line == line && e.message.contains(says));
        if !found {
            wrong.push(format!("{bad:?}: {errors:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are not:\n{}", wrong.len(), wrong.join("\n"));
}

/// `leaving` needs the weight 1. A weight that cannot be read is one mistake, of its own key.
#[test]
fn a_value_that_cannot_be_read_is_compared_with_nothing() {
    let with = |weight: &str| {
        errors(&format!(
            "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n[queue]\nlimit = 100\n\
             red = {{ min = 5, max = 15, weight = {weight}, gentle = false, leaving = true }}\n[transport.t]\ncontrol = \"dctcp\"\n\
             [[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1MB\"\n"
        ))
    };
    assert_eq!(with("1.0"), []);
    let keys = |weight: &str| with(weight).into_iter().map(|error| error.key).collect::<Vec<_>>();
    assert_eq!(keys("0.5"), ["queue.red.leaving"]);
    for weight in ["nan", "inf", "\"one\"", "[]"] {
        assert_eq!(keys(weight), ["queue.red.weight"], "{weight}");
    }
}

#[test]
fn a_misspelt_workload_is_one_mistake_even_if_a_record_names_it() {
    let text = GOOD.replace("workload.", "workloads.");
    let errors = errors(&text);
    assert!(matches!(&errors[..], [e] if e.key == "workloads" && e.line == Some(20)), "{errors:#?}");
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_the_file() {
    let mut text = GOOD.to_string();
    for (good, bad) in [
        ("senders = 30\nrate", "senders = \"many\"\nrate"),
        ("limit = 100", "limt = 100"),
        ("subflows = 4", "beta = 0"),
        ("transport = \"tcp\"", "transport = \"quic\""),
        ("size = \"128KiB\"", "size = 128"),
    ] {
        text = text.replacen(good, bad, 1);
    }
    let found: Vec<_> = errors(&text).into_iter().map(|e| (e.line.unwrap_or(0), e.key)).collect();
    let found: Vec<_> = found.iter().map(|(line, key)| (*line, key.as_str())).collect();
    assert_eq!(
        found,
        [
            (5, "topology.many-to-one.senders"),
            (10, "queue.limt"),
            (15, "transport.amp.beta"),
            (24, "workload.incast.0.size"),
            (28, "workload.flow.0.transport"),
        ]
    );
}

#[test]
fn an_error_reads_like_a_compilers() {
    let errors = errors(&GOOD.replace("mark = 10", "mark = 101"));
    assert_eq!(
        errors[0].to_string(),
        "good.toml:11: queue.mark: above `limit`, so that packets are dropped and none is ever marked; \
         lower `mark` or raise `limit`"
    );
    let errors = load("", "empty.toml", None, &[]).unwrap_err();
    assert_eq!(errors[0].to_string(), "empty.toml: duration: missing; write for example duration = \"20s\"");
    let keys: Vec<_> = errors.iter().map(|e| e.key.as_str()).collect();
    assert_eq!(keys, ["duration", "topology", "workload"]);
    let workloads =
        errors[2].message.strip_prefix("missing, so that no flow starts; write [[workload.flow]], incast, ");
    assert!(
        workloads.is_some_and(|all| all.ends_with(", program, collective, training, inference or session")),
        "{workloads:?}"
    );
    let topologies = "missing; write exactly one of [topology.many-to-one], traffic-shift, dumbbell, ";
    assert!(errors[1].message.starts_with(topologies), "{}", errors[1].message);
    assert!(errors[1].message.ends_with(", xpander, ring, triangle or graph"), "{}", errors[1].message);
}

#[test]
fn impossible_packets_do_not_trip_up_the_check_of_queues_in_packets_and_bytes() {
    for (queue, keys) in
        [("limit = \"1KB\"\nmark = 1", "ack_size = \"0B\""), ("mark = \"1KB\"", "header = \"4294967295B\"")]
    {
        let text = GOOD.replace("limit = 100\nmark = 10", queue).replace("subflows = 4", keys);
        let keys: Vec<_> = errors(&text).into_iter().map(|e| e.key).collect();
        assert!(keys[0].starts_with("transport.amp."), "{keys:?}");
    }
}

/// Each key that is wrong in a value is named, and not only the first.
#[test]
fn several_mistakes_in_one_value_are_all_named() {
    for (bad, found) in [
        (
            "{ transport = \"tcp\", flows = [{ from = 0, to = 1, size = \"1B\", sizes = 1, frm = 0 }] }",
            ["sizes", "frm"],
        ),
        (
            "{ transport = \"tcp\", flows = [{ from = 0, to = 1, after = [\"x\"], size = \"1B\", frm = 0 }] }",
            ["after.0", "frm"],
        ),
    ] {
        let errors = errors(&format!("{GOOD}[workload]\ntrace = [{bad}]\n").replace("[[workload.", "[[workload2."));
        let keys: Vec<_> = errors.iter().filter_map(|e| e.key.strip_prefix("workload.trace.0.flows.0.")).collect();
        assert_eq!(keys, found, "{errors:#?}");
    }
}

#[test]
fn a_workload_without_any_transport_asks_for_its_own() {
    let (before, rest) = GOOD.split_once("[transport.amp]").unwrap();
    let text = format!("{before}{}", &rest[rest.find("[[workload.incast]]").unwrap()..]);
    let errors = errors(&text);
    let message = "no transport is defined; write [transport.amp] with its `control`";
    assert!(errors.iter().any(|e| e.key == "workload.incast.0.transport" && e.message == message), "{errors:#?}");
}

#[test]
fn packets_that_switches_trim_are_not_captured() {
    let captured = |keys: &str| {
        let text = GOOD.replace("limit = 100\nmark = 10", "discipline = \"trimming\"");
        let text = text.replace("control = \"reno\"", &format!("control = \"reno\"\n{keys}"));
        errors(&text.replace("[record]", "[record]\ncapture = {}"))
    };
    assert_eq!(captured(""), []);
    let errors = captured("trimming = true");
    let message = "packets of transport \"tcp\" (`trimming = true`) cannot be captured; leave `capture` out, or write packets = false";
    assert!(matches!(&errors[..], [e] if e.key == "record.capture" && e.message.starts_with(message)), "{errors:#?}");
}

/// A value at its bound is good.
#[test]
fn values_at_their_bounds_are_good() {
    for (good, bound) in [
        ("duration = \"20s\"", "duration = \"999999s\"\ndrain = \"1s\""),
        ("subflows = 4", "subflows = 4\nrecovery = \"newreno\"\nfaults = [\"dupacks-kept\"]"),
        // 10 Gbps times 1e-10 is 1 bit/s.
        ("[record]", "[[change]]\nnodes = [\"W\"]\nrate_factor = 1e-10\n[record]"),
        (
            "limit = 100\nmark = 10",
            "limit = \"4100B\"\nmark = 100\n[transport.small]\ncontrol = \"reno\"\nheader = \"40B\"",
        ),
        // None of the ports that share a buffer is drawn.
        (
            "limit = 100\nmark = 10",
            "shared_buffer = { size = \"1MB\" }\n[[change]]\nbetween = \"host<->switch\"\nshare = 0.0\nlimit = 9",
        ),
    ] {
        assert_eq!(errors(&GOOD.replacen(good, bound, 1)), [], "{bound}");
    }
}

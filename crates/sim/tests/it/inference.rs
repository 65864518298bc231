//! Requests to a model: times worked out by hand, what is not answered, and threads.

use crate::common::written::{differ, written};
use crate::common::{Kept, scenario};
use crate::programs::beside;
use linkpool_scenario::Scenario;
use linkpool_sim::{Plan, RequestOutcome, Sink, Value, simulate};
use linkpool_units::Time;

/// Hosts `S1` to `S3` and `R` at one switch, 1 Gbps, 10 us a link, packets of 1,000 bytes with 40
/// of them headers and ACKs of 40, one for each packet.
const FOUR_HOSTS: &str = "duration = \"9ms\"\ndrain = \"9ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\n\
    delay = \"10us\"\n[transport.t]\ncontrol = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\n\
    ack_every = 1\ninitial_window = 1000\n";

/// A token of a prompt has a tenth of a packet of keys and values and takes 1 us, and a prompt 5 us
/// more. A step takes 48 us, and 2 us for each sequence.
const MODEL: &str = "[[workload.inference]]\ntransport = \"t\"\nfile = \"r.csv\"\nprefill_time = \"5us\"\n\
    prefill_time_per_token = \"1us\"\nkv_per_token = \"96B\"\ndecode_time = \"48us\"\ndecode_time_per_sequence = \"2us\"\n";

/// Outcomes with those of requests.
#[derive(Default)]
struct All {
    kept: Kept,
    requests: Vec<RequestOutcome>,
}

impl Sink for All {
    fn sample(&mut self, sample: linkpool_sim::Sample) {
        self.kept.sample(sample);
    }
    fn flow(&mut self, flow: linkpool_sim::FlowOutcome) {
        self.kept.flow(flow);
    }
    fn job(&mut self, job: linkpool_sim::JobOutcome) {
        self.kept.job(job);
    }
    fn request(&mut self, request: RequestOutcome) {
        self.requests.push(request);
    }
}

fn all(scenario: &Scenario) -> All {
    let (plan, mut all) = (Plan::new(scenario), All::default());
    simulate(&plan, &plan.timetable(), 1, &mut all, &mut |_| true).unwrap();
    all
}

/// Requests of which each has a line.
fn requests(keys: &str, lines: &str) -> Scenario {
    let csv = format!("arrival_s,prompt_tokens,output_tokens\n{lines}");
    beside(&format!("{FOUR_HOSTS}{MODEL}{keys}"), &[("r.csv", csv.as_bytes())])
}

fn us(time: Option<Time>) -> f64 {
    time.unwrap().secs() * 1e6
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
}

/// From the start of a transfer of so many packets on a new connection until it has arrived.
fn transfer(packets: f64) -> f64 {
    let handshake = 4.0 * 10.32 + 0.32;
    handshake + packets * 8.0 + 10.0 + 8.0 + 10.0
}

/// A prompt of 100 tokens comes at 7 us: computed at 112 us. Its ten packets of keys and values
/// have arrived 149.6 us later, at 261.6, and a step later the first of three tokens is there. So
/// the time to the first token is prefill, transfer and a step; with `first_token = "prefill"` it
/// is prefill alone, and the decode instance generates two.
#[test]
fn a_lone_request_takes_its_prefill_a_transfer_and_a_step() {
    let pools = "prefill = 1\ndecode = 1\n";
    let done = all(&requests(pools, "0.000007,100,3\n"));
    let [request] = done.requests[..] else { panic!("{:?}", done.requests) };
    close(us(request.sent), 112.0);
    close(us(request.arrived), 112.0 + transfer(10.0));
    close(us(request.first_token), 261.6 + 50.0);
    close(us(request.end), 261.6 + 150.0);
    assert_eq!((request.tokens, request.decode), (3, Some(0)));
    let [flow] = &done.kept.flows[..] else { panic!("{}", done.kept.flows.len()) };
    assert_eq!((flow.planned.flow.size, flow.planned.flow.job), (Some(9_600), Some(0)));

    let early = all(&requests(&format!("{pools}first_token = \"prefill\"\n"), "0.000007,100,3\n"));
    close(us(early.requests[0].first_token), 112.0);
    close(us(early.requests[0].end), 261.6 + 100.0);
    assert_eq!(early.requests[0].tokens, 3);
}

/// With the first token of prefill, a request for one token needs no decode instance.
#[test]
fn a_request_for_the_first_token_ends_with_prefill() {
    let keys = "prefill = 2\ndecode = 1\nfirst_token = \"prefill\"\n";
    let done = all(&requests(keys, "0,100,1\n0.00001,50,1\n"));
    assert!(done.kept.flows.is_empty());
    let ends: Vec<_> = done.requests.iter().map(|r| (r.request, us(r.end), r.tokens, r.decode)).collect();
    assert_eq!(ends, [(1, 65.0, 1, None), (0, 105.0, 1, None)]);
}

/// Two requests for one prefill instance: the second is computed from 105 to 260 us. Its 15
/// packets, on a connection of their own, are there at 449.6, in the midst of the fourth step of
/// the first, which began its steps at 254.6. It joins the batch at 454.6, for a step of 52 us,
/// with the fifth token of the first.
#[test]
fn requests_wait_for_prefill_and_for_the_end_of_a_step() {
    let done = all(&requests("prefill = 1\ndecode = 1\npersistent = false\n", "0,100,5\n0.00001,150,1\n"));
    let [first, second] = done.requests[..] else { panic!("{:?}", done.requests) };
    let begin = 105.0 + transfer(10.0);
    close(us(first.first_token), begin + 50.0);
    close(us(second.sent), 260.0);
    close(us(second.arrived), 260.0 + transfer(15.0));
    close(us(second.first_token), begin + 200.0 + 52.0);
    assert_eq!((first.end, first.request, second.request), (second.end, 0, 1));
}

/// The steps of these two requests: four of 50 us with one sequence, then one of 52 us with both. On a shorter run the fourth
/// is cut off after 15.4 us of its computation.
#[test]
fn steps_are_recorded_with_their_batches() {
    let keys = "prefill = 1\ndecode = 1\npersistent = false\n[record]\nsteps = true\n";
    let scenario = requests(keys, "0,100,5\n0.00001,150,1\n");
    let begin = 105.0 + transfer(10.0);
    let steps = |scenario: &Scenario| -> Vec<_> {
        let of = |sample: linkpool_sim::Sample| {
            let Value::Step(of) = sample.value else { panic!("{sample:?}") };
            let micros = |time: Time| us(Some(time));
            (
                of.step.number,
                micros(of.start),
                micros(sample.at),
                micros(of.computed),
                of.step.sequences,
                of.step.joined,
                of.over,
            )
        };
        all(scenario).kept.samples.into_iter().map(of).collect()
    };
    let found = steps(&scenario);
    assert_eq!(found.len(), 5);
    for ((i, found), (sequences, joined)) in (0..).zip(&found).zip([(1, 1), (1, 0), (1, 0), (1, 0), (2, 1)]) {
        let (start, time) = (begin + 50.0 * f64::from(i), if sequences == 2 { 52.0 } else { 50.0 });
        close(found.1, start);
        close(found.2, start + time);
        close(found.3, time);
        assert_eq!((found.0, found.4, found.5, found.6), (i, sequences, joined, true));
    }
    let short = Scenario { duration: Time::from_us(400), drain: Time::from_us(20), ..scenario };
    let cut = steps(&short);
    assert_eq!(cut[..3], found[..3]);
    let [.., last] = cut[..] else { panic!("none") };
    assert_eq!((cut.len(), last.0, last.2, last.6), (4, 3, 420.0, false));
    close(last.1, begin + 150.0);
}

/// With experts, whatever the threads: the tokens of steps are those of requests, steps of an instance follow one another, and
/// none computes for longer than it takes.
#[test]
fn steps_generate_the_tokens_of_requests() {
    let keys = "prefill = 1\ndecode = 2\nbatch = 3\nexperts = { number = 4, top_k = 2, dispatch = \"100B\", combine = \"200B\", \
        time_per_token = \"3us\" }\n[record]\nsteps = true\n";
    let lines: String = (0..12).map(|i| format!("{},{},{}\n", f64::from(i) * 4e-5, 20 + 10 * i, 1 + i % 5)).collect();
    let scenario = requests(keys, &lines);
    let found = all(&scenario);
    let steps: Vec<_> =
        found.kept.samples.iter().map(|s| if let Value::Step(of) = s.value { (s.at, of) } else { panic!() }).collect();
    let tokens: u32 = steps.iter().filter(|(_, of)| of.over).map(|(_, of)| of.step.sequences).sum();
    assert_eq!(tokens, found.requests.iter().map(|request| request.tokens).sum::<u32>());
    assert_eq!(steps.iter().map(|(_, of)| of.step.joined).sum::<u32>(), 12);
    for instance in 0..2 {
        let own: Vec<_> = steps.iter().filter(|(_, of)| of.instance == instance).collect();
        assert!(own.iter().all(|(end, of)| of.start < *end && of.computed <= *end - of.start));
        assert!(
            own.windows(2).all(|two| two[1].1.start >= two[0].0 && two[1].1.step.number == two[0].1.step.number + 1)
        );
    }
    // An instance without sequences takes part for its experts.
    assert!(steps.iter().any(|(_, of)| of.step.sequences == 0));
    let (one, two) = (written(&scenario, 1), written(&scenario, 2));
    assert!(one.contains_key("decode_steps.parquet"));
    assert_eq!(differ(&one, &two), [] as [&str; 0]);
}

/// Each of two decode instances gets a request, as neither has one. The second is answered first,
/// so the third goes to the same instance. Then both have one: the fourth goes to the one that has
/// got none for longer.
#[test]
fn requests_go_to_the_decode_instance_with_the_fewest() {
    let keys = "prefill = 1\ndecode = 2\nbatch = 1\n";
    let done = all(&requests(keys, "0,100,40\n0,100,1\n0.002,100,1\n0.002,100,1\n"));
    let mut instances: Vec<_> = done.requests.iter().map(|r| (r.request, r.decode.unwrap())).collect();
    instances.sort_unstable();
    assert_eq!(instances, [(0, 0), (1, 1), (2, 1), (3, 0)]);
}

/// Prompts are spread over two prefill instances, and flows leave from each.
#[test]
fn each_instance_is_a_host() {
    let keys = "prefill = 2\ndecode = 1\nhosts = [\"R\", \"S1\", \"S3\"]\n";
    let scenario = requests(keys, "0,100,1\n0,100,1\n");
    let done = all(&scenario);
    let names = |host: linkpool_network::HostId| scenario.topology.fabric().name(host.into()).to_string();
    let ends: Vec<_> = done.kept.flows.iter().map(|f| (names(f.planned.flow.src), names(f.planned.flow.dst))).collect();
    assert!(ends.contains(&("R".into(), "S3".into())) && ends.contains(&("S1".into(), "S3".into())), "{ends:?}");
}

/// Steps go on in the time to drain; what the run cuts off has what there was: a request that waits
/// for prefill, one that is on its way, and one that has some tokens.
#[test]
fn unanswered_requests_have_what_there_was() {
    let whole = requests("prefill = 1\ndecode = 1\n", "0,100,100\n");
    assert_eq!(all(&whole).requests[0].tokens, 100);
    let text = |lines: &str| {
        let mut scenario = requests("prefill = 1\ndecode = 1\n", lines);
        (scenario.duration, scenario.drain) = (Time::from_us(400), Time::ZERO);
        all(&scenario).requests
    };
    // Steps end at 304.6 and 354.6. The second was sent at 210 and has joined since, or waits; the
    // third is computed from 210 to 315, and arrives after 400.
    let cut = text("0,100,100\n0.00001,100,9\n0.00002,100,9\n0.00003,100,9\n");
    let found: Vec<_> =
        cut.iter().map(|r| (r.request, r.tokens, r.end, r.sent.is_some(), r.arrived.is_some())).collect();
    assert_eq!(
        found,
        [(0, 2, None, true, true), (1, 0, None, true, true), (2, 0, None, true, false), (3, 0, None, false, false)]
    );
    assert!(cut.iter().all(|r| r.active_until == Time::from_us(400)));
}

/// Eight hosts on four leaves.
const LEAVES: &str = "duration = \"3ms\"\ndrain = \"20ms\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2\n\
    rate = \"10Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"dctcp\"\n";

const POISSON: &str = "[[workload.inference]]\ntransport = \"t\"\nlabel = \"chat\"\nprefill = 3\ndecode = 4\nrequests_per_second = 20000\n\
    prompt_tokens = { uniform = [10, 300] }\noutput_tokens = { lognormal = { mean = 5, sigma = 0.5, max = 20 } }\n\
    prefill_time_per_token = \"500ns\"\nkv_per_token = \"1KB\"\nbatch = 4\ndecode_time = \"20us\"\n\
    experts = { number = 8, top_k = 2, layers = 2, dispatch = \"1KB\", combine = \"2KB\", zipf = 1.0 }\n";

/// Bytes are those of the tokens: keys and values of each prompt, and of tokens on their way to
/// experts and back, two of each for every token of every layer that leaves its host.
#[test]
fn bytes_are_those_of_tokens() {
    let scenario = scenario(&format!("{LEAVES}{POISSON}"));
    let plan = Plan::new(&scenario);
    let done = all(&scenario);
    let serving = &plan.served[0].serving;
    assert_eq!(done.requests.len(), serving.requests.len());
    assert!(done.requests.len() > 30, "{}", done.requests.len());
    for outcome in &done.requests {
        let request = &serving.requests[outcome.request as usize];
        assert_eq!(outcome.tokens, request.output);
        let times = [Some(request.end), outcome.sent, outcome.arrived, outcome.first_token, outcome.end];
        assert!(times[0] == times[1] && times.iter().flatten().is_sorted(), "{times:?}");
    }
    let bytes = |label: &str| {
        let flows = done.kept.flows.iter().filter(|f| plan.labels[f.planned.label.index()] == label);
        flows.map(|f| f.planned.flow.size.unwrap()).collect::<Vec<u64>>()
    };
    let prompts: u64 = serving.requests.iter().map(|r| u64::from(r.prompt)).sum();
    assert_eq!(bytes("chat").iter().sum::<u64>(), 1_000 * prompts);
    // Messages without tokens have a byte.
    let experts = bytes("chat experts");
    let data: u64 = experts.iter().filter(|size| **size > 1).sum();
    assert!(experts.len().is_multiple_of(4 * 3 * 2) && data.is_multiple_of(3_000));
    let tokens: u64 = serving.requests.iter().map(|r| u64::from(r.output)).sum();
    // Expert e is on host e mod 4: with Zipf's law host 0 has 1 and 1/5 of 2.72, so a token of
    // another host has a good chance to go there; a quarter or so stays.
    let share = data as f64 / (3_000 * tokens * 2 * 2) as f64;
    assert!((0.6..0.9).contains(&share), "{share}");
}

/// All tokens choose the expert of one host: it gets all dispatches, and sends all combines.
#[test]
fn a_hot_expert_makes_a_hot_host() {
    let weights = "weights = [0.0, 1.0, 0.0, 0.0]";
    let hot = POISSON.replace("zipf = 1.0", weights).replace("number = 8, top_k = 2", "number = 4");
    let scenario = scenario(&format!("{LEAVES}{hot}"));
    let plan = Plan::new(&scenario);
    let done = all(&scenario);
    let host = plan.served[0].serving.decode[1];
    let with_data = done.kept.flows.iter().map(|f| &f.planned).filter(|f| f.label == plan.served[0].experts_label);
    let with_data: Vec<_> = with_data.map(|f| &f.flow).filter(|f| f.size > Some(1)).collect();
    assert!(with_data.iter().all(|f| (f.src == host) != (f.dst == host)));
    let to: u64 = with_data.iter().filter(|f| f.dst == host).map(|f| f.size.unwrap()).sum();
    let from: u64 = with_data.iter().filter(|f| f.src == host).map(|f| f.size.unwrap()).sum();
    assert!(to > 0 && from == 2 * to, "{to} {from}");
}

/// The same files on any number of threads, with a training job on the hosts that are left and one
/// on the same hosts.
#[test]
fn requests_on_any_number_of_threads() {
    let training = "[[workload.training]]\ntransport = \"t\"\ndp = 4\nplacement = \"spread\"\nforward = \"10us\"\n\
        gradients = \"100KB\"\niterations = 3\n";
    let scenario = scenario(&format!("{LEAVES}{training}{POISSON}{}", POISSON.replace("chat", "code")));
    let plan = Plan::new(&scenario);
    assert!(plan.partitions(&plan.timetable(), 3).of_host(linkpool_network::HostId::new(7)) > 0);
    let one = written(&scenario, 1);
    for threads in [2, 3] {
        assert_eq!(differ(&one, &written(&scenario, threads)), [] as [&str; 0], "{threads} threads");
    }
}

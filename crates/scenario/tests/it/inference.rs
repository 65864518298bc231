//! Inference: what is refused, and what comes from files.

use crate::graph::directory;
use linkpool_scenario::{Scenario, ScenarioError, WorkloadKind, load, sha256};
use linkpool_units::{HostId, Time};
use linkpool_workload::kinds::Inference;

const HEAD: &str = "duration = \"10ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 3\nrate = \"1Gbps\"\n\
    delay = \"1us\"\n[transport.t]\ncontrol = \"reno\"\n";

const MODEL: &str = "[[workload.inference]]\ntransport = \"t\"\nprefill_time_per_token = \"1us\"\nkv_per_token = \"1KB\"\n\
    decode_time = \"1ms\"\n";

const REQUESTS: &[u8] = b"arrival_s,prompt_tokens,output_tokens\n0,7,8\n";

/// The scenario with these keys, beside files; and the one that it is as run.
fn both(test: &str, keys: &str, files: &[(&str, &[u8])]) -> Result<[Scenario; 2], Vec<ScenarioError>> {
    let directory = directory(test);
    for (name, content) in files {
        std::fs::write(directory.join(name), content).unwrap();
    }
    let path = directory.join("x.toml");
    let load = |text: &str| load(text, path.to_str().unwrap(), None, &[]);
    let loaded = load(&format!("{HEAD}{MODEL}{keys}")).and_then(|first| Ok([load(&first.to_toml())?, first]));
    std::fs::remove_dir_all(&directory).unwrap();
    loaded.map(|[again, first]| [first, again])
}

fn inference(scenario: &Scenario) -> Inference {
    match &scenario.workloads[0].kind {
        WorkloadKind::Inference(inference) => inference.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_inference_is_refused() {
    let pools = "prefill = 2\ndecode = 4\n";
    let rate = format!("{pools}requests_per_second = 100\n");
    let experts = |more: &str| format!("{rate}experts = {{ dispatch = \"1KB\", {more} }}\n");
    for (keys, key, message) in [
        ("decode = 1\nrequests_per_second = 1\n", "prefill", "missing; write for example prefill = 2"),
        (pools, "requests_per_second", "missing; write for example requests_per_second = 100, or else file ="),
        (&rate.replace("4", "5"), "decode", "the last of the 7 instances would be on host number 6"),
        (&format!("{rate}hosts = [0, 1, 2, 3, 4]\n"), "hosts", "5 hosts for the 6 instances"),
        (&format!("{rate}hosts = [0, 1, 2, 3, 4, 4]\n"), "hosts", "two ranks are on one host"),
        (
            &format!("{rate}placement = \"random\"\nfirst_host = 1\n"),
            "first_host",
            "applies only to `placement = \"linear\"` or",
        ),
        (&rate.replace("100", "0"), "requests_per_second", "0 is no rate"),
        (&rate.replace("100", "1e12"), "requests_per_second", "makes 10000000000 flows"),
        (&format!("{rate}file = \"r.csv\"\n"), "requests_per_second", "there is `file`, too; leave one out"),
        (
            &format!("{pools}file = \"r.csv\"\nprompt_tokens = 7\n"),
            "prompt_tokens",
            "applies only to requests without a `file`",
        ),
        (&format!("{pools}file = \"s.csv\"\n"), "file", "s.csv: cannot be read"),
        (&format!("{rate}sha256 = \"0\"\n"), "sha256", "applies only to requests of a `file`"),
        (&format!("{pools}file = \"r.csv\"\nsha256 = \"0\"\n"), "file", "r.csv: has the SHA-256"),
        (&format!("{rate}prompt_tokens = 0\n"), "prompt_tokens", "0: must be from 1 to 100000000 tokens"),
        (
            &format!("{rate}prompt_tokens = {{ uniform = [5, 4] }}\n"),
            "prompt_tokens.uniform",
            "write the least and the",
        ),
        (
            &format!("{rate}prompt_tokens = {{ lognormal = {{ mean = 9, sigma = 6, max = 99 }} }}\n"),
            "prompt_tokens.lognormal.sigma",
            "6: must be from 0 to 5",
        ),
        (
            &format!("{rate}prompt_tokens = {{ lognormal = {{ mean = 9, sigma = 1, max = 8 }} }}\n"),
            "prompt_tokens.lognormal.max",
            "must be from `mean`, 9, to",
        ),
        (&format!("{rate}prompt_tokens = {{}}\n"), "prompt_tokens", "exactly one of `uniform` and `lognormal`"),
        (
            &experts("number = 4").replace("decode = 4", "decode = 1"),
            "decode",
            "a single decode instance sends its tokens to nobody",
        ),
        (&experts("number = 4, top_k = 5"), "experts.top_k", "more than `number` experts"),
        (&experts("number = 4, zipf = 11"), "experts.zipf", "11 is no exponent"),
        (&experts("number = 4, weights = [1.0, 2.0]"), "experts.weights", "2 weights for 4 experts"),
        (
            &experts("number = 2, top_k = 2, weights = [1.0, 0.0]"),
            "experts.weights",
            "a token chooses 2 different experts, and 1 have",
        ),
        (&experts("number = 2, weights = [1.0, -1.0]"), "experts.weights.1", "-1 is no weight"),
        (
            &experts("number = 2, weights = [1.0, 1.0], zipf = 1.0"),
            "experts.zipf",
            "applies only to experts without `weights`",
        ),
        (&experts("number = 3, weights_file = \"w\""), "experts.weights_file", "2 weights for 3 experts"),
        (&experts("number = 3, weights_file = \"v\""), "experts.weights_file", "v:2: \"x\" is no weight"),
        (
            &experts("number = 2, weights_file = \"w\", weights = [1.0, 1.0]"),
            "experts.weights_file",
            "stands beside `weights`",
        ),
    ] {
        let files = [("r.csv", REQUESTS), ("w", &b"1 # the first\n\n0.5\n"[..]), ("v", b"1\nx\n")];
        let errors = both("inference-bad", keys, &files).err().unwrap_or_default();
        let found = errors.iter().any(|error| error.key.ends_with(key) && error.message.contains(message));
        assert!(found, "{keys}: {key}: {message}: {errors:#?}");
    }
}

/// The scenario as run is the same, and needs no file but that of requests.
#[test]
fn requests_weights_and_hosts_come_from_files() {
    let files = [("r.csv", REQUESTS), ("w", &b"1 # the first\n\n0.5\n"[..]), ("h", b"0\n5\n3\n")];
    let keys = "prefill = 1\ndecode = 2\nfile = \"r.csv\"\nhosts_file = \"h\"\nfirst_token = \"prefill\"\n\
        experts = { number = 2, dispatch = \"1KB\", weights_file = \"w\" }\n";
    let [first, again] = both("inference", keys, &files).unwrap();
    for scenario in [&first, &again] {
        let found = inference(scenario);
        assert_eq!(found.requests, [(Time::ZERO, 7, 8)]);
        assert_eq!(found.ranks.hosts, Some([0, 5, 3].map(HostId::new).to_vec()));
        let experts = found.experts.unwrap();
        assert_eq!((experts.weights, experts.combine), (Some(vec![1.0, 0.5]), 1_000));
        assert_eq!(found.sha256.unwrap(), sha256(REQUESTS));
        assert!(!scenario.identity().contains("r.csv"));
        let [file] = &scenario.files()[..] else { panic!("a file") };
        assert!(file.key == "workload.inference.0.file" && file.name.ends_with("r.csv"));
    }
    assert_eq!(first.to_toml(), again.to_toml());
    assert!(!first.to_toml().contains("weights_file") && !first.to_toml().contains("hosts_file"));
}

/// Ranks of training have hosts as those of programs; two in one rack are apart with `spread`.
#[test]
fn ranks_of_training_have_hosts() {
    let load = |keys: &str| {
        let text = format!("{HEAD}[[workload.training]]\ntransport = \"t\"\ndp = 3\n{keys}");
        load(&text, "x.toml", None, &[])
    };
    let hosts = |keys: &str| {
        let scenario = load(keys).unwrap();
        let WorkloadKind::Training(training) = &scenario.workloads[0].kind else { panic!("training") };
        training.placed.of(3, Vec::new).into_iter().map(|host| host.index()).collect::<Vec<_>>()
    };
    assert_eq!(hosts(""), [0, 1, 2]);
    assert_eq!(hosts("placement = \"spread\"\nfirst_host = 1\n"), [3, 1, 4]);
    assert_eq!(hosts("hosts = [5, \"h0\", 2]\n"), [5, 0, 2]);
    for (keys, key, message) in [
        (
            "placement = \"spread\"\nfirst_host = 4\n",
            "dp",
            "the last of the 3 ranks would be on host number 6, counted",
        ),
        ("stride = 3\n", "stride", "the last of the 3 ranks would be on host number 6, counted"),
        ("hosts = [5, 0]\n", "hosts", "2 hosts for the 3 ranks"),
    ] {
        let errors = load(keys).unwrap_err();
        let [error] = &errors[..] else { panic!("{errors:#?}") };
        assert!(error.key.ends_with(key) && error.message.contains(message), "{error:?}");
    }
}

/// Distributions are written as they are read.
#[test]
fn numbers_of_tokens_stay_as_they_are() {
    let keys = "prefill = 1\ndecode = 2\nrequests_per_second = 9\nprompt_tokens = { uniform = [1, 2] }\n\
        output_tokens = { lognormal = { mean = 5, sigma = 0.5, max = 20 } }\n";
    let [first, again] = both("inference-tokens", keys, &[]).unwrap().map(|scenario| inference(&scenario));
    assert_eq!(first.prompt_tokens.mean(), Some(1.5));
    assert_eq!((first.prompt_tokens, first.output_tokens), (again.prompt_tokens, again.output_tokens));
}

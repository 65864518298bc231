//! Files of congestion control algorithms: what they may define. Without the Python package, they
//! are errors.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use linkpool_scenario::{Algorithm, Compile, Control, Scenario, load, load_with};
use linkpool_settings::Bounds;
use linkpool_transport::control::{Callbacks, Definition, Parameter, Value};

const TEXT: &str = r#"duration = "1s"
controls = ["mine.py", { file = "yours.py", source = "" }, 3]

[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "2us"

[transport.t]
control = "mine"
its_key = 3

[[workload.flow]]
transport = "t"
from = "S1"
to = "R"
"#;

fn errors(text: &str) -> Vec<String> {
    load(text, "base.toml", None, &[]).unwrap_err().iter().map(ToString::to_string).collect()
}

/// What follows from the missing algorithm is not said as well.
#[test]
fn they_need_a_compiler() {
    let found = errors(TEXT);
    let expected = [
        "base.toml:2: controls.0: mine.py cannot be read: No such file or directory",
        "base.toml:2: controls.1: algorithms in Python do not run here; leave `controls` out, and name one of linkpool's own \
         in `control`",
        "base.toml:2: controls.2: expected the name of a Python file, such as \"my_control.py\", or a table",
    ];
    assert!(found.iter().any(|error| error.starts_with(expected[2])), "{found:#?}");
    let found = errors(&TEXT.replace(", 3]", "]"));
    assert_eq!(found.len(), 2, "{found:#?}");
    for (error, expected) in found.iter().zip(expected) {
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn without_them_an_unknown_name_is_an_error() {
    let found = errors(&TEXT.replace("controls", "# controls").replace("its_key", "# its_key"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("base.toml:10: transport.t.control: unknown value \"mine\"; known: reno, "),
        "{found:?}"
    );
}

/// Compiles files of which each line is the name of an algorithm, and of its parameter if it has
/// one.
struct Lines;

impl Compile for Lines {
    fn compile(&self, _: &str, source: &str) -> Result<Vec<&'static Definition>, String> {
        type Known = HashMap<String, Vec<&'static Definition>>;
        static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
        let define = |line: &str| -> &'static Definition {
            let mut words = line.split(' ').map(|word| &*Box::leak(word.to_string().into_boxed_str()));
            let name = words.next().unwrap();
            let parameter = |key| Parameter {
                key,
                doc: &["A number."],
                word: 0,
                defaults: [Value::Integer(1), Value::Integer(2)],
                bounds: Bounds::POSITIVE,
            };
            Box::leak(Box::new(Definition {
                name,
                sentence: "",
                source: "",
                needs_ecn: false,
                parameters: words.map(parameter).collect(),
                connection: vec![0],
                subflow: Vec::new(),
                counters: Vec::new(),
                callbacks: Callbacks::none(),
            }))
        };
        let mut known = KNOWN.lock().unwrap();
        Ok(known.entry(source.to_string()).or_insert_with(|| source.lines().map(define).collect()).clone())
    }
}

/// A scenario with these files of algorithms, and a transport of these keys.
fn with_files(sources: &[&str], transport: &str) -> Result<Scenario, Vec<String>> {
    let file = |(i, source): (usize, &&str)| format!("{{ file = \"f{i}.py\", source = {source:?} }}");
    let files: Vec<String> = sources.iter().enumerate().map(file).collect();
    let text = format!(
        "duration = \"1s\"\ncontrols = [{}]\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\n{transport}\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n",
        files.join(", ")
    );
    load_with(&text, "x.toml", None, &[], &Lines)
        .map_err(|errors| errors.iter().map(|error| format!("{}: {}", error.key, error.message)).collect())
}

#[test]
fn a_transport_takes_an_algorithm_of_a_file_with_its_parameter() {
    let scenario = with_files(&["other", "mine growth\nthird"], "control = \"mine\"\ngrowth = 3").unwrap();
    let Control::Tcp(Algorithm::Defined(mine)) = scenario.transports[0].control else { panic!("{scenario:?}") };
    assert_eq!(mine.name, "mine");
    // The scenario as run has the text of the file that it uses, and no other.
    let files = scenario.controls.as_ref().unwrap();
    assert_eq!((files.len(), files[0].file.as_str()), (1, "f1.py"));
    let text = scenario.to_toml();
    assert!(text.contains("growth = 3"), "{text}");
    assert_eq!(load_with(&text, "x.toml", None, &[], &Lines).unwrap(), scenario);
    let by_preset = |preset: &str| {
        with_files(&["mine growth"], &format!("control = \"mine\"\npreset = \"{preset}\"")).unwrap().to_toml()
    };
    assert!(by_preset("linux").contains("growth = 1") && by_preset("paper-2013").contains("growth = 2"));
    assert_eq!(with_files(&["mine"], "control = \"reno\"").unwrap().controls, None);
}

#[test]
fn names_and_parameters_mean_one_thing() {
    let mine = "control = \"mine\"";
    for (sources, transport, expected) in [
        (&["mine\nreno"][..], mine, "controls.0: f0.py: \"reno\" is an algorithm of linkpool; choose another name"),
        (&["mine\nmine"], mine, "controls.0: f0.py: \"mine\" is defined twice; choose another name"),
        (&["mine", "a\nmine"], mine, "controls.1: f1.py: \"mine\" is defined twice; choose another name"),
        (
            &["mine mss"],
            mine,
            "controls.0: f0.py: \"mine\" has a parameter `mss`, which is a key of all transports; choose another name",
        ),
        (&["mine"], "control = \"mien\"", "transport.t.control: unknown value \"mien\"; did you mean `mine`?"),
        (&["mine growth"], "control = \"mine\"\ngrowth = 0", "transport.t.growth: must be above zero"),
        (
            &["mine growth"],
            "control = \"reno\"\ngrowth = 1",
            "transport.t.growth: unknown key `growth`; did you mean `g`?",
        ),
        // Where a file is in error, an algorithm of linkpool still has its keys.
        (&["reno"], "control = \"lia\"\ngrowth = 1", "transport.t.growth: unknown key `growth`; did you mean `g`?"),
    ] {
        let errors = with_files(sources, transport).unwrap_err();
        let found = errors.iter().any(|error| error.starts_with(expected));
        assert!(found, "{sources:?} {transport:?}: {errors:#?}");
    }
}

/// Where all algorithms are known, a wrong name does not excuse a wrong key; where some are not,
/// because their file is in error, it may be the name of one of these.
#[test]
fn an_unknown_name_is_an_error_where_all_are_known() {
    let errors = with_files(&["mine"], "control = \"mien\"\ncolour = 1").unwrap_err();
    let starts = |error: &String, key: &str| error.starts_with(key);
    assert!(
        starts(&errors[0], "transport.t.control: unknown value")
            && starts(&errors[1], "transport.t.colour: unknown key")
    );
    assert_eq!(errors.len(), 2, "{errors:#?}");
    let unreadable = self::errors(&TEXT.replace("[\"mine.py\", { file = \"yours.py\", source = \"\" }, 3]", "3"));
    assert!(unreadable.len() == 1 && unreadable[0].starts_with("base.toml:2: controls: "), "{unreadable:#?}");
}

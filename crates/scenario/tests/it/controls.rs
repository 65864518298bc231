//! Files of congestion control algorithms: without the Python package, they are errors.

use linkpool_scenario::load;

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
        "base.toml:2: controls.1: algorithms in Python need the Python package of linkpool",
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

//! References by name: how they are written, read and found, and what is suggested for unknown
//! ones.

use linkpool_settings::{
    HostName, LinkEnds, LinkName, Names, NoNames, TransportName, Written, Wrong, closest, nearest,
};
use linkpool_units::HostId;
use schemars::SchemaGenerator;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde_json::json;

/// Hosts `a` and `b`, transports `x` and `y`, links between the hosts.
struct Two;

impl Names for Two {
    fn host(&self, name: &HostName) -> Result<HostId, String> {
        match name {
            HostName::Name(name) if name == "a" => Ok(HostId::new(0)),
            HostName::Name(name) if name == "b" => Ok(HostId::new(1)),
            HostName::Index(index @ 0..2) => Ok((*index).into()),
            other => Err(format!("no {other}")),
        }
    }
    fn host_name(&self, host: HostId) -> String {
        ["a", "b"][host.index()].to_string()
    }
    fn transport(&self, name: &str) -> Result<usize, String> {
        ["x", "y"].iter().position(|known| *known == name).ok_or(format!("no {name}"))
    }
    fn transport_name(&self, transport: usize) -> String {
        ["x", "y"][transport].to_string()
    }
    fn links(&self, LinkName(name): &LinkName) -> Result<Vec<LinkEnds>, String> {
        match name.as_str() {
            "a->b" => Ok(vec![ends("a", "b")]),
            "a<->b" => Ok(vec![ends("a", "b"), ends("b", "a")]),
            _ => Err(format!("no {name}")),
        }
    }
    fn content(&self, file: &str) -> Result<String, String> {
        Err(file.to_string())
    }
}

fn ends(from: &str, to: &str) -> LinkEnds {
    (from.to_string(), to.to_string())
}

fn name(name: &str) -> HostName {
    HostName::Name(name.to_string())
}

fn link(name: &str) -> LinkName {
    LinkName(name.to_string())
}

fn a_and_b() -> Vec<HostId> {
    vec![HostId::new(0), HostId::new(1)]
}

/// What a value is written as without names and with them, and what that means.
fn is_written<T: PartialEq + std::fmt::Debug, W>(value: T, plain: W, named: W)
where
    W: Written<T> + PartialEq + std::fmt::Debug,
{
    assert_eq!(W::of(&value), plain);
    assert_eq!(W::with_names(&value, &Two), named);
    assert_eq!(named.find(&Two), Ok(value));
}

#[test]
fn references_are_found_by_the_names_by_which_they_are_written() {
    is_written(HostId::new(1), HostName::Index(1), name("b"));
    is_written(a_and_b(), vec![HostName::Index(0), HostName::Index(1)], vec![name("a"), name("b")]);
    is_written(Some(a_and_b()), Some(vec![HostName::Index(0), HostName::Index(1)]), Some(vec![name("a"), name("b")]));
    is_written(None::<Vec<HostId>>, None::<Vec<HostName>>, None);
    is_written(1_usize, TransportName("1".into()), TransportName("y".into()));
    let one_way = || vec![link("a->b")];
    is_written(vec![ends("a", "b")], one_way(), one_way());
    is_written(Some(vec![ends("a", "b")]), Some(one_way()), Some(one_way()));
    is_written(None::<Vec<LinkEnds>>, None::<Vec<LinkName>>, None);
    assert_eq!(vec![link("a<->b"), link("a->b")].find(&Two), Ok(vec![ends("a", "b"), ends("b", "a"), ends("a", "b")]));
}

/// A host is its index. Other names have no meaning yet.
#[test]
fn before_the_scenario_is_known_a_reference_has_a_value_by_itself() {
    assert_eq!(Written::<HostId>::value(HostName::Index(7)), HostId::new(7));
    assert_eq!(Written::<HostId>::value(name("a")), HostId::NONE);
    let hosts = || vec![HostName::Index(1), HostName::Index(0)];
    let b_and_a = vec![HostId::new(1), HostId::new(0)];
    assert_eq!(Written::<Vec<HostId>>::value(hosts()), b_and_a);
    assert_eq!(Written::<Option<Vec<HostId>>>::value(Some(hosts())), Some(b_and_a));
    assert_eq!(Written::<usize>::value(TransportName("x".into())), usize::MAX);
    let links = || vec![link("a->b"), link("nonsense")];
    let values = vec![ends("a", "b"), ends("", "")];
    assert_eq!(Written::<Vec<LinkEnds>>::value(links()), values);
    assert_eq!(Written::<Option<Vec<LinkEnds>>>::value(Some(links())), Some(values));
}

/// All elements that are wrong are named, by their place.
#[test]
fn the_errors_of_a_list_are_told_together() {
    let wrong = vec![name("c"), name("a"), HostName::Index(2)].find(&Two);
    assert_eq!(Written::<HostId>::find(name("c"), &Two), Err(vec![Wrong::from("no \"c\"")]));
    let both = vec![Wrong::at(0, "no \"c\""), Wrong::at(2, "no 2")];
    assert_eq!(wrong, Err::<Vec<HostId>, _>(both.clone()));
    assert_eq!(Some(vec![name("c"), name("a"), HostName::Index(2)]).find(&Two), Err::<Option<Vec<HostId>>, _>(both));
    assert_eq!(Written::<usize>::find(TransportName("z".into()), &Two), Err(vec![Wrong::from("no z")]));
    let links = Some(vec![link("a->b"), link("b->c")]).find(&Two);
    assert_eq!(links, Err::<Option<Vec<LinkEnds>>, _>(vec![Wrong::at(1, "no b->c")]));
}

#[test]
fn without_names_nothing_is_found() {
    assert_eq!(NoNames.host(&name("S1")), Err("there is no host \"S1\"".into()));
    assert_eq!(NoNames.host(&HostName::Index(3)), Err("there is no host 3".into()));
    assert_eq!(NoNames.host_name(HostId::new(3)), format!("{:?}", HostId::new(3)));
    assert_eq!(NoNames.transport("x"), Err("no transport is named \"x\"".into()));
    assert_eq!(NoNames.transport_name(0), "amp");
    assert_eq!(NoNames.links(&link("a->b")), Err("there is no link \"a->b\"".into()));
    assert_eq!(NoNames.content("trace.csv"), Err("there is no file \"trace.csv\"".into()));
}

#[test]
fn a_host_is_a_name_or_an_index() {
    assert_eq!(serde_json::from_value::<HostName>(json!("S1")).unwrap(), name("S1"));
    assert_eq!(HostName::deserialize(IntoDeserializer::<Error>::into_deserializer(7_i64)), Ok(HostName::Index(7)));
    assert_eq!(serde_json::to_value([name("S1"), HostName::Index(7)]).unwrap(), json!(["S1", 7]));
    let schema = SchemaGenerator::default().into_root_schema_for::<HostName>().to_value();
    let forms = json!([{ "type": "integer", "minimum": 0, "maximum": u32::MAX }, { "type": "string" }]);
    assert_eq!(schema["anyOf"], forms);
}

/// By the two measures, "bark" is like "mark" by 0.83 and 0.75 + 0.1, "marsh" by 0.85 (just below)
/// and 0.6 + 0.1. No letter of "mark" is in "seven".
#[test]
fn the_most_similar_name_is_meant() {
    assert_eq!(closest("limt", &["mark", "limit"]), Some("limit"));
    assert_eq!(closest("mark", &["marsh", "bark"]), Some("bark"));
    assert_eq!(closest("mark", &["seven"]), None);
    for (length, found) in [(99, true), (100, true), (101, false)] {
        let long = "n".repeat(length);
        assert_eq!(closest(&long, &[&long]).is_some(), found, "{length}");
    }
}

#[test]
fn a_suggestion_lists_what_is_known_once() {
    assert_eq!(nearest("limt", ["limit", "mark", "limit"]), "did you mean `limit`? (known: limit, mark)");
    assert_eq!(nearest("seven", ["limit", "mark"]), "known: limit, mark");
    let many: Vec<String> = (0..41).map(|i| format!("h{i}")).collect();
    let names = |n: usize| many[..n].iter().map(String::as_str);
    assert_eq!(nearest("seven", names(40)), format!("known: {}", many[..40].join(", ")));
    assert_eq!(nearest("seven", names(41)), "known: h0, h1, h2, h3, h4, h5, h6, h7, ... (41 in all)");
}

//! Files of requests to a language model, of the weights of its experts, and of its hosts.

use csv::{ReaderBuilder, Trim};
use linkpool_settings::nearest;
use linkpool_units::{Time, counted};
use linkpool_workload::kinds::{Experts, Inference, MOST_TOKENS};
use sha2::{Digest, Sha256};

use super::program::read_hosts;
use super::section::Section;
use crate::included::{self, check_digest, hex};
use crate::known::Known;
use linkpool_formats::flows::{At, Wrong, seconds};
use linkpool_formats::quoted;

const COLUMNS: [&str; 3] = ["arrival_s", "prompt_tokens", "output_tokens"];

/// Reads the files that `inference` names.
pub(super) fn read(inference: &mut Inference, known: &Known<'_>, section: &mut Section<'_, '_>) {
    read_hosts(&mut inference.ranks, known, section);
    if let Some(experts) = &mut inference.experts {
        read_weights(experts, known, section);
    }
    let Some(file) = inference.file.clone() else { return };
    let path = known.directory.join(&file);
    let read = included::bytes(&path).map_err(|why| format!("{file}: {why}")).and_then(|bytes| {
        let digest = hex(Sha256::new_with_prefix(&bytes));
        check_digest(&file, inference.sha256.as_deref(), &digest)?;
        let text = linkpool_formats::text(bytes).map_err(|why| format!("{file}: {why}"))?;
        let requests = requests(&text).map_err(|(at, why)| format!("{file}{at}: {why}"))?;
        Ok((requests, digest))
    });
    match read {
        Ok((requests, digest)) => {
            // The scenario as run names the file wherever it is read.
            if let Ok(path) = std::path::absolute(path) {
                inference.file = Some(path.to_string_lossy().into_owned());
            }
            (inference.requests, inference.sha256) = (requests, Some(digest));
        }
        Err(why) => section.error("file", why),
    }
}

/// Arrival, prompt and answer of each request, in order of arrival.
fn requests(text: &str) -> Result<Vec<(Time, u32, u32)>, Wrong> {
    let mut reader =
        ReaderBuilder::new().flexible(true).trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let broken = |why: csv::Error| (At::File, format!("is not CSV: {why}"));
    let header = reader.headers().map_err(broken)?.clone();
    let known = COLUMNS.join(", ");
    if let Some(other) = header.iter().find(|name| !COLUMNS.contains(name)) {
        let near = nearest(other, COLUMNS);
        return Err((At::Line(1), format!("{} is no column of requests; {near}", quoted(other))));
    }
    let place = |name: &str| header.iter().position(|of| of == name);
    let [Some(arrival), Some(prompt), Some(output)] = COLUMNS.map(place) else {
        return Err((At::Line(1), format!("does not name all columns of requests, which are {known}")));
    };
    let mut requests: Vec<(Time, u32, u32)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let at = At::Line(record.position().map_or(1, csv::Position::line) as usize);
        if record.len() != header.len() {
            let (values, columns) = (counted(record.len(), "value"), counted(header.len(), "column"));
            return Err((at, format!("{values} under {columns}")));
        }
        let of = |column: &str| {
            let column = format!("column {column}: ");
            move |(at, why): Wrong| (at, column + &why)
        };
        let tokens = |text: &str| {
            let number = text.parse().ok().filter(|number| (1..=MOST_TOKENS).contains(number));
            number.ok_or_else(|| (at, format!("{} is no number of tokens, from 1 to {MOST_TOKENS}", quoted(text))))
        };
        let arrives = seconds(&record[arrival], at).map_err(of("arrival_s"))?;
        if requests.last().is_some_and(|(before, ..)| arrives < *before) {
            return Err((at, "arrives before the request above it; put requests in order of arrival".to_string()));
        }
        let prompt = tokens(&record[prompt]).map_err(of("prompt_tokens"))?;
        let output = tokens(&record[output]).map_err(of("output_tokens"))?;
        requests.push((arrives, prompt, output));
    }
    if requests.is_empty() { Err((At::File, "has no request".to_string())) } else { Ok(requests) }
}

/// The weights of experts, one a line; what follows `#` is a comment.
fn read_weights(experts: &mut Experts, known: &Known<'_>, section: &mut Section<'_, '_>) {
    let Some(file) = experts.weights_file.take() else { return };
    let key = "experts.weights_file";
    let alone = "stands beside `weights`, which says the same; leave one of both out";
    section.check(experts.weights.is_none(), key, alone);
    let weight = |(at, line): (usize, &str)| {
        let text = line.split('#').next().unwrap_or_default().trim();
        let number = || text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
        let wrong = || format!("{file}:{at}: {} is no weight, which is a number of 0 or more", quoted(text));
        (!text.is_empty()).then(|| number().ok_or_else(wrong))
    };
    let text = included::read(&known.directory.join(&file)).map_err(|why| format!("{file}: {why}"));
    match text.and_then(|text| (1..).zip(text.lines()).filter_map(weight).collect::<Result<Vec<f64>, _>>()) {
        Ok(weights) => (experts.weights, experts.from_file) = (Some(weights), true),
        Err(why) => section.error(key, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_times_and_tokens() {
        let found = requests("output_tokens, arrival_s,prompt_tokens\n# two\n7,0,9\n\n1,0.5,100000000\n").unwrap();
        assert_eq!(found, [(Time::ZERO, 9, 7), (Time::from_ms(500), 100_000_000, 1)]);
        let head = "arrival_s,prompt_tokens,output_tokens\n";
        for (text, line, why) in [
            ("arrival_s,prompt_tokens\n1,2\n", Some(1), "does not name all columns"),
            ("arrival_s,prompt,output_tokens\n1,2,3\n", Some(1), "\"prompt\" is no column of requests; did you mean"),
            (head, None, "has no request"),
            (&format!("{head}0,1\n"), Some(2), "2 values under 3 columns"),
            (&format!("{head}0,1,1\n-1,1,1\n"), Some(3), "column arrival_s: \"-1\" is no time in seconds"),
            (&format!("{head}1,1,1\n0.5,1,1\n"), Some(3), "arrives before the request above it"),
            (&format!("{head}1,0,1\n"), Some(2), "column prompt_tokens: \"0\" is no number of tokens"),
            (&format!("{head}1,1,1.5\n"), Some(2), "column output_tokens: \"1.5\" is no number of tokens"),
        ] {
            let (at, message) = requests(text).unwrap_err();
            assert!(at == line.map_or(At::File, At::Line) && message.contains(why), "{text:?}: {at}: {message}");
        }
    }
}

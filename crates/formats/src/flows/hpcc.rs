//! The flow files of HPCC's simulator.

use super::{At, Row, Wrong, lines, seconds, size};
use linkpool_units::counted;

/// What each line of a flow says.
const FIELDS: &str = "src dst class port bytes seconds";

/// The number of flows; then in each line source, destination, priority class, port, bytes, start
/// in seconds. HPCC's reader leaves out what stands behind so many flows, as in its own sample,
/// which has further flows and an explanation there. Here that is an error, since nobody would see
/// it.
pub(super) fn read(text: &str) -> Result<Vec<Row>, Wrong> {
    let mut lines = lines(text);
    let (first, count) = lines.next().ok_or((At::Line(1), "an empty file".to_string()))?;
    let count: usize =
        count.parse().map_err(|_| (first, "is no number of flows, which the first line is".to_string()))?;
    let mut flows = Vec::new();
    for (at, text) in lines.by_ref().take(count) {
        let cells: Vec<&str> = text.split_whitespace().collect();
        let flow = <[&str; 6]>::try_from(cells);
        flows.push((
            at,
            flow.map_err(|cells| (at, format!("{}; a flow has 6: {FIELDS}", counted(cells.len(), "value"))))?,
        ));
    }
    if flows.len() != count {
        let [announced, found] = [count, flows.len()].map(|number| counted(number, "flow"));
        return Err((first, format!("announces {announced}, and the file has {found}")));
    }
    if let Some((at, _)) = lines.next() {
        let why = "which HPCC's simulator leaves out; write the number of flows that are meant, or delete the rest";
        return Err((at, format!("more follows than the {} of the first line, {why}", counted(count, "flow"))));
    }
    // The older form has the start and the end where this one has the bytes and the start. No file
    // has nothing but flows of fewer bytes than the seconds that pass before them.
    let is_older = |[.., bytes, start]: &[&str; 6]| match (bytes.parse::<f64>(), start.parse::<f64>()) {
        (Ok(bytes), Ok(start)) => bytes < start,
        _ => false,
    };
    if let Some((at, [.., bytes, start])) = flows.first().filter(|_| flows.iter().all(|(_, flow)| is_older(flow))) {
        let what = format!("{bytes} and {start} read like the start and the end of a flow");
        let form = "as in the older form of ns3-rdma (src dst class packets start end)";
        return Err((*at, format!("{what}, {form}; write {FIELDS}")));
    }
    let row = |(i, (at, [from, to, _, _, bytes, start])): (usize, (At, [&str; 6]))| {
        let (size, start) = (size(bytes, at)?, seconds(start, at)?);
        let (from, to, id) = (from.to_string(), to.to_string(), i.to_string());
        Ok(Row { at, id, from, to, size, start, after: Vec::new(), enough: None, priority: None })
    };
    flows.into_iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_units::Time;

    #[test]
    fn a_flow_has_its_bytes_and_its_start() {
        let rows = read("2\n0 3 3 100 60000 2.5\n1 2 3 100 70 2.75\n").unwrap();
        assert_eq!((rows[0].from.as_str(), rows[0].to.as_str(), rows[0].size), ("0", "3", 60_000));
        assert_eq!(rows[1].start, Time::from_ms(2_750));
        let (at, why) = read("3\n0 3 3 100 60000 2.0\n").unwrap_err();
        assert!(at == At::Line(1) && why.contains("announces 3 flows, and the file has 1 flow"), "{why}");
        assert_eq!(read("1\n0 3 3 60000 2.0\n").unwrap_err().0, At::Line(2));
        assert_eq!(
            read("1\n0 3 3 100 many 2.0\n").unwrap_err().1,
            "\"many\" is no size: a whole number of bytes above zero"
        );
    }

    /// The sample of HPCC's simulator announces 2 flows, lists 256 and explains them in words.
    #[test]
    fn what_stands_behind_the_announced_flows_is_refused() {
        let more = "2\n0 1 3 100 2000 1\n2 1 3 100 2000 1\n\n3 1 3 100 1500 1\n\nFirst line: number of flows\n";
        let (at, why) = read(more).unwrap_err();
        assert!(at == At::Line(5) && why.starts_with("more follows than the 2 flows of the first line"), "{why}");
        assert_eq!(read("0\nwords\n").unwrap_err().0, At::Line(2));
        assert_eq!(read("0\n\n \n").unwrap(), []);
    }

    /// With whole numbers too, of which one reads as a size.
    #[test]
    fn the_older_form_is_refused() {
        for (text, line, times) in [
            ("1\n0 1 3 20000 2.0 9.5\n", 2, "2.0 and 9.5 read like"),
            ("2\n0 1 3 20000 2 9\n1 2 3 100 3 10\n", 2, "2 and 9 read like"),
            ("1\n0 1 3 20000 0 9\n", 2, "0 and 9 read like"),
        ] {
            let (at, why) = read(text).unwrap_err();
            assert!(at == At::Line(line) && why.contains(times), "{why}");
        }
        // One flow of 2 bytes among others is a flow of 2 bytes.
        assert_eq!(read("2\n0 1 3 20000 2 9\n1 2 3 100 3000 10\n").unwrap().len(), 2);
    }
}

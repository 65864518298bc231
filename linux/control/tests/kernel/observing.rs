//! Rounds come into the table that the simulator writes.

use crate::net::{Loaded, Net, send, skipped};
use linkpool_linux_control::observe::observe;
use linkpool_linux_control::settings::Settings;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn each_round_is_a_row() {
    if skipped("each_round_is_a_row") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 40));
    let loaded = Loaded::new("lia", &Settings::default());
    net.enable(loaded.name());
    let directory = std::env::temp_dir().join(format!("linkpool-observe-{}", std::process::id()));
    let stop = Arc::new(AtomicBool::new(false));
    let seen = thread::scope(|scope| {
        let observing = scope.spawn(|| observe(&loaded.0, &directory, Duration::from_secs(300), &stop).unwrap());
        while loaded.0.params().unwrap().observe == 0 {
            thread::sleep(Duration::from_millis(5));
        }
        let server = net.serve(7200);
        let mut stream = net.connect(7200);
        send(&mut stream, 3_000_000);
        drop(stream);
        server.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        observing.join().unwrap()
    });
    assert_eq!(loaded.0.params().unwrap().observe, 0);
    let table = SerializedFileReader::new(File::open(directory.join("cwnd.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = table.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!((rows.len() as u64, seen.lost), (seen.rounds, 0));
    assert!(rows.len() > 20 && seen.flows >= 1, "{seen:?}");
    let names: Vec<String> = rows[0].get_column_iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names[..7], ["time_s", "flow", "subflow", "cwnd_pkts", "ssthresh_pkts", "srtt_s", "suppressed"]);
    let times: Vec<f64> = rows.iter().map(|row| row.get_double(0).unwrap()).collect();
    assert!(times.is_sorted() && times[0] == 0.0);
    assert!(rows.iter().all(|row| row.get_double(3).unwrap() >= 1.0));
    assert!(rows.iter().any(|row| row.get_uint(2).unwrap() == 1), "the second subflow, too");
}

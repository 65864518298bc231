//! Each send of a program has its receive.

use linkpool_formats::program::read_goal;

fn wrong(zero: &str, one: &str) -> String {
    let text = format!("num_ranks 2\nrank 0 {{\n{zero}\n}}\nrank 1 {{\n{one}\n}}\n");
    read_goal("p", text.as_bytes()).unwrap().matched().err().unwrap_or_default()
}

#[test]
fn each_has_a_counterpart() {
    assert_eq!(wrong("send 5b to 1 tag 2", "recv 5b from 0 tag 2"), "");
    assert_eq!(wrong("send 5b to 1 tag 2", "recv 9b from -1 tag -1"), "");
    assert_eq!(
        wrong("send 5b to 1 tag 2", "recv 5b from 0 tag 3"),
        "p:3: send 5b to 1 tag 2 of rank 0 has no recv: 1 send, 0 receives from rank 0 to rank 1 with tag 2"
    );
    assert_eq!(
        wrong("calc 0", "recv 5b from 0\nrecv 6b from 0"),
        "p:6: recv 5b from 0 tag 0 of rank 1 has no send: 0 sends, 2 receives from rank 0 to rank 1 with tag 0"
    );
    assert_eq!(
        wrong("send 5b to 1\nsend 7b to 1", "recv 6b from 0\nrecv 6b from 0"),
        "p:8: receives 6 bytes, and a message from rank 0 to rank 1 with tag 0 has 7"
    );
    assert_eq!(
        wrong("send 5b to 1\nsend 7b to 1 tag 3", "recv 6b from -1\n"),
        "p:4: send 7b to 1 tag 3 of rank 0 has no counterpart: rank 1 is sent 2 messages and receives 1"
    );
}

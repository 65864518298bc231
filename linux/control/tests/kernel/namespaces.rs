//! Which network namespaces use a controller.

use crate::net::{Loaded, Net, skipped};
use linkpool_linux_control::namespace::{DEFAULT, Namespace};
use linkpool_linux_control::settings::Settings;
use rustix::net::sockopt::tcp_congestion;

/// A controller that is unloaded stays the one of new connections in the namespaces that had chosen
/// it, until they choose another.
#[test]
fn namespaces_that_use_a_controller_are_named() {
    if skipped("namespaces_that_use_a_controller_are_named") {
        return;
    }
    let net = Net::new(1);
    let loaded = Loaded::new("lia", &Settings::default());
    let name = loaded.name().to_owned();
    let users = || {
        let mut users = Namespace::that_use(&name);
        users.sort();
        users
    };
    assert_eq!(users(), Vec::<String>::new());
    net.enable(&name);
    assert_eq!(users(), net.names);
    drop(loaded);
    assert_eq!(users(), net.names);
    net.server.set(DEFAULT, "reno").unwrap();
    assert_eq!(users(), net.names[..1]);
    let server = net.serve(9000);
    let stream = net.connect(9000);
    assert_eq!(tcp_congestion(&stream).unwrap(), name, "it controls new connections though it is unloaded");
    drop(stream);
    assert_eq!(server.join().unwrap(), 0);
    net.client.set(DEFAULT, "reno").unwrap();
    assert_eq!(users(), Vec::<String>::new());
}

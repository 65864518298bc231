//! The families of transports, with their settings.
//!
//! A family is TCP with MPTCP, or NDP. `families!` is the only list. To add a family, write its
//! settings in a file here and its two ends in a file beside `host/tcp.rs`, and add its line.

pub(crate) mod ndp;
pub(crate) mod tcp;

use linkpool_scenario as scenario;

/// Gives the list of families to the macro `$then`. A line has the name of the family, which is the
/// name of its settings too, its module here and beside the hosts, and the types of its two ends.
macro_rules! families {
    ($then:ident) => {
        $then! {
            Ndp: ndp(NdpSender, NdpReceiver),
            Tcp: tcp(TcpSender, TcpReceiver),
        }
    };
}
pub(crate) use families;

/// The settings of a family.
pub(crate) trait FamilySettings: Sized {
    /// The settings of `t`, if it is of this family.
    fn of(t: &scenario::Transport) -> Option<Self>;
    /// The properties of the family that a plan depends on.
    fn facts(&self) -> Facts;
}

/// The properties of a family that a plan depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// A sender knows the paths to its receiver, at most this number, and spreads its packets over
    /// them. Its receiver sends only control packets, over any path. `None`: each subflow has a
    /// path.
    pub spreads_over: Option<u64>,
    /// Do receivers understand a header whose payload a switch has cut off?
    pub trimming: bool,
    /// Does a packet tell a receiver that its connection is over? If not, the sender's host tells
    /// the receiver's host without a packet.
    pub fins: bool,
    /// Does a flow wait for a SYN and a SYN-ACK, and send the handshake's ACK before its data?
    pub handshake: bool,
    /// The most measures that a flow reports at its end, each a row of `metrics.parquet`.
    pub metrics: usize,
}

macro_rules! settings {
    ($($name:ident: $module:ident($sender:ident, $receiver:ident),)*) => {
        /// The family of a transport, with its settings.
        #[derive(Clone, Debug)]
        pub enum Family { $(#[doc = concat!("The family of `", stringify!($module), ".rs`.")] $name($module::$name)),* }

        impl Family {
            /// The family of `t`.
            pub(crate) fn of(t: &scenario::Transport) -> Family {
                $(if let Some(settings) = $module::$name::of(t) { return Family::$name(settings) })*
                unreachable!("each `control` is of a family: {}", t.control.name())
            }

            /// The properties of the family that a plan depends on.
            pub(crate) fn facts(&self) -> Facts {
                match self { $(Family::$name(settings) => settings.facts()),* }
            }
        }
    };
}
families!(settings);

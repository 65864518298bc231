//! From the transports of a scenario to their congestion control.

use linkpool_scenario as scenario;
use linkpool_scenario::Control;
use linkpool_transport::control::{
    AckOrder, AmpConfig, ControlConfig, CubicConfig, CutConfig, DctcpConfig, EwtcpIncrease, FullyCoupledConfig,
    MmptcpConfig, Release, SemiCoupledConfig, Switch, XmpConfig,
};

/// The congestion control of `t`, which is that of phase 2 if it is an MMPTCP.
pub(crate) fn control(t: &scenario::Transport) -> ControlConfig {
    if t.is_mmptcp() { mmptcp(t) } else { law(t) }
}

fn mmptcp(t: &scenario::Transport) -> ControlConfig {
    let switch = Switch {
        bytes: if t.scatter_bytes > 0 { t.scatter_bytes } else { u64::MAX },
        window: if t.scatter_window > 0 { t.scatter_window as f64 } else { f64::INFINITY },
        congestion: t.scatter_until_congestion,
    };
    let scattered = match t.scatter_control {
        scenario::ScatterControl::Reno => ControlConfig::Reno(()),
        scenario::ScatterControl::Dctcp => ControlConfig::Dctcp(DctcpConfig {
            alpha0: t.alpha0,
            g: t.g,
            cwnd_min: t.cwnd_min as f64,
            ack_order: ack_order(t.preset),
        }),
    };
    ControlConfig::Mmptcp(MmptcpConfig { switch, scattered: Box::new(scattered), coupled: Box::new(law(t)) })
}

fn law(t: &scenario::Transport) -> ControlConfig {
    let cwnd_min = t.cwnd_min as f64;
    let ack_order = ack_order(t.preset);
    let dctcp = DctcpConfig { alpha0: t.alpha0, g: t.g, cwnd_min, ack_order };
    let cut = CutConfig { beta: t.beta, cwnd_min, ack_order };
    match t.control {
        // The settings of NDP are those of its own.
        Control::Reno | Control::Ndp => ControlConfig::Reno(()),
        Control::Dctcp => ControlConfig::Dctcp(dctcp),
        Control::Lia => ControlConfig::Lia(()),
        Control::Dcm => ControlConfig::Dcm(dctcp),
        Control::MptcpCut => ControlConfig::MptcpCut(cut),
        Control::Xmp => ControlConfig::Xmp(XmpConfig {
            beta: t.beta,
            cwnd_min,
            ssthresh_below: t.ssthresh_after_cut == scenario::SsthreshAfterCut::WMinus1,
        }),
        Control::Olia => ControlConfig::Olia(()),
        Control::Balia => ControlConfig::Balia(()),
        Control::Ewtcp => ControlConfig::Ewtcp(match t.ewtcp_increase {
            scenario::EwtcpIncrease::InverseSquare => EwtcpIncrease::InverseSquare,
            scenario::EwtcpIncrease::InverseRoot => EwtcpIncrease::InverseRoot,
        }),
        Control::FullyCoupled => ControlConfig::FullyCoupled(FullyCoupledConfig { loss_floor: t.loss_floor as f64 }),
        Control::SemiCoupled => ControlConfig::SemiCoupled(SemiCoupledConfig { aggressiveness: t.aggressiveness }),
        Control::Uncoupled => ControlConfig::Uncoupled(()),
        Control::Cubic => {
            ControlConfig::Cubic(CubicConfig { c: t.cubic_c, beta: t.cubic_beta, fast_convergence: t.fast_convergence })
        }
        Control::Amp => ControlConfig::Amp(AmpConfig {
            cut,
            gamma: t.gamma,
            tau: t.tau,
            suppression: t.suppression,
            release: match t.release {
                scenario::Release::Rounds => Release::Rounds,
                scenario::Release::Acks => Release::Acks,
            },
        }),
    }
}

/// What an ACK that cuts the window does beside: as the implementation behind the papers' figures, or as RFC 3168 has it.
fn ack_order(preset: scenario::Preset) -> AckOrder {
    match preset {
        scenario::Preset::Paper2013 => AckOrder::GrowThenCut,
        scenario::Preset::Linux => AckOrder::CutInsteadOfGrowth,
    }
}

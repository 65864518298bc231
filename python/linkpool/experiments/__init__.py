"""The published experiments, each one file."""

from linkpool.experiments import (
    a_cwnd1,
    a_fig2,
    a_fig3,
    a_fig4a,
    a_fig4b,
    a_fig6,
    a_fig7,
    a_fig8,
    a_fig9,
    a_fig10,
    a_fig11,
    a_fig12,
    a_fig13,
    a_fig14,
    a_gamma,
    a_ssr,
    m_tab4,
    m_tab7,
    t_bcube,
    t_dual,
    t_eff,
    t_fair,
    t_paths,
    x_fig4,
    x_fig6,
    x_fig7,
)
from linkpool.experiments.base import Experiment


def all_experiments() -> list[Experiment]:
    """Return every experiment, in the papers' order."""
    modules = (
        a_fig2,
        a_fig3,
        a_fig4a,
        a_fig4b,
        a_cwnd1,
        a_fig6,
        a_fig7,
        a_gamma,
        a_fig8,
        a_fig9,
        a_fig10,
        a_ssr,
        a_fig11,
        a_fig12,
        a_fig13,
        a_fig14,
        x_fig4,
        x_fig6,
        x_fig7,
        m_tab4,
        m_tab7,
        t_fair,
        t_eff,
        t_paths,
        t_bcube,
        t_dual,
    )
    return [module.EXPERIMENT for module in modules]

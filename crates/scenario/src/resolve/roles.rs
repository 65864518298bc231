//! Resolves `[roles]`: numbers and shares of hosts.

use linkpool_network::Fabric;
use linkpool_units::counted;

use super::section::Section;
use crate::file::RoleSize;
use crate::model::{OTHERS, Role};

/// How many hosts have each role.
pub(super) fn resolve(fabric: Option<&Fabric>, top: &mut Section<'_, '_>) -> Option<Vec<Role>> {
    if top.has("roles") { top.within("roles", |section| roles(fabric, section))? } else { Some(Vec::new()) }
}

fn roles(fabric: Option<&Fabric>, section: &mut Section<'_, '_>) -> Option<Vec<Role>> {
    let all = fabric?.hosts() as u32;
    let mut left = all;
    let mut roles = Vec::new();
    for name in section.keys() {
        let Some(size) = section.read::<RoleSize>(&name) else { continue };
        section.check(name != OTHERS, &name, "is the name of the hosts in no role; choose another");
        let hosts = match size {
            RoleSize::Hosts(hosts) => hosts,
            RoleSize::Share(share) => {
                section.check((0.0..=1.0).contains(&share), &name, format!("{share} is no share; it goes from 0 to 1"));
                (share * f64::from(all)).round() as u32
            }
        };
        section.check(hosts > 0, &name, "must be above zero");
        let rest = if left == all { String::new() } else { format!(", of which {left} have no role yet") };
        section.check(hosts <= left, &name, format!("{}, but the topology has {all}{rest}", counted(hosts, "host")));
        left = left.saturating_sub(hosts);
        roles.push(Role { name, hosts });
    }
    section.is_good().then_some(roles)
}

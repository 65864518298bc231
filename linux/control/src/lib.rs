//! Loads linkpool's congestion control algorithms into the Linux kernel (eBPF struct_ops), and
//! steers them.

pub mod address;
pub mod algorithm;
mod btf;
pub mod cgroup;
pub mod check;
pub mod daemon;
pub mod instance;
pub mod intf;
pub mod namespace;
pub mod netlink;
pub mod observe;
pub mod realtime;
pub mod settings;
pub mod switch;

pub use btf::KernelTypes;

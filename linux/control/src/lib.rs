//! Loads linkpool's congestion control algorithms into the Linux kernel (eBPF struct_ops), and steers them.

mod btf;
pub mod check;

pub use btf::KernelTypes;

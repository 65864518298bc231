//! The controllers in this kernel, in network namespaces. Skipped, and said in a line, where the
//! kernel or rights are missing.

mod cgroup;
mod idle;
mod loaded;
mod measure;
mod namespaces;
mod net;
mod observing;
mod robust;
mod serving;
mod transfer;

//! Runs a scenario of linkpool on the network stack of Linux, in network namespaces.

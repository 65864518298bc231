// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the congestion control of the sockets of a cgroup (`linkpool-linux enable NAME --cgroup DIR`). The choice falls
 * when a connection, or a subflow of MPTCP, is established, and before the kernel starts its congestion control; whether to ask for
 * ECN is to be known before that.
 */
#include "../kernel.h"
#include <bpf/bpf_helpers.h>

/* uapi/linux/bpf.h: the beginning of it. */
struct bpf_sock_ops {
	__u32 op;
	__u32 reply;
};

enum {
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_NEEDS_ECN = 6,
};
#define SOL_TCP 6
#define TCP_CONGESTION 13

/* Set before it is loaded. */
struct {
	char name[16];
	__u32 needs_ecn;
} const volatile chosen = {};

SEC("sockops")
int lp_choose(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)chosen.name, sizeof(chosen.name));
		break;
	case BPF_SOCK_OPS_NEEDS_ECN:
		ops->reply = chosen.needs_ecn;
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";

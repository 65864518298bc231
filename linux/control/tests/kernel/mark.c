// SPDX-License-Identifier: GPL-2.0-only
/* For tests: marks each ECN-capable packet, at the egress of an interface. */
#include "../../../../bpf/kernel.h"
#include <bpf/bpf_helpers.h>

struct __sk_buff;

SEC("tc")
int mark(struct __sk_buff *skb)
{
	bpf_skb_ecn_set_ce(skb);
	return 0;
}

char _license[] SEC("license") = "GPL";

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

/* The same in every other span of 2^24 ns, which is 17 ms: congestion comes and goes. */
SEC("waves")
int mark_in_waves(struct __sk_buff *skb)
{
	if (bpf_ktime_get_ns() >> 24 & 1)
		bpf_skb_ecn_set_ce(skb);
	return 0;
}

char _license[] SEC("license") = "GPL";

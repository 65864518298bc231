// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a packet enters a switch: gives a packet whose path is set (`paths = "distinct"`) the mark by which the switch's rules choose
 * the way. Others have none, and are routed by their destination.
 */
#include "device.h"

/* A packet of these addresses and ports that comes by this device; addresses and ports as in the packet. */
struct arrival {
	__u32 device;
	__be32 source;
	__be32 target;
	__be16 source_port;
	__be16 target_port;
};

/* Marks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 20);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct arrival);
	__type(value, __u32);
} ways SEC(".maps");

/* The beginning of an IPv4 header (RFC 791, section 3.1). */
struct ip {
	__u8 version_and_length;
	__u8 before[8];
	__u8 protocol;
	__u8 checksum[2];
	__be32 source;
	__be32 target;
};
#define IPPROTO_TCP 6

SEC("tc")
int lp_path(struct __sk_buff *skb)
{
	struct arrival arrival = { .device = skb->ifindex };
	struct ip ip;
	__u32 *mark;

	if (bpf_skb_load_bytes_relative(skb, 0, &ip, sizeof(ip), BPF_HDR_START_NET) ||
	    ip.version_and_length >> 4 != 4 || ip.protocol != IPPROTO_TCP)
		return TC_ACT_OK;
	/* Source port and destination port come first (RFC 9293, section 3.1). */
	if (bpf_skb_load_bytes_relative(skb, (ip.version_and_length & 15) * 4, &arrival.source_port, 4, BPF_HDR_START_NET))
		return TC_ACT_OK;
	arrival.source = ip.source;
	arrival.target = ip.target;
	mark = bpf_map_lookup_elem(&ways, &arrival);
	if (mark)
		skb->mark = *mark;
	return TC_ACT_OK;
}

char _license[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of switches see of packets and devices. */
#ifndef LINKPOOL_DEVICE_H
#define LINKPOOL_DEVICE_H

#include "../kernel.h"
#include <bpf/bpf_helpers.h>

/* uapi/linux/bpf.h: the beginning of it. */
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
};
#define BPF_HDR_START_NET 1
#define TC_ACT_OK 0
#define TC_ACT_SHOT 2

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qdisc_skb_head {
	__u32 qlen;
};

struct gnet_stats_queue {
	__u32 backlog;
};

/* u64_stats_t of 64-bit machines is local64_t, that is local_t, that is atomic_long_t. */
struct atomic_of_local {
	__s64 counter;
};

struct local_of_local64 {
	struct atomic_of_local a;
};

struct local64_of_stats {
	struct local_of_local64 a;
};

struct u64_stats {
	struct local64_of_stats v;
};

struct gnet_stats_basic_sync {
	struct u64_stats bytes;
};

struct Qdisc {
	struct qdisc_skb_head q;
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_queue qstats;
};

struct net_device {
	struct Qdisc *qdisc;
};

struct sk_buff {
	struct net_device *dev;
};

#pragma clang attribute pop

/* Since 6.2. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;

/* The number of the device of link 0. */
#define FIRST_LINK 1000

#endif

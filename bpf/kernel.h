/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types, as far as the programs use them. CO-RE: offsets are those of the kernel that loads the
 * programs, so one object file is for all kernels that have these members. linux/control/src/check.rs lists them.
 */
#ifndef LINKPOOL_KERNEL_H
#define LINKPOOL_KERNEL_H

typedef unsigned char u8, __u8;
typedef unsigned short u16, __u16;
typedef unsigned int u32, __u32;
typedef unsigned long long u64, __u64;
typedef short s16, __s16;
typedef int s32, __s32;
typedef long long s64, __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

/* uapi/linux/bpf.h, from which bpf_helpers.h takes no more than these. */
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_F_NO_PREALLOC (1U << 0)
#define BPF_NOEXIST 1
#define BPF_RB_NO_WAKEUP (1ULL << 0)
#define BPF_RB_FORCE_WAKEUP (1ULL << 1)
struct bpf_spin_lock {
	__u32 val;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__u32 u6_addr32[4];
	} in6_u;
};

struct ns_common {
	unsigned int inum;
};

struct netns_ipv4 {
	u8 sysctl_tcp_slow_start_after_idle;
};

struct net {
	struct ns_common ns;
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};


struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u32 icsk_rto;
	void *icsk_ulp_data;
	struct {
		__u8 pending;
	} icsk_ack;
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 srtt_us;
	u32 snd_una;
	u32 snd_nxt;
	u32 rcv_nxt;
	u32 mss_cache;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u32 prr_out;
	u32 lsndtime;
	u64 bytes_sent;
	u8 is_cwnd_limited : 1;
	u8 ecn_flags;
	bool is_mptcp;
};

struct mptcp_subflow_context {
	struct sock *conn;
	/* A byte before 6.7, 16 bits since. */
	s16 local_id;
	u8 remote_id;
	u32 request_mptcp : 1;
	u32 request_join : 1;
	u32 backup : 1;
	u32 request_bkup : 1;
};

struct mptcp_sock {
	u32 token;
	u64 bytes_sent;
};

#pragma clang attribute pop

enum tcp_ca_event {
	CA_EVENT_TX_START = 0,
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};

/* What libbpf matches with the kernel's by the names of members. */
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*cong_control)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#define TCP_CONG_NON_RESTRICTED 0x1
#define TCP_CONG_NEEDS_ECN 0x2

#define TCP_CA_Open 0
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_ECN_DEMAND_CWR 4
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
#define AF_INET 2
#define AF_INET6 10

#endif

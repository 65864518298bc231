/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The coupling of subflows: a map entry per connection, a slot per subflow. A subflow writes its own slot and
 * reads those of the others; who comes and goes is under the entry's lock.
 */
#ifndef LINKPOOL_COUPLING_H
#define LINKPOOL_COUPLING_H

#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include "algorithm.h"

#define MOST_CONNECTIONS 65536
#define NO_SLOT LP_SUBFLOWS

/* Memory is taken as connections come, and given back a grace period after they went. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MOST_CONNECTIONS);
	__type(key, u64);
	__type(value, struct lp_entry);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lp_params);
} params SEC(".maps");

/* What a new connection starts from: zeros, which are too many for the stack. */
struct zeros {
	u8 bytes[sizeof(struct lp_entry)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct zeros);
} blank SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LP_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} rounds SEC(".maps");

extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym;

/* What a socket keeps for itself, in icsk_ca_priv: 104 bytes at most. */
struct lp_socket {
	u64 key;		/* of its connection */
	u32 slot;		/* its own; NO_SLOT: it runs alone, as standard TCP */
	u32 delivered, delivered_ce, lost;	/* as of the last ACK */
	u32 round_end;		/* the round ends once more than this is acknowledged */
	u32 cwnd, ssthresh;	/* as we left them in the kernel's socket, to see what it changed */
	u32 prior_cwnd, prior_ssthresh;	/* before the recovery */
	u32 prr_delivered, prr_out;	/* delivered in this recovery; prr_out when it began */
	u32 initial_cwnd;	/* the window with which it began */
	u32 prior_rcv_nxt;	/* receiver: acknowledged up to here with `ce_state` */
	u8 ce_state;		/* receiver: the last packet was marked */
	u8 asked;		/* the kernel has asked for ssthresh since the last change of state */
	u8 ca_state;		/* of the kernel, as far as we were told */
	u8 unused[1];
};

_Static_assert(sizeof(struct lp_socket) <= 104, "icsk_ca_priv");

static __always_inline void count(u32 what, u64 by)
{
	u64 *counter = bpf_map_lookup_elem(&counters, &what);

	if (counter)
		*counter += by;
}

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline struct lp_socket *lp_sk(struct sock *sk)
{
	return (struct lp_socket *)inet_csk(sk)->icsk_ca_priv;
}

static __always_inline params_t *current_params(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&params, &zero);
}

static __always_inline struct mptcp_subflow_context *subflow_of(struct sock *sk)
{
	if (!tcp_sk(sk)->is_mptcp || !inet_csk(sk)->icsk_ulp_data)
		return 0;
	return bpf_rdonly_cast(inet_csk(sk)->icsk_ulp_data,
			       bpf_core_type_id_kernel(struct mptcp_subflow_context));
}

/* The entry of this socket's connection; null if it runs alone. */
static __always_inline struct lp_entry *entry_of(struct lp_socket *own)
{
	u64 key = own->key; /* on the stack, where helpers may read */

	return own->slot < LP_SUBFLOWS ? bpf_map_lookup_elem(&connections, &key) : 0;
}

static __always_inline void tell(conn_t *c, struct lp_socket *own, u8 kind, struct sock *sk, bool is_round)
{
	path_t *p = path_of(c, own->slot);
	struct lp_event *e = is_round ? bpf_ringbuf_reserve(&rounds, sizeof(*e), 0) :
					bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!e) {
		count(is_round ? LP_ROUNDS_LOST : LP_EVENTS_LOST, 1);
		return;
	}
	e->time = bpf_ktime_get_ns();
	e->conn = own->key;
	e->cwnd = p->cwnd;
	e->ssthresh = p->ssthresh;
	e->delivered = p->delivered;
	e->marked = p->marked;
	e->lost = p->lost;
	e->token = c->token;
	e->netns = c->netns;
	e->srtt = p->srtt;
	e->kind = kind;
	e->slot = own->slot;
	e->suppressed = c->suppressed;
	e->in_recovery = p->in_recovery;
	e->ca_state = BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
	e->slow_start = in_slow_start(p);
	e->backup = p->backup;
	e->first = c->first;
	e->flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	bpf_ringbuf_submit(e, is_round ? 0 : BPF_RB_FORCE_WAKEUP);
}

static __always_inline void copy_ends(struct sock *sk, path_t *p)
{
	struct sock_common *ends = &sk->__sk_common;
	u32 *local = (u32 *)p->local.address, *remote = (u32 *)p->remote.address;

	p->family = ends->skc_family;
	p->local.port = ends->skc_num;
	p->remote.port = __builtin_bswap16(ends->skc_dport);
	if (p->family == AF_INET) {
		local[0] = ends->skc_rcv_saddr;
		remote[0] = ends->skc_daddr;
	} else if (bpf_core_field_exists(ends->skc_v6_daddr)) {
		UNROLL
		for (int i = 0; i < 4; i++) {
			local[i] = ends->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			remote[i] = ends->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	}
}

/* The entry of a connection, made if it is not there; null if there is no room, or it is just going. */
static __always_inline struct lp_entry *enter(u64 key)
{
	struct lp_entry *entry = bpf_map_lookup_elem(&connections, &key);
	struct zeros *zeros;
	u32 zero = 0;

	if (entry)
		return entry;
	zeros = bpf_map_lookup_elem(&blank, &zero);
	if (!zeros)
		return 0;
	bpf_map_update_elem(&connections, &key, zeros, BPF_NOEXIST);
	return bpf_map_lookup_elem(&connections, &key);
}

/* Take a free slot of the connection; NO_SLOT if there is none. */
static __always_inline u32 take_slot(struct lp_entry *entry)
{
	conn_t *c = &entry->conn;
	u32 slot = NO_SLOT;

	bpf_spin_lock(&entry->lock);
	if (!entry->dead) {
		UNROLL
		for (u32 i = 0; i < LP_SUBFLOWS; i++)
			if (slot == NO_SLOT && !c->paths[i].established)
				slot = i;
		if (slot != NO_SLOT) {
			path_t *p = path_of(c, slot);

			__builtin_memset(p, 0, sizeof(*p));
			p->established = 1;
			if (!c->subflows)
				c->first = slot;
			c->subflows++;
		}
	}
	bpf_spin_unlock(&entry->lock);
	return slot;
}

/*
 * Give the slot back. Without the first subflow no rounds would tell when congestion is over: another takes its
 * place, and suppressed ones are released. Returns true if the connection is to be deleted.
 */
static __always_inline bool give_back_slot(struct lp_entry *entry, u32 slot, bool *released)
{
	conn_t *c = &entry->conn;
	bool gone;

	*released = false;
	bpf_spin_lock(&entry->lock);
	c->paths[slot & (LP_SUBFLOWS - 1)].established = 0;
	c->subflows--;
	gone = !c->subflows;
	entry->dead = gone;
	if (!gone && c->first == slot) {
		u32 next = NO_SLOT;

		UNROLL
		for (u32 i = 0; i < LP_SUBFLOWS; i++)
			if (next == NO_SLOT && c->paths[i].established)
				next = i;
		c->first = next & (LP_SUBFLOWS - 1);
		c->rounds = 0;
		c->marked = 0;
		if (c->suppressed) {
			c->suppressed = 0;
			c->releases++;
			*released = true;
		}
	}
	bpf_spin_unlock(&entry->lock);
	return gone;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The struct_ops program around an algorithm's hooks.
 *
 * `cong_control` owns the window: marks cut it at once, as the papers have it, and not over a round as the
 * kernel's CWR state would. So this file does what the kernel leaves to such controllers: the window in fast
 * recovery (proportional rate reduction, RFC 6937) and the pacing rate.
 *
 * It uses the socket alone, and neither `ack`, `flag` nor `rs`: so one program fits kernels before and since 6.10,
 * which changed these arguments.
 */
#ifndef LINKPOOL_STRUCT_OPS_H
#define LINKPOOL_STRUCT_OPS_H

#include "coupling.h"
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define NEEDS_ECN TCP_CONG_NEEDS_ECN

extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* The hooks, each checked apart: inlined, the branches of all of them would multiply. */
APART int hook_in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *now)
{
	return c && ack && now ? in_ack_event(c, s, ack, now) : 0;
}

APART int hook_cut_after_growth(conn_t *c, u32 s, params_t *now)
{
	return c && now ? cut_after_growth(c, s, now) : 0;
}

APART int hook_cong_avoid(conn_t *c, u32 s, u32 acked, params_t *now)
{
	if (c && now)
		cong_avoid(c, s, acked, now);
	return 0;
}

APART u64 hook_ssthresh(conn_t *c, u32 s, u32 flight, params_t *now)
{
	return c && now ? ssthresh(c, s, flight, now) : 0;
}

static __always_inline u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Leave the window and the threshold in the kernel's socket, within bounds. */
static __always_inline void leave(struct tcp_sock *tp, struct lp_socket *own, path_t *p)
{
	u32 threshold = TCP_INFINITE_SSTHRESH;
	u32 cwnd;

	if (p->cwnd < ONE || p->cwnd > fix(LP_MAX_CWND)) {
		count(LP_OUT_OF_BOUNDS, 1);
		p->cwnd = p->cwnd < ONE ? ONE : fix(LP_MAX_CWND);
	}
	cwnd = whole(p->cwnd);
	if (cwnd > tp->snd_cwnd_clamp)
		cwnd = tp->snd_cwnd_clamp;
	if (p->ssthresh < fix(TCP_INFINITE_SSTHRESH))
		threshold = whole(p->ssthresh);
	own->cwnd = cwnd;
	own->ssthresh = threshold;
	tp->snd_cwnd = cwnd;
	tp->snd_ssthresh = threshold;
}

/*
 * Take what the kernel has changed. A timeout lowers the window; nothing but an undo raises it, and lp_undo_cwnd is
 * told of that. The threshold is ours alone: what the kernel has in its place after it has asked for one may be
 * no answer of ours (see change_state).
 */
static __always_inline void take(struct tcp_sock *tp, struct lp_socket *own, path_t *p)
{
	if (tp->snd_cwnd && tp->snd_cwnd < own->cwnd)
		p->cwnd = fix(tp->snd_cwnd);
	p->srtt = tp->srtt_us;
	p->snd_una = tp->snd_una;
	p->snd_nxt = tp->snd_nxt;
}

/* The kernel's own rule, which `cong_control` skips; MPTCP's scheduler estimates times by it. */
static __always_inline void set_pacing_rate(struct sock *sk, struct tcp_sock *tp, path_t *p)
{
	u32 cwnd = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	/* 200% in slow start below half the threshold, 120% otherwise; srtt_us is in 1/8 us */
	u64 rate = (u64)tp->mss_cache * 8 * 1000000 / 100 * (p->cwnd < p->ssthresh / 2 ? 200 : 120);

	rate *= cwnd;
	if (tp->srtt_us)
		rate /= tp->srtt_us;
	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
}

/* Grow only while the window is what limits sending (RFC 7661, section 4.1; the kernel's tcp_is_cwnd_limited). */
static __always_inline bool is_cwnd_limited(struct tcp_sock *tp, const path_t *p)
{
	if (in_slow_start(p))
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

/*
 * An algorithm without ECN may be on a connection that has ECN (net.ipv4.tcp_ecn = 1). Its file then says MARK_IS_LOSS:
 * an echoed mark, of which CWR tells, counts as a loss (RFC 3168, section 6.1.2).
 */
#ifdef MARK_IS_LOSS
#define mark_is_loss true
#else
#define mark_is_loss false
#endif

/*
 * The window does not grow while it is reduced for a loss, or for a mark that counts as one (the kernel's
 * tcp_may_raise_cwnd). Nor does that of a suppressed subflow that has data still, because it is not a backup yet: each of its
 * ACKs would add one packet over the window of the first alone, which is half a packet at a window of two, and no cut would
 * hold that.
 */
static __always_inline bool may_grow(const conn_t *c, const struct lp_socket *own, const path_t *p, u8 state)
{
	return !p->in_recovery && !(mark_is_loss && state == TCP_CA_CWR) && (!c->suppressed || own->slot == c->first);
}

/* An ACK of several packets counts as two where slow start ends within it. */
static __always_inline void grow(conn_t *c, u32 s, path_t *p, u32 acked, params_t *now)
{
	if (in_slow_start(p) && p->cwnd + fix(acked) > p->ssthresh) {
		u32 below = (p->ssthresh - p->cwnd + ONE - 1) >> FIX_BITS;

		below = below < acked ? below : acked;
		hook_cong_avoid(c, s, below, now);
		acked -= below;
	}
	if (acked)
		hook_cong_avoid(c, s, acked, now);
}

/* Proportional rate reduction (RFC 6937, section 3, with the slow start reduction bound). */
static __always_inline void reduce(struct tcp_sock *tp, struct lp_socket *own, path_t *p, u32 acked, bool lost)
{
	u32 pipe = in_flight(tp), target = whole(p->ssthresh), out = tp->prr_out - own->prr_out;
	u32 send, most;

	own->prr_delivered += acked;
	if (pipe > target) {
		most = ((u64)target * own->prr_delivered + own->prior_cwnd - 1) / (own->prior_cwnd ? own->prior_cwnd : 1);
		send = most > out ? most - out : 0;
	} else {
		most = own->prr_delivered > out ? own->prr_delivered - out : 0;
		send = most > acked ? most : acked;
		send += acked && !lost;
		if (send > target - pipe)
			send = target - pipe;
	}
	if (!send && !out)
		send = 1; /* the fast retransmit */
	p->cwnd = fix(pipe + send ? pipe + send : 1);
}

/*
 * A change of the kernel's state: a loss or a timeout sets the threshold. lp_set_state is told of changes, but not of all:
 * Linux 6.18 was seen to enter recovery without running `ssthresh` and `set_state`, with 0x81103510 in place of the
 * threshold. So cong_control compares the states, and calls this for a change that is new to it.
 */
static __always_inline void change_state(conn_t *c, struct lp_socket *own, struct tcp_sock *tp, u8 state, params_t *now)
{
	bool lost = state == TCP_CA_Recovery ? own->ca_state != state : state == TCP_CA_Loss && own->asked;
	bool is_echo = state == TCP_CA_CWR && own->ca_state != state && mark_is_loss;
	path_t *p = path_of(c, own->slot);
	u32 flight;

	own->ca_state = state;
	own->asked = 0;
	if (!lost && !is_echo)
		return;
	own->prior_cwnd = tp->snd_cwnd > own->cwnd ? tp->snd_cwnd : own->cwnd;
	own->prior_ssthresh = own->ssthresh;
	own->prr_delivered = 0;
	own->prr_out = tp->prr_out;
	p->in_recovery = state == TCP_CA_Recovery;
	/* What limited transmit has sent beyond the window does not count (RFC 5681, section 3.2, step 2). */
	flight = tp->packets_out < own->prior_cwnd ? tp->packets_out : own->prior_cwnd;
	p->ssthresh = hook_ssthresh(c, own->slot, flight, now);
	own->ssthresh = whole(p->ssthresh);
	tp->snd_ssthresh = own->ssthresh;
	if (lost) {
		p->losses++;
	} else {
		p->cuts++;
		p->cwnd = p->ssthresh;
		leave(tp, own, p);
	}
}

SEC("struct_ops")
void BPF_PROG(lp_init, struct sock *sk)
{
	struct mptcp_subflow_context *subflow = subflow_of(sk);
	struct lp_socket *own = lp_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	params_t *now = current_params();
	struct sock *owner = subflow ? subflow->conn : 0;
	struct lp_entry *entry;
	conn_t *c;
	path_t *p;

	__builtin_memset(own, 0, sizeof(*own));
	own->key = owner ? (u64)owner : (u64)sk;
	own->delivered = tp->delivered;
	own->delivered_ce = tp->delivered_ce;
	own->lost = tp->lost;
	own->round_end = tp->snd_nxt;
	own->cwnd = tp->snd_cwnd;
	own->initial_cwnd = tp->snd_cwnd;
	own->ssthresh = tp->snd_ssthresh;
	own->prior_rcv_nxt = tp->rcv_nxt;
	own->ca_state = BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
	own->slot = NO_SLOT;
	entry = enter(own->key);
	if (entry)
		own->slot = take_slot(entry);
	if (!entry || !now || own->slot >= LP_SUBFLOWS) {
		count(LP_ALONE, 1);
		return;
	}
	c = &entry->conn;
	p = path_of(c, own->slot);
	p->cwnd = fix(tp->snd_cwnd);
	p->ssthresh = fix(tp->snd_ssthresh);
	take(tp, own, p);
#ifdef STARTS_WITH_ALPHA
	p->fraction.alpha = now->alpha0;
#endif
	if (!c->opened)
		c->opened = bpf_ktime_get_ns();
	copy_ends(sk, p);
	if (subflow) {
		struct mptcp_sock *msk = bpf_rdonly_cast(owner, bpf_core_type_id_kernel(struct mptcp_sock));

		/* One byte up to 6.6, and 16 bits since: the low byte is the identifier in both. */
		p->local.id = bpf_core_field_size(subflow->local_id) == 1 ? *(u8 *)&subflow->local_id :
									    subflow->local_id;
		p->remote.id = subflow->remote_id;
		p->initiated = BPF_CORE_READ_BITFIELD_PROBED(subflow, request_mptcp) ||
			       BPF_CORE_READ_BITFIELD_PROBED(subflow, request_join);
		c->token = msk->token;
	}
	c->netns = sk->__sk_common.skc_net.net->ns.inum;
	tell(c, own, LP_UP, sk, false);
}

SEC("struct_ops")
void BPF_PROG(lp_release, struct sock *sk)
{
	struct lp_socket *own = lp_sk(sk);
	struct lp_entry *entry = entry_of(own);
	bool released;
	conn_t *c;

	if (!entry)
		return;
	c = &entry->conn;
	tell(c, own, LP_DOWN, sk, false);
	if (give_back_slot(entry, own->slot, &released)) {
		u64 key = own->key;

		bpf_map_delete_elem(&connections, &key);
	} else if (released) {
		tell(c, own, LP_RELEASE, sk, false);
	}
	own->slot = NO_SLOT;
}

SEC("struct_ops")
void BPF_PROG(lp_cong_control, struct sock *sk)
{
	struct lp_socket *own = lp_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 state = BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
	u32 acked = tp->delivered - own->delivered, lost = tp->lost - own->lost;
	bool was_suppressed, was_in_recovery, cut;
	params_t *now = current_params();
	struct lp_ack ack = {};
	u64 before, threshold;
	struct lp_entry *entry = entry_of(own);
	conn_t *c;
	path_t *p;

	if (!entry || !now) {
		if (state == TCP_CA_Recovery || state == TCP_CA_CWR)
			tp->snd_cwnd = tp->snd_ssthresh > 1 ? tp->snd_ssthresh : 2;
		else if (acked)
			tcp_reno_cong_avoid(sk, tp->snd_una, acked);
		own->delivered = tp->delivered;
		return;
	}
	c = &entry->conn;
	p = path_of(c, own->slot);
	if (state != own->ca_state) {
		count(LP_UNTOLD, 1);
		/* A timeout in recovery or in CWR is no further reduction, as for tcp_enter_loss. */
		own->asked = own->ca_state < TCP_CA_CWR;
		change_state(c, own, tp, state, now);
	}
	was_in_recovery = p->in_recovery;
	p->in_recovery = state == TCP_CA_Recovery;
	take(tp, own, p);
	/* Recovery is over, not by a timeout, and the kernel has not undone it. */
	if (was_in_recovery && state < TCP_CA_Recovery)
		p->cwnd = p->ssthresh;
	if (p->in_recovery)
		reduce(tp, own, p, acked, lost);
	if (!acked && !after(tp->snd_una, own->round_end))
		goto out;

	count(LP_ACKS, 1);
	ack.acked = acked;
	ack.marked = tp->delivered_ce != own->delivered_ce;
	ack.round_ended = after(tp->snd_una, own->round_end);
	p->delivered += acked;
	p->marked += tp->delivered_ce - own->delivered_ce;
	p->lost += lost;
	own->delivered = tp->delivered;
	own->delivered_ce = tp->delivered_ce;
	own->lost = tp->lost;
	if (ack.round_ended) {
		own->round_end = tp->snd_nxt;
		p->rounds++;
	}

	was_suppressed = c->suppressed;
	take_ack(p);
	before = p->cwnd;
	threshold = p->ssthresh;
	cut = hook_in_ack_event(c, own->slot, &ack, now);
	if (!cut && acked && may_grow(c, own, p, state) && is_cwnd_limited(tp, p))
		grow(c, own->slot, p, acked, now);
	if (ack.marked)
		hook_cut_after_growth(c, own->slot, now);
	/* The window is being reduced for a loss: a mark of the same window does not reduce it again (RFC 3168, 6.1.2). */
	if (p->in_recovery) {
		p->cwnd = before;
		p->ssthresh = threshold;
	}
	if (c->suppressed != was_suppressed)
		tell(c, own, c->suppressed ? LP_SUPPRESS : LP_RELEASE, sk, false);
	if (ack.round_ended) {
		struct mptcp_subflow_context *subflow = subflow_of(sk);

		/* Set by the peer, and by this end. */
		p->backup = subflow && (BPF_CORE_READ_BITFIELD_PROBED(subflow, backup) ||
					BPF_CORE_READ_BITFIELD_PROBED(subflow, request_bkup));
		if (now->observe)
			tell(c, own, LP_ROUND, sk, true);
	}
	if (now->join_bytes && !c->join_told && tp->bytes_sent >= now->join_bytes) {
		c->join_told = 1;
		tell(c, own, LP_JOIN_BYTES, sk, false);
	}
out:
	leave(tp, own, p);
	set_pacing_rate(sk, tp, p);
}

/*
 * The kernel asks before a loss and before CWR, and says which only by the change of state that follows. There the
 * algorithm answers, so that it does not take a mark for a loss.
 */
SEC("struct_ops")
u32 BPF_PROG(lp_ssthresh, struct sock *sk)
{
	struct lp_socket *own = lp_sk(sk);

	/* A SYN may time out before lp_init. */
	if (!own->key || own->slot >= LP_SUBFLOWS)
		return tcp_reno_ssthresh(sk);
	own->asked = 1;
	return own->ssthresh;
}

SEC("struct_ops")
void BPF_PROG(lp_set_state, struct sock *sk, u8 new_state)
{
	struct lp_socket *own = lp_sk(sk);
	params_t *now = current_params();
	struct lp_entry *entry = entry_of(own);

	if (entry && now)
		change_state(&entry->conn, own, tcp_sk(sk), new_state, now);
}

/* The loss was none: the window and the threshold are what they were before it. */
SEC("struct_ops")
u32 BPF_PROG(lp_undo_cwnd, struct sock *sk)
{
	struct lp_socket *own = lp_sk(sk);
	struct lp_entry *entry = entry_of(own);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;
	path_t *p;

	if (!entry)
		return tcp_reno_undo_cwnd(sk);
	p = path_of(&entry->conn, own->slot);
	cwnd = cwnd > own->prior_cwnd ? cwnd : own->prior_cwnd;
	own->cwnd = cwnd;
	own->ssthresh = own->ssthresh > own->prior_ssthresh ? own->ssthresh : own->prior_ssthresh;
	p->cwnd = fix(cwnd);
	p->ssthresh = fix(own->ssthresh);
	p->in_recovery = 0;
	return cwnd;
}

/*
 * The subflow sends again, with nothing in flight. If it has sent nothing for longer than a retransmission timeout, it begins
 * again with half its window for each timeout, and at least the initial window (RFC 2861, section 3.1). The kernel does
 * so for its own algorithms (tcp_slow_start_after_idle_check, tcp_cwnd_restart), and leaves it to those with
 * `cong_control`.
 */
static __always_inline void restart_after_idle(struct sock *sk)
{
	u32 rto = inet_csk(sk)->icsk_rto, idle, least;
	struct lp_socket *own = lp_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct lp_entry *entry;
	path_t *p;

	idle = (u32)bpf_jiffies64() - tp->lsndtime;
	if (tp->packets_out || (s32)(idle - rto) <= 0 || !own->key)
		return;
	entry = entry_of(own);
	if (!entry || !sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle)
		return;
	p = path_of(&entry->conn, own->slot);
	/* The kernel's tcp_current_ssthresh: outside recovery at least three quarters of the window. */
	if (!p->in_recovery)
		p->ssthresh = fix_max(p->ssthresh, p->cwnd / 4 * 3);
	least = own->initial_cwnd;
	for (u32 i = 0; i < 32 && idle > rto && p->cwnd > fix(least); i++) {
		p->cwnd = fix_max(p->cwnd / 2, fix(least));
		idle -= rto;
	}
	leave(tp, own, p);
}

/*
 * The receiver's half of DCTCP (RFC 8257, section 3.2): each change of the mark is acknowledged at once, so that
 * the sender learns of each packet whether it was marked.
 */
SEC("struct_ops")
void BPF_PROG(lp_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct lp_socket *own = lp_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 marked = event == CA_EVENT_ECN_IS_CE;

	if (event == CA_EVENT_TX_START)
		restart_after_idle(sk);
	if (event != CA_EVENT_ECN_IS_CE && event != CA_EVENT_ECN_NO_CE)
		return;
	if (own->ce_state != marked) {
		/* An ACK is delayed: it is for what came before, with the mark of that time. */
		if (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_TIMER) {
			if (own->ce_state)
				tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			else
				tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			bpf_tcp_send_ack(tp, own->prior_rcv_nxt);
		}
		/*
		 * And what has just come is acknowledged now (the kernel's dctcp_ece_ack_update). Were it not, the kernel would
		 * hold it and one more back: the ACK above has told it that nothing is owed (rcv_wup in tcp_select_window).
		 */
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	own->prior_rcv_nxt = tp->rcv_nxt;
	own->ce_state = marked;
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

#define CONTROLLER(algorithm, ecn)                            \
	SEC(".struct_ops")                                    \
	struct tcp_congestion_ops lp_##algorithm = {          \
		.init = (void *)lp_init,                      \
		.release = (void *)lp_release,                \
		.cong_control = (void *)lp_cong_control,      \
		.ssthresh = (void *)lp_ssthresh,              \
		.set_state = (void *)lp_set_state,            \
		.undo_cwnd = (void *)lp_undo_cwnd,            \
		.cwnd_event = (void *)lp_cwnd_event,          \
		.flags = TCP_CONG_NON_RESTRICTED | (ecn),     \
		.name = "lp_" #algorithm,                     \
	}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The output port of a switch: at the egress of a device whose root queue is a token bucket (tbf), for each packet that is about to
 * join the queue. Marks Congestion Experienced by the queue length that the packet finds, without itself and without the packet that
 * is being sent, as the simulator's ports do (crates/network/src/thresholds.rs).
 */
#include "device.h"

/* Set before packets come; all bits set: never. */
struct port {
	__u32 limit_packets;
	__u32 limit_bytes;
	__u32 mark_packets;
	__u32 mark_bytes;
	/* Is a packet dropped that would be marked, and is not ECN-capable? */
	__u32 drops_non_ect;
	/* Bytes on the wire that the device does not have. */
	__u32 around;
	/* Of the link, bit/s. */
	__u64 rate;
	/* A delay that costs the link nothing, because the bucket holds what it would have sent, ns. */
	__u64 slack;
};

struct counters {
	__u64 packets;
	__u64 bytes;
	__u64 marks;
	/* Dropped here; the queue counts those for which it has no room. */
	__u64 drops;
	/* The longest queue that a packet has found and made longer, packets. */
	__u64 longest;
};

/* How well a port keeps its rate. */
struct pace {
	struct bpf_spin_lock lock;
	/* Bytes sent when the last packet came. */
	__u64 sent;
	/* When an ideal link would have sent them, ns. */
	__u64 until;
	/* So long the port has not sent since packets wait, though it should have, ns. */
	__u64 behind;
	/* The same of earlier times in which packets waited, ns. */
	__u64 lost;
};

/* All by the number of the link: that of the device, less FIRST_LINK. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct port);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pace);
} paces SEC(".maps");

/*
 * A packet comes to a port that has sent these bytes. The bucket of a port that is in time runs empty while packets wait: what it has
 * sent would have kept an ideal link busy until now at least. What is missing, less what the bucket still lets it send, is lost.
 */
static void keep_pace(struct pace *pace, const struct port *port, __u64 sent, int waits)
{
	__u64 now = bpf_ktime_get_ns(), due;

	bpf_spin_lock(&pace->lock);
	/* Rounded up: nothing is taken for lost that is not. */
	pace->until += ((sent - pace->sent) * 8000000000 + port->rate - 1) / port->rate;
	pace->sent = sent;
	if (waits) {
		due = pace->until + port->slack;
		pace->behind = now > due ? now - due : 0;
	} else {
		pace->lost += pace->behind;
		pace->behind = 0;
		if (pace->until < now)
			pace->until = now;
	}
	bpf_spin_unlock(&pace->lock);
}

SEC("tc")
int lp_port(struct __sk_buff *skb)
{
	struct sk_buff *packet = bpf_cast_to_kern_ctx(skb);
	struct Qdisc *queue = packet->dev->qdisc;
	__u32 link = skb->ifindex - FIRST_LINK;
	struct port *port = bpf_map_lookup_elem(&ports, &link);
	struct counters *counters = bpf_map_lookup_elem(&counted, &link);
	struct pace *pace = bpf_map_lookup_elem(&paces, &link);
	__u32 packets = queue->q.qlen, bytes = queue->qstats.backlog;

	if (!port || !counters || !pace)
		return TC_ACT_SHOT;
	keep_pace(pace, port, queue->bstats.bytes.v.a.a.counter, packets > 0);
	counters->packets++;
	counters->bytes += skb->len + port->around;
	/* The queue drops it, without a mark. */
	if (packets >= port->limit_packets || bytes + skb->len + port->around > port->limit_bytes)
		return TC_ACT_OK;
	if (packets >= port->mark_packets || bytes >= port->mark_bytes) {
		if (bpf_skb_ecn_set_ce(skb)) {
			counters->marks++;
		} else if (port->drops_non_ect) {
			counters->drops++;
			return TC_ACT_SHOT;
		}
	}
	if (packets && packets + 1 > counters->longest)
		counters->longest = packets + 1;
	return TC_ACT_OK;
}

char _license[] SEC("license") = "GPL";

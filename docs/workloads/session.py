"""Prefill on eight hosts, decoding on eight others: the time to the first token of requests.

The serving model is ours: queues, batches and times of computation. The network is linkpool's: each
prefill host sends the keys and values of a prompt (KV) to the decode host with the least load.
"""

import heapq
import sys
from collections import deque
from pathlib import Path

import numpy as np

import linkpool

MS = 1_000_000_000  # picoseconds
KV_PER_TOKEN = 131_072  # bytes: 32 layers, keys and values, 8 heads, 128 numbers of 2 bytes
PREFILL_PER_TOKEN = 20_000_000  # picoseconds: 50,000 tokens a second
PREFILL, DECODE = range(8), range(8, 16)


def serve(scenario: Path, requests: int, out: Path | None) -> dict[str, np.ndarray]:
    """Serve requests that arrive at random; return the times of each, in picoseconds."""
    random = np.random.default_rng(1)
    arrival = np.cumsum(random.exponential(0.4 * MS, requests)).astype(int).tolist()
    tokens = random.integers(64, 257, requests).tolist()
    waiting, idle = deque(), deque(PREFILL)
    load = dict.fromkeys(DECODE, 0)
    computed, first_token = np.zeros(requests, int), np.zeros(requests, int)
    # What happens outside of the network: (when, what, request, host).
    agenda = [(at, "arrives", request, -1) for request, at in enumerate(arrival)]
    heapq.heapify(agenda)
    with linkpool.Session(scenario, out=out) as network:
        while agenda or network.open_messages:
            # The network goes on until something happens in it, or to the next item here.
            network.step(agenda[0][0] if agenda else network.end_ps)
            for event in network.events():
                if event.what == "delivered":
                    first_token[event.tag] = event.at_ps
                    load[event.destination] -= event.bytes
            while agenda and agenda[0][0] <= network.now_ps:
                now, what, request, host = heapq.heappop(agenda)
                if what == "arrives":
                    waiting.append(request)
                else:
                    computed[request] = now
                    idle.append(host)
                    least = min(load, key=load.__getitem__)
                    size = tokens[request] * KV_PER_TOKEN
                    load[least] += size
                    network.send(host, least, size, tag=request, at_ps=max(now, network.now_ps))
                while waiting and idle:
                    request, host = waiting.popleft(), idle.popleft()
                    done = now + tokens[request] * PREFILL_PER_TOKEN
                    heapq.heappush(agenda, (done, "computed", request, host))
    return {"arrival": np.array(arrival), "computed": computed, "first_token": first_token}


if __name__ == "__main__":
    times = serve(Path(__file__).with_name("session.toml"), 30, Path(sys.argv[1]))
    wait = (times["first_token"] - times["arrival"]) / MS
    network = (times["first_token"] - times["computed"]) / MS
    for name, some in (("time to first token", wait), ("of it, the network", network)):
        print(f"{name}: p50 {np.median(some):5.2f} ms, p90 {np.quantile(some, 0.9):5.2f} ms")

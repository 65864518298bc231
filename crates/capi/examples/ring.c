/* A ring of all-reduce over the hosts of a scenario with a [[workload.session]]: each host sends its part to the next as
 * soon as it has the part of the one before it, 2 (n - 1) times. The answer comes at the instant of the event.
 *
 *     cc ring.c $(pkg-config --cflags --libs linkpool) -o ring
 *     ./ring docs/workloads/session.toml 1000000 [RESULTS]
 */
#include <inttypes.h>
#include <linkpool.h>
#include <stdio.h>
#include <stdlib.h>

struct ring {
    uint32_t hosts;
    uint64_t steps;
    uint64_t part;
};

/* The tag of a part is its step. */
static int pass_on(linkpool_here *here, const linkpool_event *event, void *user) {
    const struct ring *ring = user;
    if (event->what != LINKPOOL_HAPPENED_DELIVERED || event->tag + 1 == ring->steps)
        return 0;
    linkpool_message next = {
        .bytes = ring->part,
        .tag = event->tag + 1,
        .at_ps = event->at_ps,
        .source = event->destination,
        .destination = (event->destination + 1) % ring->hosts,
    };
    return linkpool_here_send(here, &next, NULL);
}

static int fail(linkpool_session *session, linkpool_status status) {
    char why[1000] = "";
    linkpool_session_error(session, why, sizeof why);
    fprintf(stderr, "%s: %s\n", linkpool_status_text(status), why);
    linkpool_session_free(session);
    return 1;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "give a scenario and the bytes of each host\n");
        return 2;
    }
    struct ring ring = {0};
    linkpool_options options = {
        .size = sizeof options,
        .scenario = arguments[1],
        .directory = count > 3 ? arguments[3] : NULL,
        .callback = pass_on,
        .user = &ring,
    };
    linkpool_session *session;
    linkpool_status status = linkpool_session_open(&options, &session);
    uint64_t hosts, end;
    if (status || (status = linkpool_session_hosts(session, &hosts)) || (status = linkpool_session_end(session, &end)))
        return fail(session, status);
    ring.hosts = (uint32_t)hosts;
    ring.steps = 2 * (hosts - 1);
    ring.part = (strtoull(arguments[2], NULL, 10) + hosts - 1) / hosts;
    for (uint32_t host = 0; host < ring.hosts; host++) {
        linkpool_message first = {.bytes = ring.part, .source = host, .destination = (host + 1) % ring.hosts};
        if ((status = linkpool_session_send(session, &first, 1, NULL, NULL)))
            return fail(session, status);
    }
    uint64_t last = 0, messages = 0;
    size_t taken;
    int happened = 1;
    while (happened) {
        linkpool_event events[64];
        if ((status = linkpool_session_step(session, end, &happened)) ||
            (status = linkpool_session_events(session, events, 64, &taken)))
            return fail(session, status);
        for (size_t i = 0; i < taken; i++) {
            if (events[i].what == LINKPOOL_HAPPENED_DELIVERED) {
                messages++;
                last = events[i].at_ps > last ? events[i].at_ps : last;
            }
        }
    }
    if ((status = linkpool_session_close(session)))
        return fail(session, status);
    linkpool_session_free(session);
    printf("%" PRIu64 " messages take %" PRIu64 " ps\n", messages, last);
    return 0;
}

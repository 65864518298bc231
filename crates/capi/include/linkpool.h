/* linkpool: a run that a program drives, from C, C++ or any other language.
 *
 * This file is made of the sources in crates/capi/src; docs/c.md is its guide.
 *
 * Times are whole picoseconds of simulated time. Hosts and channels are indices from 0 on. Every
 * function but those that return a text answers with a status, of which LINKPOOL_STATUS_OK is 0; a
 * call that fails changes nothing unless its status says so. No call ends the process. Two sessions
 * share nothing, so each may have a thread of its own; calls with one session wait for nobody: the
 * second of two at once is answered with LINKPOOL_STATUS_BUSY. */

#ifndef LINKPOOL_H
#define LINKPOOL_H

#include <stddef.h>
#include <stdint.h>

/*
 The version of this interface: it grows with each change that a compiled program notices.
 */
#define LINKPOOL_ABI 1

/*
 How a call has ended.
 */
typedef enum linkpool_status {
  /*
   As asked.
   */
  LINKPOOL_STATUS_OK = 0,
  /*
   A pointer is null, or not aligned, that must lead somewhere.
   */
  LINKPOOL_STATUS_NULL = 1,
  /*
   An argument is not allowed: no such host, a time that is past, a text that is not UTF-8.
   */
  LINKPOOL_STATUS_ARGUMENT = 2,
  /*
   The session is in use: by another thread, or by the call that has called back.
   */
  LINKPOOL_STATUS_BUSY = 3,
  /*
   The session is closed, or has failed before.
   */
  LINKPOOL_STATUS_CLOSED = 4,
  /*
   The scenario cannot be read, or no program can drive it.
   */
  LINKPOOL_STATUS_SCENARIO = 5,
  /*
   The run cannot go on. The session is closed, and has no result.
   */
  LINKPOOL_STATUS_RUN = 6,
  /*
   A file cannot be written. The session is closed, and has no result.
   */
  LINKPOOL_STATUS_WRITE = 7,
  /*
   A callback has stopped the run. The session is closed, and has no result.
   */
  LINKPOOL_STATUS_STOPPED = 8,
  /*
   A bug in linkpool. The session is closed, and has no result.
   */
  LINKPOOL_STATUS_PANIC = 9,
} linkpool_status;

/*
 What happens to a message, in the order in which it does; or to a timer.
 */
typedef enum linkpool_happened {
  /*
   All bytes of the message have arrived at the destination, in order.
   */
  LINKPOOL_HAPPENED_DELIVERED = 0,
  /*
   The source knows that all bytes have arrived.
   */
  LINKPOOL_HAPPENED_ACKED = 1,
  /*
   The source has given up.
   */
  LINKPOOL_HAPPENED_GIVEN_UP = 2,
  /*
   The timer is due at its host, the destination.
   */
  LINKPOOL_HAPPENED_TIMER = 3,
} linkpool_happened;

/*
 What a callback gets: the host of its event, at the instant of the event. It is valid until the
 callback returns.
 */
typedef struct linkpool_here linkpool_here;

/*
 Receives and arrivals, which meet by source, destination and tag, in the order in which each
 came; bytes are counted, so messages may be split or joined, and data may come first. It knows
 of no session, and several threads may use it.
 */
typedef struct linkpool_receives linkpool_receives;

/*
 A run that a program drives.
 */
typedef struct linkpool_session linkpool_session;

/*
 What has happened.
 */
typedef struct linkpool_event {
  /*
   When.
   */
  uint64_t at_ps;
  /*
   The size of the message; 0 of a timer.
   */
  uint64_t bytes;
  /*
   What the program has given with the message or the timer.
   */
  uint64_t tag;
  /*
   From when on the source had the message; when the timer was due.
   */
  uint64_t sent_ps;
  /*
   What.
   */
  enum linkpool_happened what;
  /*
   The number of the message, which is that of its flow in the results.
   */
  uint32_t message;
  /*
   The host that has sent the message, or set the timer.
   */
  uint32_t source;
  /*
   The host that gets it.
   */
  uint32_t destination;
} linkpool_event;

/*
 Called with each event when it happens, at the host that learns of it: of a message that is
 delivered and of a timer the destination, otherwise the source. It may call the `linkpool_here_`
 functions; those with the session answer with LINKPOOL_STATUS_BUSY. 0: go on; any other number
 stops the run. No exception of C++ may leave it, nor longjmp. With several threads it is called
 by several at once.
 */
typedef int (*linkpool_callback)(struct linkpool_here *here,
                                 const struct linkpool_event *event,
                                 void *user);

/*
 How a session is opened. What is zero has its default.
 */
typedef struct linkpool_options {
  /*
   `sizeof(linkpool_options)`: a later version may have more members.
   */
  size_t size;
  /*
   The path of the scenario file, in UTF-8.
   */
  const char *scenario;
  /*
   Keys of the scenario to replace, each as in "transport.t.mss=1500" or "seed=7".
   */
  const char *const *set;
  /*
   How many.
   */
  size_t set_count;
  /*
   The directory for the results, which is new or empty; null: there are none.
   */
  const char *directory;
  /*
   Threads of the simulation, up to 64; 0: one.
   */
  uint32_t threads;
  /*
   Called with each event when it happens; null: events only wait to be taken.
   */
  linkpool_callback callback;
  /*
   What the callback gets.
   */
  void *user;
} linkpool_options;

/*
 A message to send.
 */
typedef struct linkpool_message {
  /*
   Its size. (One of 0 bytes takes a packet with one byte.)
   */
  uint64_t bytes;
  /*
   Whatever the program likes; its events have it.
   */
  uint64_t tag;
  /*
   When the source gets it: now or later.
   */
  uint64_t at_ps;
  /*
   The host that sends it.
   */
  uint32_t source;
  /*
   The host that receives it, another one.
   */
  uint32_t destination;
  /*
   Which `[[workload.session]]` of the scenario, which says the transport: 0 is the first.
   */
  uint32_t channel;
} linkpool_message;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The value of LINKPOOL_ABI of the library, which may be another than that of the header.
 */
uint32_t linkpool_abi(void);

/*
 The version of linkpool.
 */
const char *linkpool_version(void);

/*
 What a status means, in a few words. The text stays.
 */
const char *linkpool_status_text(int status);

/*
 Opens a run, at time 0. Unless LINKPOOL_STATUS_NULL is the answer, there is a session
 afterwards, which linkpool_session_free frees; if it could not be opened, it is closed, and
 linkpool_session_error says why.
 */
enum linkpool_status linkpool_session_open(const struct linkpool_options *options,
                                           struct linkpool_session **session);

/*
 Frees a session; null is nothing. One that is not closed ends without results. (Within a
 callback of the session: LINKPOOL_STATUS_BUSY, and it is not freed.)
 */
enum linkpool_status linkpool_session_free(struct linkpool_session *session);

/*
 Ends the run at the clock, and writes its results if there is a directory for them.
 */
enum linkpool_status linkpool_session_close(struct linkpool_session *session);

/*
 Copies the reason for the last error of the session to `text`, as far as `capacity` bytes with
 the NUL hold it. Returns its length, as snprintf does. (Null, busy and closed have no reason
 beside linkpool_status_text.)
 */
size_t linkpool_session_error(const struct linkpool_session *session, char *text, size_t capacity);

/*
 The clock: all that is due before has happened, and nothing that is due at it or later.
 */
enum linkpool_status linkpool_session_now(const struct linkpool_session *session, uint64_t *now_ps);

/*
 The end of the scenario, duration and drain, beyond which the clock does not go.
 */
enum linkpool_status linkpool_session_end(const struct linkpool_session *session, uint64_t *end_ps);

/*
 The least time that anything takes from one host to another.
 */
enum linkpool_status linkpool_session_lookahead(const struct linkpool_session *session,
                                                uint64_t *lookahead_ps);

/*
 The number of hosts.
 */
enum linkpool_status linkpool_session_hosts(const struct linkpool_session *session,
                                            uint64_t *hosts);

/*
 The number of channels: workloads of kind `session`.
 */
enum linkpool_status linkpool_session_channels(const struct linkpool_session *session,
                                               uint64_t *channels);

/*
 Messages that are neither acknowledged nor given up, as far as events are known.
 */
enum linkpool_status linkpool_session_open_messages(const struct linkpool_session *session,
                                                    uint64_t *messages);

/*
 Timers that have not been due, as far as events are known.
 */
enum linkpool_status linkpool_session_open_timers(const struct linkpool_session *session,
                                                  uint64_t *timers);

/*
 The index of the host with this name.
 */
enum linkpool_status linkpool_session_host(const struct linkpool_session *session,
                                           const char *name,
                                           uint32_t *host);

/*
 The place of the channel with this label, the first if several have it.
 */
enum linkpool_status linkpool_session_channel(const struct linkpool_session *session,
                                              const char *label,
                                              uint32_t *channel);

/*
 Copies the name of a host to `name`, as far as `capacity` bytes with the NUL hold it; `length`,
 if it is not null, is how long it is.
 */
enum linkpool_status linkpool_session_host_name(const struct linkpool_session *session,
                                                uint32_t host,
                                                char *name,
                                                size_t capacity,
                                                size_t *length);

/*
 Sends messages, and puts their numbers to `numbers`, if it is not null. If one cannot be sent,
 those before it are; `sent`, if it is not null, says how many.
 */
enum linkpool_status linkpool_session_send(struct linkpool_session *session,
                                           const struct linkpool_message *messages,
                                           size_t count,
                                           uint32_t *numbers,
                                           size_t *sent);

/*
 Sets a timer: there is an event at `host` at `at_ps`, which is now or later.
 */
enum linkpool_status linkpool_session_timer(struct linkpool_session *session,
                                            uint32_t host,
                                            uint64_t tag,
                                            uint64_t at_ps);

/*
 Lets time pass to `to_ps`: all that is due before happens.
 */
enum linkpool_status linkpool_session_advance(struct linkpool_session *session, uint64_t to_ps);

/*
 Lets time pass until there is an event to take, and no longer than to `to_ps`. The clock is then
 at most a lookahead beyond the event. `happened`, if it is not null, is 1 if there is one, else
 0.
 */
enum linkpool_status linkpool_session_step(struct linkpool_session *session,
                                           uint64_t to_ps,
                                           int *happened);

/*
 Lets time pass until every message is acknowledged or given up and every timer has been due, and
 no longer than the scenario lasts. `all`, if it is not null, is 1 if nothing is left, else 0.
 */
enum linkpool_status linkpool_session_drain(struct linkpool_session *session, int *all);

/*
 Takes events that are known, in order of time, up to `capacity` of them; `count` is how many.
 */
enum linkpool_status linkpool_session_events(struct linkpool_session *session,
                                             struct linkpool_event *events,
                                             size_t capacity,
                                             size_t *count);

/*
 Copies the reason for the last error of a `linkpool_here_` function in this callback, as
 linkpool_session_error does.
 */
size_t linkpool_here_error(const struct linkpool_here *here, char *text, size_t capacity);

/*
 The present, and the least time that anything takes from this host to another. Either place may
 be null.
 */
enum linkpool_status linkpool_here_now(struct linkpool_here *here,
                                       uint64_t *now_ps,
                                       uint64_t *lookahead_ps);

/*
 Sends a message from the host of the callback, which is its source; `number`, if it is not null,
 is its number.
 */
enum linkpool_status linkpool_here_send(struct linkpool_here *here,
                                        const struct linkpool_message *message,
                                        uint32_t *number);

/*
 Sets a timer: at the host of the callback, now or later; at another, a lookahead from now or
 later.
 */
enum linkpool_status linkpool_here_timer(struct linkpool_here *here,
                                         uint32_t host,
                                         uint64_t tag,
                                         uint64_t at_ps);

/*
 Makes an empty one, which linkpool_receives_free frees.
 */
enum linkpool_status linkpool_receives_new(struct linkpool_receives **receives);

/*
 Frees it; null is nothing.
 */
enum linkpool_status linkpool_receives_free(struct linkpool_receives *receives);

/*
 Someone waits for `bytes` of (source, destination, tag); `token` is what linkpool_receives_take
 returns for it. One of 0 bytes waits for a message, too.
 */
enum linkpool_status linkpool_receives_post(struct linkpool_receives *receives,
                                            uint32_t source,
                                            uint32_t destination,
                                            uint64_t tag,
                                            uint64_t bytes,
                                            uint64_t token);

/*
 A message of `bytes` of (source, destination, tag) has arrived.
 */
enum linkpool_status linkpool_receives_arrive(struct linkpool_receives *receives,
                                              uint32_t source,
                                              uint32_t destination,
                                              uint64_t tag,
                                              uint64_t bytes);

/*
 Takes the next receive that has all it wanted: `taken` is 1, and `token` is its own; 0: there is
 none.
 */
enum linkpool_status linkpool_receives_take(struct linkpool_receives *receives,
                                            uint64_t *token,
                                            int *taken);

/*
 How many receives still want bytes, and how many messages have bytes that nobody has wanted yet.
 Either place may be null.
 */
enum linkpool_status linkpool_receives_count(struct linkpool_receives *receives,
                                             uint64_t *waiting,
                                             uint64_t *early);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LINKPOOL_H */

#include "network.hh"

#include <cmath>
#include <stdexcept>

namespace linkpool_astra {

namespace {

// The tag of a message: the place of who waits for it, and ASTRA-sim's own tag, which the results have.
std::uint64_t tag_of(std::uint32_t place, int tag) {
    return static_cast<std::uint64_t>(place) << 32 | static_cast<std::uint32_t>(tag);
}

std::uint32_t place_of(std::uint64_t tag) {
    return static_cast<std::uint32_t>(tag >> 32);
}

}  // namespace

Run::Run(const Settings& settings) : send_complete_(settings.send_complete), channel_(settings.channel) {
    std::vector<const char*> set;
    for (const auto& key : settings.set)
        set.push_back(key.c_str());
    linkpool_options options{};
    options.size = sizeof options;
    options.scenario = settings.scenario.c_str();
    options.set = set.data();
    options.set_count = set.size();
    options.directory = settings.results.empty() ? nullptr : settings.results.c_str();
    options.callback = on_event;
    options.user = this;
    linkpool_session* session = nullptr;
    const auto status = linkpool_session_open(&options, &session);
    session_.reset(session);
    check(status);
    linkpool_receives* receives = nullptr;
    check(linkpool_receives_new(&receives));
    receives_.reset(receives);
    check(linkpool_session_hosts(session, &hosts_));
    check(linkpool_session_end(session, &end_ps_));
    check(linkpool_session_lookahead(session, &lookahead_ps_));
}

std::uint64_t Run::now_ps() const {
    if (here_)
        return here_ps_;
    std::uint64_t now = 0;
    check(linkpool_session_now(session_.get(), &now));
    return now;
}

void Run::schedule(std::uint32_t rank, std::uint64_t after_ps, Call call) {
    timer(rank, now_ps() + after_ps, tag_of(keep({call, 0, 1}), 0));
}

void Run::send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, int tag, Call call) {
    if (from == to) {
        // No packet leaves the host: it has what it sends at once.
        schedule(from, 0, call);
        arrives(from, to, tag, bytes);
        return;
    }
    linkpool_message message{};
    message.bytes = bytes;
    // The sender learns that all has arrived, and that it is acknowledged.
    message.tag = tag_of(keep({call, tag, 2}), tag);
    message.at_ps = now_ps();
    message.source = from;
    message.destination = to;
    message.channel = channel_;
    check(here_ ? linkpool_here_send(here_, &message, nullptr)
                : linkpool_session_send(session_.get(), &message, 1, nullptr, nullptr));
}

void Run::receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, int tag, Call call) {
    const auto place = keep({call, tag, 1});
    check(linkpool_receives_post(receives_.get(), from, to, static_cast<std::uint32_t>(tag), bytes, place));
    std::uint64_t done = 0;
    int taken = 0;
    check(linkpool_receives_take(receives_.get(), &done, &taken));
    // The data has come before. The rank that asks is not called within its own call.
    if (taken)
        timer(to, now_ps(), done << 32);
}

void Run::arrives(std::uint32_t from, std::uint32_t to, int tag, std::uint64_t bytes) {
    check(linkpool_receives_arrive(receives_.get(), from, to, static_cast<std::uint32_t>(tag), bytes));
    std::uint64_t done = 0;
    int taken = 0;
    while (check(linkpool_receives_take(receives_.get(), &done, &taken)), taken)
        timer(to, now_ps(), done << 32);
}

void Run::timer(std::uint32_t rank, std::uint64_t at_ps, std::uint64_t tag) {
    check(here_ ? linkpool_here_timer(here_, rank, tag, at_ps)
                : linkpool_session_timer(session_.get(), rank, tag, at_ps));
}

std::uint32_t Run::keep(const Waiting& waiting) {
    if (free_.empty()) {
        waiting_.push_back(waiting);
        return static_cast<std::uint32_t>(waiting_.size() - 1);
    }
    const auto place = free_.back();
    free_.pop_back();
    waiting_[place] = waiting;
    return place;
}

void Run::release(std::uint32_t place) {
    if (--waiting_[place].events == 0)
        free_.push_back(place);
}

int Run::on_event(linkpool_here* here, const linkpool_event* event, void* run) noexcept {
    auto& self = *static_cast<Run*>(run);
    self.here_ = here;
    self.here_ps_ = event->at_ps;
    try {
        self.happens(*event);
    } catch (...) {
        self.failed_ = std::current_exception();
    }
    self.here_ = nullptr;
    return self.failed_ ? 1 : 0;
}

void Run::happens(const linkpool_event& event) {
    const auto place = place_of(event.tag);
    const auto call = waiting_[place].call;
    switch (event.what) {
        case LINKPOOL_HAPPENED_TIMER:
            release(place);
            call.function(call.argument);
            break;
        case LINKPOOL_HAPPENED_DELIVERED:
            if (send_complete_ == SendComplete::Arrival)
                timer(event.source, here_ps_ + lookahead_ps_, tag_of(keep({call, 0, 1}), 0));
            arrives(event.source, event.destination, waiting_[place].tag, event.bytes);
            release(place);
            break;
        case LINKPOOL_HAPPENED_ACKED:
            release(place);
            if (send_complete_ == SendComplete::Acknowledgement)
                call.function(call.argument);
            break;
        case LINKPOOL_HAPPENED_GIVEN_UP:
            throw std::runtime_error("rank " + std::to_string(event.source) + " has given up a message to rank " +
                                     std::to_string(event.destination) + " (syn_retries, fail_after of the transport)");
    }
}

void Run::go() {
    for (int happened = 1; happened;) {
        const auto status = linkpool_session_step(session_.get(), end_ps_, &happened);
        if (failed_)
            std::rethrow_exception(failed_);
        check(status);
        linkpool_event events[64];
        std::size_t count = 1;
        while (count > 0)
            check(linkpool_session_events(session_.get(), events, 64, &count));
        std::uint64_t messages = 0, timers = 0;
        check(linkpool_session_open_messages(session_.get(), &messages));
        check(linkpool_session_open_timers(session_.get(), &timers));
        if (messages == 0 && timers == 0)
            break;
        if (!happened)
            throw std::runtime_error("the scenario ends (duration, drain) before " + std::to_string(messages) +
                                     " messages and " + std::to_string(timers) + " timers");
    }
    std::uint64_t waiting = 0;
    check(linkpool_receives_count(receives_.get(), &waiting, nullptr));
    if (waiting > 0)
        throw std::runtime_error(std::to_string(waiting) + " receives wait for data that nobody sends");
}

void Run::close() {
    check(linkpool_session_close(session_.get()));
}

void Run::check(linkpool_status status) const {
    if (status == LINKPOOL_STATUS_OK)
        return;
    char why[2000] = "";
    if (here_)
        linkpool_here_error(here_, why, sizeof why);
    else
        linkpool_session_error(session_.get(), why, sizeof why);
    throw std::runtime_error(std::string("linkpool: ") + linkpool_status_text(status) + (*why ? ": " : "") + why);
}

int RankNetwork::sim_send(void*, std::uint64_t count, int, int dst, int tag, AstraSim::sim_request*,
                          void (*msg_handler)(void* fun_arg), void* fun_arg) {
    run_.send(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(dst), count, tag, {msg_handler, fun_arg});
    return 0;
}

int RankNetwork::sim_recv(void*, std::uint64_t count, int, int src, int tag, AstraSim::sim_request*,
                          void (*msg_handler)(void* fun_arg), void* fun_arg) {
    run_.receive(static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(rank), count, tag,
                 {msg_handler, fun_arg});
    return 0;
}

// Times are nanoseconds, whatever `time_res` says, as in ASTRA-sim's own networks.
void RankNetwork::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) {
    if (!(delta.time_val >= 0))
        throw std::runtime_error("rank " + std::to_string(rank) + " schedules something in the past");
    const auto after_ps = static_cast<std::uint64_t>(std::llround(delta.time_val * 1000));
    run_.schedule(static_cast<std::uint32_t>(rank), after_ps, {fun_ptr, fun_arg});
}

AstraSim::timespec_t RankNetwork::sim_get_time() {
    AstraSim::timespec_t now;
    now.time_res = AstraSim::NS;
    now.time_val = static_cast<long double>(run_.now_ps()) / 1000;
    return now;
}

}  // namespace linkpool_astra

// A pipeline of training: stages compute for a time, and pass activations on. The program has its own clock work: it
// takes events from the queue, and a computation is a timer. A stage begins when the data of its micro-batch has come,
// whether it waits for it or not.
//
//     c++ -std=c++17 pipeline.cc $(pkg-config --cflags --libs linkpool) -o pipeline
//     ./pipeline docs/workloads/session.toml 4 8
#include <linkpool.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kComputation = 50'000'000;  // picoseconds: 50 us
constexpr std::uint64_t kActivations = 1'000'000;   // bytes

/// A session; what fails is an exception.
class Session {
  public:
    explicit Session(const char* scenario) {
        linkpool_options options{};
        options.size = sizeof options;
        options.scenario = scenario;
        linkpool_session* opened = nullptr;
        const auto status = linkpool_session_open(&options, &opened);
        session_.reset(opened);
        check(status);
    }

    linkpool_session* get() const { return session_.get(); }

    void check(linkpool_status status) const {
        if (status == LINKPOOL_STATUS_OK)
            return;
        std::string why(linkpool_session_error(get(), nullptr, 0), ' ');
        linkpool_session_error(get(), why.data(), why.size() + 1);
        throw std::runtime_error(std::string(linkpool_status_text(status)) + ": " + why);
    }

    std::uint64_t number(linkpool_status (*read)(const linkpool_session*, std::uint64_t*)) const {
        std::uint64_t value = 0;
        check(read(get(), &value));
        return value;
    }

  private:
    struct Free {
        void operator()(linkpool_session* session) const { linkpool_session_free(session); }
    };
    std::unique_ptr<linkpool_session, Free> session_;
};

struct FreeReceives {
    void operator()(linkpool_receives* receives) const { linkpool_receives_free(receives); }
};

/// When the last stage has computed the last micro-batch.
std::uint64_t run(const char* scenario, std::uint32_t stages, std::uint64_t batches) {
    const Session session(scenario);
    const auto end = session.number(linkpool_session_end);
    linkpool_receives* made = nullptr;
    session.check(linkpool_receives_new(&made));
    const std::unique_ptr<linkpool_receives, FreeReceives> receives(made);
    // The tag of a timer and of a message is the micro-batch; the token of a receive is the stage.
    std::vector<std::uint64_t> next(stages, 0);
    const auto compute = [&](std::uint32_t stage) {
        const auto until = session.number(linkpool_session_now) + kComputation;
        session.check(linkpool_session_timer(session.get(), stage, next[stage]++, until));
    };
    const auto want = [&](std::uint32_t stage) {
        if (next[stage] < batches)
            session.check(linkpool_receives_post(receives.get(), stage - 1, stage, next[stage], kActivations, stage));
    };
    const auto go_on = [&] {
        std::uint64_t stage = 0;
        int taken = 0;
        while (linkpool_receives_take(receives.get(), &stage, &taken) == LINKPOOL_STATUS_OK && taken)
            compute(static_cast<std::uint32_t>(stage));
    };
    compute(0);
    for (std::uint32_t stage = 1; stage < stages; ++stage)
        want(stage);
    std::uint64_t done = 0;
    for (int happened = 1; happened;) {
        session.check(linkpool_session_step(session.get(), end, &happened));
        linkpool_event event{};
        std::size_t count = 0;
        while (session.check(linkpool_session_events(session.get(), &event, 1, &count)), count) {
            if (event.what == LINKPOOL_HAPPENED_DELIVERED) {
                session.check(linkpool_receives_arrive(receives.get(), event.source, event.destination, event.tag,
                                                       event.bytes));
            } else if (event.what == LINKPOOL_HAPPENED_TIMER) {
                const auto stage = event.destination;
                if (stage + 1 < stages) {
                    linkpool_message message{};
                    message.bytes = kActivations;
                    message.tag = event.tag;
                    message.at_ps = session.number(linkpool_session_now);
                    message.source = stage;
                    message.destination = stage + 1;
                    session.check(linkpool_session_send(session.get(), &message, 1, nullptr, nullptr));
                } else if (event.tag + 1 == batches) {
                    done = event.at_ps;
                }
                if (stage > 0)
                    want(stage);
                else if (next[0] < batches)
                    compute(0);
            }
            go_on();
        }
    }
    session.check(linkpool_session_close(session.get()));
    return done;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "give a scenario, the stages and the micro-batches\n");
        return 2;
    }
    try {
        const auto stages = std::strtoul(arguments[2], nullptr, 10);
        const auto took = run(arguments[1], static_cast<std::uint32_t>(stages), std::strtoull(arguments[3], nullptr, 10));
        std::printf("the pipeline takes %llu ns\n", static_cast<unsigned long long>(took / 1000));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

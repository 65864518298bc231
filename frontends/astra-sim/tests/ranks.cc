// A double of ASTRA-sim's ranks, of our own: collectives and cases of matching through the front end.
//
//     ranks SCENARIO arrival|acknowledgement ring|halving BYTES [RESULTS]
//     ranks SCENARIO arrival|acknowledgement matching
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../network.hh"

namespace {

using linkpool_astra::RankNetwork;
using linkpool_astra::Run;
using linkpool_astra::SendComplete;

/// A function with a state as ASTRA-sim's callbacks are: a plain function and a pointer. Each is called once.
class Callbacks {
  public:
    void* make(std::function<void()> function) {
        all_.push_back(std::move(function));
        return &all_.back();
    }

    static void call(void* function) {
        auto& it = *static_cast<std::function<void()>*>(function);
        if (!it)
            throw std::logic_error("a callback is called twice");
        std::exchange(it, nullptr)();
    }

    /// Have all been called?
    bool done() const {
        for (const auto& function : all_)
            if (function)
                return false;
        return true;
    }

  private:
    std::deque<std::function<void()>> all_;
};

/// The ranks of a run.
struct Ranks {
    Run run;
    Callbacks callbacks;
    std::vector<std::unique_ptr<RankNetwork>> networks;

    explicit Ranks(const linkpool_astra::Settings& settings) : run(settings) {
        for (std::uint64_t rank = 0; rank < run.hosts(); ++rank)
            networks.push_back(std::make_unique<RankNetwork>(static_cast<int>(rank), run));
    }

    int size() const { return static_cast<int>(networks.size()); }

    void send(int from, int to, std::uint64_t bytes, int tag, std::function<void()> then) {
        networks.at(static_cast<std::size_t>(from))
            ->sim_send(nullptr, bytes, 0, to, tag, nullptr, Callbacks::call, callbacks.make(std::move(then)));
    }

    void receive(int from, int to, std::uint64_t bytes, int tag, std::function<void()> then) {
        networks.at(static_cast<std::size_t>(to))
            ->sim_recv(nullptr, bytes, 0, from, tag, nullptr, Callbacks::call, callbacks.make(std::move(then)));
    }

    void after(int rank, long double ns, std::function<void()> then) {
        AstraSim::timespec_t delta;
        delta.time_res = AstraSim::NS;
        delta.time_val = ns;
        networks.at(static_cast<std::size_t>(rank))
            ->sim_schedule(delta, Callbacks::call, callbacks.make(std::move(then)));
    }

    std::uint64_t now_ps() const {
        const auto now = networks.front()->sim_get_time();
        return static_cast<std::uint64_t>(now.time_val * 1000 + 0.5L);
    }
};

/// Steps of a rank: each sends to one rank and receives from one, and ends when both are complete.
struct Steps {
    struct Step {
        int to;
        int from;
        std::uint64_t bytes;
    };
    std::vector<std::vector<Step>> of_rank;

    static Steps ring(int ranks, std::uint64_t bytes) {
        Steps steps;
        const auto part = (bytes + static_cast<std::uint64_t>(ranks) - 1) / static_cast<std::uint64_t>(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            const Step step{(rank + 1) % ranks, (rank + ranks - 1) % ranks, part};
            steps.of_rank.emplace_back(2 * (static_cast<std::size_t>(ranks) - 1), step);
        }
        return steps;
    }

    /// Half of what is left goes to ranks that are ever farther, and comes back.
    static Steps halving(int ranks, std::uint64_t bytes) {
        Steps steps;
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<Step> mine;
            for (int apart = 1; apart < ranks; apart *= 2)
                mine.push_back({rank ^ apart, rank ^ apart, bytes / 2 / static_cast<std::uint64_t>(apart)});
            for (auto i = mine.size(); i-- > 0;)
                mine.push_back(mine[i]);
            steps.of_rank.push_back(mine);
        }
        return steps;
    }
};

void collective(Ranks& ranks, const Steps& steps) {
    std::vector<std::uint64_t> ends(static_cast<std::size_t>(ranks.size()), 0);
    std::function<void(int, std::size_t)> begin = [&](int rank, std::size_t step) {
        const auto& mine = steps.of_rank.at(static_cast<std::size_t>(rank));
        if (step == mine.size()) {
            ends.at(static_cast<std::size_t>(rank)) = ranks.now_ps();
            ranks.networks.at(static_cast<std::size_t>(rank))->sim_notify_finished();
            return;
        }
        const auto left = std::make_shared<int>(2);
        const auto done = [&begin, rank, step, left] {
            if (--*left == 0)
                begin(rank, step + 1);
        };
        const auto tag = static_cast<int>(step);
        ranks.receive(mine[step].from, rank, mine[step].bytes, tag, done);
        ranks.send(rank, mine[step].to, mine[step].bytes, tag, done);
    };
    for (int rank = 0; rank < ranks.size(); ++rank)
        begin(rank, 0);
    ranks.run.go();
    ranks.run.close();
    if (!ranks.callbacks.done() || ranks.run.finished() != static_cast<std::uint64_t>(ranks.size()))
        throw std::logic_error("ranks have not finished");
    for (const auto end : ends)
        std::printf("%" PRIu64 "\n", end);
}

/// So many steps round a ring, in each of which a rank computes for some microseconds, sends, and receives only when its
/// send is complete: so its data may have come before.
void computing(Ranks& ranks, int steps, std::uint64_t bytes) {
    const int size = ranks.size();
    std::vector<std::uint64_t> ends(static_cast<std::size_t>(size), 0);
    std::function<void(int, int)> begin = [&](int rank, int step) {
        if (step == steps) {
            ends.at(static_cast<std::size_t>(rank)) = ranks.now_ps();
            return;
        }
        const int micros = 1 + (7 * rank + 3 * step) % 5;
        ranks.after(rank, 1000.0L * micros, [&, rank, step] {
            ranks.send(rank, (rank + 1) % size, bytes, step, [&, rank, step] {
                ranks.receive((rank + size - 1) % size, rank, bytes, step, [&, rank, step] { begin(rank, step + 1); });
            });
        });
    };
    for (int rank = 0; rank < size; ++rank)
        begin(rank, 0);
    ranks.run.go();
    ranks.run.close();
    if (!ranks.callbacks.done())
        throw std::logic_error("ranks have not finished");
    for (const auto end : ends)
        std::printf("%" PRIu64 "\n", end);
}

void must(bool truth, const char* what) {
    if (!truth)
        throw std::logic_error(what);
}

/// Receives before and after their data, of one key, split, joined, of nothing, and beyond 4 GiB.
void matching(Ranks& ranks) {
    std::vector<std::pair<std::string, std::uint64_t>> log;
    const auto note = [&](const std::string& what) { return [&, what] { log.emplace_back(what, ranks.now_ps()); }; };
    const auto at = [&](const std::string& what) {
        const std::pair<std::string, std::uint64_t>* found = nullptr;
        for (const auto& entry : log) {
            if (entry.first == what) {
                must(found == nullptr, "noted once");
                found = &entry;
            }
        }
        must(found != nullptr, what.c_str());
        return found->second;
    };
    // Two receives of one key before their data: in order, and each when its own bytes have come.
    ranks.receive(0, 1, 100'000, 7, note("first"));
    ranks.receive(0, 1, 100'000, 7, note("second"));
    ranks.send(0, 1, 100'000, 7, note("first sent"));
    ranks.send(0, 1, 100'000, 7, note("second sent"));
    // Early data: complete at the very instant at which it is wanted.
    ranks.send(2, 3, 5'000, 1, note("early sent"));
    ranks.after(3, 900'000.25L, [&] { ranks.receive(2, 3, 5'000, 1, note("late receive")); });
    // One message for two receives, and two messages for one.
    ranks.send(2, 4, 30'000, 2, note("split sent"));
    ranks.receive(2, 4, 10'000, 2, note("split a"));
    ranks.receive(2, 4, 20'000, 2, note("split b"));
    ranks.receive(3, 4, 30'000, 2, note("joined"));
    ranks.send(3, 4, 10'000, 2, note("joined sent a"));
    ranks.after(3, 500'000, [&] { ranks.send(3, 4, 20'000, 2, note("joined sent b")); });
    // Nothing, a negative tag, a rank with itself, and the same tag from another rank.
    ranks.receive(5, 6, 0, -3, note("nothing"));
    ranks.after(5, 10'000, [&] { ranks.send(5, 6, 0, -3, note("nothing sent")); });
    ranks.receive(5, 5, 8, 1, note("own"));
    ranks.after(5, 20'000, [&] { ranks.send(5, 5, 8, 1, note("own sent")); });
    ranks.receive(7, 3, 5'000, 1, note("of another"));
    ranks.after(7, 1'500'000, [&] { ranks.send(7, 3, 5'000, 1, note("of another sent")); });
    // Beyond 4 GiB: 344 ms at 100 Gbps, and not before.
    const std::uint64_t large = 4'300'000'000;
    ranks.receive(6, 7, large, 9, note("large"));
    ranks.send(6, 7, large, 9, note("large sent"));
    // Callbacks at the present instant come after the call that asks for them, in order.
    ranks.after(0, 1'000, [&] {
        ranks.after(0, 0, note("at once, first"));
        ranks.after(0, 0, note("at once, second"));
        note("asks")();
    });
    ranks.run.go();
    must(ranks.callbacks.done(), "a callback is not called");
    must(at("first") < at("second") && at("first sent") > at("first"), "in order");
    must(at("late receive") == 900'000'250, "at the instant of the receive");
    must(at("early sent") < 100'000'000, "early");
    must(at("split a") == at("split b") && at("joined") > 500'000'000, "split and joined");
    must(at("nothing") > 10'000'000 && at("nothing sent") > at("nothing"), "nothing");
    must(at("own") == 20'000'000 && at("own sent") == 20'000'000, "own");
    must(at("of another") > 1'500'000'000, "of another");
    must(at("large") > 344'000'000'000 && at("large") < 380'000'000'000, "large");
    must(at("asks") == 1'000'000 && at("at once, second") == 1'000'000, "at once");
    std::size_t places[3] = {};
    const char* const names[3] = {"asks", "at once, first", "at once, second"};
    for (std::size_t i = 0; i < 3; ++i)
        while (log[places[i]].first != names[i])
            ++places[i];
    must(places[0] < places[1] && places[1] < places[2], "in the order in which they were set");
    // A receive that nobody serves is an error, not the end of a run.
    ranks.receive(0, 1, 1, 99, note("never"));
    try {
        ranks.run.go();
        must(false, "a receive waits");
    } catch (const std::runtime_error& error) {
        must(std::strcmp(error.what(), "1 receives wait for data that nobody sends") == 0, error.what());
    }
    // What linkpool refuses has its reason.
    try {
        ranks.send(0, 99, 1, 0, note("nobody"));
        must(false, "no such rank");
    } catch (const std::runtime_error& error) {
        must(std::strstr(error.what(), "host 99 is not in the fabric") != nullptr, error.what());
    }
    std::printf("ok\n");
}

}  // namespace

int main(int count, char** arguments) {
    try {
        if (count < 4)
            throw std::runtime_error("give a scenario, when sends are complete, and what to run");
        linkpool_astra::Settings settings;
        settings.scenario = arguments[1];
        settings.send_complete =
            std::strcmp(arguments[2], "arrival") == 0 ? SendComplete::Arrival : SendComplete::Acknowledgement;
        settings.results = count > 5 ? arguments[5] : "";
        Ranks ranks(settings);
        const std::string what = arguments[3];
        if (what == "matching")
            matching(ranks);
        else if (what == "computing")
            computing(ranks, 14, std::strtoull(arguments[4], nullptr, 10));
        else if (what == "ring")
            collective(ranks, Steps::ring(ranks.size(), std::strtoull(arguments[4], nullptr, 10)));
        else
            collective(ranks, Steps::halving(ranks.size(), std::strtoull(arguments[4], nullptr, 10)));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

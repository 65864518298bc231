// ASTRA-sim's network on linkpool: one run, which all ranks share, and ASTRA-sim's interface for each rank.
//
// Rank i is host i of the scenario. What a rank does in a callback happens at the instant of the callback, at its host.
// One thread runs all ranks, since ASTRA-sim's own state is shared by them.
#ifndef LINKPOOL_ASTRA_SIM_NETWORK_HH
#define LINKPOOL_ASTRA_SIM_NETWORK_HH

#include <linkpool.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"

namespace linkpool_astra {

/// When a send is complete, and its rank goes on.
enum class SendComplete {
    /// The sender knows by an acknowledgement that all bytes have arrived: as in ASTRA-sim's ns-3.
    Acknowledgement,
    /// A lookahead after all bytes have arrived, the soonest at which anybody else can know of it. (ASTRA-sim's
    /// analytical network tells the sender at the very instant.)
    Arrival,
};

struct Settings {
    std::string scenario;
    std::vector<std::string> set;
    std::string results;
    SendComplete send_complete = SendComplete::Acknowledgement;
    std::uint32_t channel = 0;
};

/// A function of ASTRA-sim and its argument.
struct Call {
    void (*function)(void*);
    void* argument;
};

/// A run. Whatever fails is an exception with linkpool's reason.
class Run {
  public:
    explicit Run(const Settings& settings);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    std::uint64_t hosts() const { return hosts_; }
    std::uint64_t now_ps() const;

    void schedule(std::uint32_t rank, std::uint64_t after_ps, Call call);
    void send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, int tag, Call call);
    void receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, int tag, Call call);
    void rank_is_finished() { ++finished_; }

    /// Lets time pass until nothing is left to happen. Throws if a receive waits for ever.
    void go();
    /// Writes the results, if there is a directory for them.
    void close();
    std::uint64_t finished() const { return finished_; }

  private:
    /// What waits for an event of linkpool: a function, and of a message its tag and how many events are to come.
    struct Waiting {
        Call call;
        int tag;
        int events;
    };
    struct Free {
        void operator()(linkpool_session* session) const { linkpool_session_free(session); }
        void operator()(linkpool_receives* receives) const { linkpool_receives_free(receives); }
    };

    static int on_event(linkpool_here* here, const linkpool_event* event, void* run) noexcept;
    void happens(const linkpool_event& event);
    void arrives(std::uint32_t from, std::uint32_t to, int tag, std::uint64_t bytes);
    void timer(std::uint32_t rank, std::uint64_t at_ps, std::uint64_t tag);
    std::uint32_t keep(const Waiting& waiting);
    void release(std::uint32_t place);
    void check(linkpool_status status) const;

    SendComplete send_complete_;
    std::uint32_t channel_;
    std::unique_ptr<linkpool_session, Free> session_;
    std::unique_ptr<linkpool_receives, Free> receives_;
    std::vector<Waiting> waiting_;
    std::vector<std::uint32_t> free_;
    std::uint64_t hosts_ = 0;
    std::uint64_t end_ps_ = 0;
    std::uint64_t lookahead_ps_ = 0;
    std::uint64_t finished_ = 0;
    /// Within an event of linkpool: its place, and when it is.
    linkpool_here* here_ = nullptr;
    std::uint64_t here_ps_ = 0;
    std::exception_ptr failed_;
};

/// The network of one rank.
class RankNetwork final : public AstraSim::AstraNetworkAPI {
  public:
    RankNetwork(int rank, Run& run) : AstraSim::AstraNetworkAPI(rank), run_(run) {}

    int sim_send(void* buffer, std::uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    int sim_recv(void* buffer, std::uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    void sim_notify_finished() override { run_.rank_is_finished(); }

  private:
    Run& run_;
};

}  // namespace linkpool_astra

#endif

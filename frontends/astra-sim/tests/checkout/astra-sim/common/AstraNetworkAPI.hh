// What the front end needs of ASTRA-sim's network interface, for tests without a checkout: names and signatures as the
// front end overrides them. A build against a checkout has ASTRA-sim's own header.
#ifndef LINKPOOL_TEST_ASTRA_NETWORK_API_HH
#define LINKPOOL_TEST_ASTRA_NETWORK_API_HH

#include <cstdint>

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };

struct timespec_t {
    time_type_e time_res;
    long double time_val;
};

struct sim_request;

class AstraNetworkAPI {
  public:
    explicit AstraNetworkAPI(int its_rank) : rank(its_rank) {}
    virtual ~AstraNetworkAPI() = default;
    virtual int sim_send(void*, std::uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual int sim_recv(void*, std::uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual void sim_schedule(timespec_t, void (*)(void*), void*) = 0;
    virtual timespec_t sim_get_time() = 0;
    virtual void sim_notify_finished() {}

    int rank;
};

}  // namespace AstraSim

#endif

// ASTRA-sim with linkpool as its network. docs/astra-sim.md is the guide.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <json/json.hpp>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "network.hh"

namespace {

/// What the command line says: a value for each key, the default if it is not given.
struct Arguments {
    std::map<std::string, std::string> values = {
        {"workload-configuration", ""},
        {"comm-group-configuration", "empty"},
        {"system-configuration", ""},
        {"remote-memory-configuration", ""},
        {"network-configuration", ""},
        {"logical-topology-configuration", ""},
        {"logging-configuration", "empty"},
        {"logging-folder", "log"},
        {"num-queues-per-dim", "1"},
        {"comm-scale", "1"},
        {"injection-scale", "1"},
        {"rendezvous-protocol", "false"},
        {"send-complete", "acknowledgement"},
        {"channel", "0"},
        {"results", ""},
    };
    std::vector<std::string> set;

    Arguments(int count, char** given) {
        for (int i = 1; i < count; ++i) {
            const std::string text = given[i];
            const auto equals = text.find('=');
            if (text.rfind("--", 0) != 0 || (equals == std::string::npos && i + 1 == count))
                throw std::runtime_error(text + ": arguments are --KEY=VALUE");
            const auto key = text.substr(2, equals == std::string::npos ? equals : equals - 2);
            const auto value = equals == std::string::npos ? std::string(given[++i]) : text.substr(equals + 1);
            if (key == "set")
                set.push_back(value);
            else if (values.count(key) == 0)
                throw std::runtime_error("--" + key + ": no such key");
            else
                values[key] = value;
        }
        for (const char* key : {"workload-configuration", "system-configuration", "remote-memory-configuration",
                                "network-configuration"}) {
            if (values.at(key).empty())
                throw std::runtime_error(std::string("--") + key + " is needed");
        }
    }

    const std::string& text(const char* key) const { return values.at(key); }

    double number(const char* key) const {
        std::size_t read = 0;
        const auto& value = text(key);
        try {
            const auto number = std::stod(value, &read);
            if (read == value.size())
                return number;
        } catch (const std::logic_error&) {
        }
        throw std::runtime_error(std::string("--") + key + ": " + value + " is no number");
    }

    int whole(const char* key) const {
        const auto value = number(key);
        if (value != static_cast<int>(value) || value < 0)
            throw std::runtime_error(std::string("--") + key + ": a whole number is needed");
        return static_cast<int>(value);
    }

    /// One of some words.
    bool is_first(const char* key, const char* first, const char* second) const {
        if (text(key) != first && text(key) != second)
            throw std::runtime_error(std::string("--") + key + ": " + first + " or " + second);
        return text(key) == first;
    }
};

/// The logical dimensions of the file, whose product is the number of ranks; without a file, all hosts in one.
std::vector<int> dimensions(const std::string& file, std::uint64_t hosts) {
    std::vector<int> dimensions;
    if (file.empty()) {
        dimensions.push_back(static_cast<int>(hosts));
    } else {
        std::ifstream stream(file);
        if (!stream)
            throw std::runtime_error(file + ": it cannot be read");
        const auto content = nlohmann::json::parse(stream);
        for (const std::string dimension : content.at("logical-dims"))
            dimensions.push_back(std::stoi(dimension));
    }
    const auto ranks =
        std::accumulate(dimensions.begin(), dimensions.end(), std::uint64_t{1}, std::multiplies<std::uint64_t>());
    if (ranks == 0 || ranks > hosts)
        throw std::runtime_error(std::to_string(ranks) + " ranks; the scenario has " + std::to_string(hosts) + " hosts");
    return dimensions;
}

void simulate(const Arguments& arguments) {
    linkpool_astra::Settings settings;
    settings.scenario = arguments.text("network-configuration");
    settings.set = arguments.set;
    settings.results = arguments.text("results");
    settings.channel = static_cast<std::uint32_t>(arguments.whole("channel"));
    settings.send_complete = arguments.is_first("send-complete", "acknowledgement", "arrival")
                                 ? linkpool_astra::SendComplete::Acknowledgement
                                 : linkpool_astra::SendComplete::Arrival;
    linkpool_astra::Run run(settings);
    const auto dims = dimensions(arguments.text("logical-topology-configuration"), run.hosts());
    const auto ranks = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<int>());

    AstraSim::LoggerFactory::init(arguments.text("logging-configuration"), arguments.text("logging-folder"));
    const auto memory = std::make_unique<Analytical::AnalyticalRemoteMemory>(arguments.text("remote-memory-configuration"));
    const std::vector<int> queues(dims.size(), arguments.whole("num-queues-per-dim"));
    std::vector<std::unique_ptr<linkpool_astra::RankNetwork>> networks;
    std::vector<AstraSim::Sys*> systems;
    for (int rank = 0; rank < ranks; ++rank) {
        networks.push_back(std::make_unique<linkpool_astra::RankNetwork>(rank, run));
        systems.push_back(new AstraSim::Sys(
            rank, arguments.text("workload-configuration"), arguments.text("comm-group-configuration"),
            arguments.text("system-configuration"), memory.get(), networks.back().get(), dims, queues,
            arguments.number("injection-scale"), arguments.number("comm-scale"),
            arguments.is_first("rendezvous-protocol", "true", "false")));
    }
    for (auto* system : systems)
        system->workload->fire();
    run.go();
    run.close();
    for (auto* system : systems)
        delete system;
    AstraSim::LoggerFactory::shutdown();
    if (run.finished() < static_cast<std::uint64_t>(ranks))
        throw std::runtime_error(std::to_string(run.finished()) + " of " + std::to_string(ranks) + " ranks have finished");
}

}  // namespace

int main(int count, char** given) {
    try {
        simulate(Arguments(count, given));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Runs one experiment of the papers on the simulated NIC and hosts and prints a line of JSON. bench/papers
// runs many of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <map>

#include "simulation/nic/collectives.h"
#include "simulation/nic/incast.h"
#include "simulation/nic/kernel_run.h"
#include "simulation/nic/kernels.h"
#include "simulation/nic/parameters_today.h"
#include "simulation/nic/streams.h"
#include "simulation/nic/workloads.h"
#include "wire/sizes.h"

using namespace omx::simulation::nic;

namespace {

struct Options {
  WorkOptions work;
  std::string experiment, strategy = "timeout", interrupts = "round-robin", copies = "processor",
                          mode = "omx", unmark, parameters = "papers", peers = "hub";
  std::vector<std::string> set;
};

int parameters_print(bool today) {
  fmt::print("[");
  const char* between = "";
  const auto* first = today ? std::begin(kParameterTextsToday) : std::begin(kParameterTexts);
  const auto* last = today ? std::end(kParameterTextsToday) : std::end(kParameterTexts);
  for (; first != last; first++) {
    const ParameterText& p = *first;
    fmt::print(
        "{}\n {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\", \"kind\": \"{}\", \"source\": \"{}\", "
        "\"least\": {}, \"most\": {}}}",
        between, p.name, p.value, unit_of(p.name), p.kind, p.source, range_of(p.name).least,
        range_of(p.name).most);
    between = ",";
  }
  fmt::print("\n]\n");
  return 0;
}

// Prints the constants of the engine, as it is configured here.
int constants_print(const NetworkOptions& options) {
  const auto blocks = [&options](omx::wire::Mode mode) {
    return static_cast<double>(omx::wire::legacy_sizes(mode, options.mtu).pull_frames);
  };
  const omx::protocol::Config c = engine_config(options);
  struct Line {
    std::string_view name;
    double value;
    std::string_view unit, kind, source;
  };
  const Line lines[] = {
      {"messages larger go by rendezvous", static_cast<double>(c.rndv_threshold), "B", "given",
       "[C] III-A, [J] 3.1"},
      {"blocks of a large message asked for at a time", static_cast<double>(c.pull_blocks), "blocks", "given",
       "[C] IV-C3: 4 requests; [J] footnote 1: four blocks; where the experiment is of [I], 2: its footnote "
       "3"},
      {"frames of a block", blocks(omx::wire::Mode::omx), "frames", "given",
       "[C] III-A: up to 32 fragments at once"},
      {"frames of a block, MX's wire format", blocks(omx::wire::Mode::mxoe), "frames", "given",
       "[I] footnote 3, [J] 3.1: eight packets of up to 4 kB, powers of two"},
      {"messages that are acknowledged at once", static_cast<double>(c.reliability.notacked_max), "messages",
       "original",
       "fits [C] IV-C2: up to 20 % of the traffic are other packets, for instance acknowledgements"},
      {"acknowledgement of fewer, after", static_cast<double>(c.reliability.ack_delay) / 1e6, "ms",
       "original", "no paper tells it"},
      {"eager frame sent again after", static_cast<double>(c.reliability.resend_delay) / 1e6, "ms",
       "original", "no paper tells it"},
      {"block asked for again after", static_cast<double>(c.reliability.pull_delay) / 1e6, "ms", "original",
       "no paper tells it"},
  };
  fmt::print("[");
  const char* between = "";
  for (const Line& p : lines) {
    fmt::print(
        "{}\n {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\", \"kind\": \"{}\", \"source\": \"{}\"}}",
        between, p.name, p.value, p.unit, p.kind, p.source);
    between = ",";
  }
  fmt::print("\n]\n");
  return 0;
}

// Sets a parameter. Returns the text of an error, or an empty string.
std::string parameter_set(Parameters& parameters, const std::string& text) {
  const std::size_t equals = text.find('=');
  double* value = equals == std::string::npos ? nullptr : parameters.find(text.substr(0, equals));
  if (value == nullptr)
    return fmt::format("--set {}: give NAME=VALUE with a name that `parameters` lists", text);
  const char* end = text.data() + text.size();
  double number = 0;
  const auto read = std::from_chars(text.data() + equals + 1, end, number);
  if (read.ec != std::errc{} || read.ptr != end)
    return fmt::format("--set {}: the value must be a number", text);
  *value = number;
  return {};
}

void result_print(const WorkResult& r) {
  fmt::print(
      "{{\"time_us\": {:.3f}, \"messages\": {}, \"us\": {:.4f}, \"rate\": {:.1f}, \"frames\": {}, "
      "\"dropped\": {}, "
      "\"interrupts\": {}, \"receiver_interrupts\": {}, \"kernel_lines\": {}, \"kernel_moved\": {}, "
      "\"user_lines\": {}, \"user_moved\": {}, \"receiver_interrupt_us\": {:.3f}, \"receiver_process_us\": "
      "{:.3f}, \"latency_us\": {:.4f}, \"latency_p50_us\": {:.4f}, \"latency_p99_us\": {:.4f}, "
      "\"digest\": \"{:016x}\"}}\n",
      r.time_ns / 1e3, r.messages, r.per_message_us(), r.rate(), r.frames, r.dropped, r.interrupts,
      r.receiver_interrupts, r.kernel.lines, r.kernel.moved, r.user.lines, r.user.moved,
      r.receiver_interrupt_ns / 1e3, r.receiver_process_ns / 1e3, r.latency_us, r.latency_p50_us,
      r.latency_p99_us, r.digest);
}

}  // namespace

int main(int argc, char** argv) {
  using Experiment = WorkResult (*)(const WorkOptions&);
  const std::map<std::string, Experiment> experiments = {
      {"pingpong", pingpong}, {"stream", stream}, {"invalid", invalid}, {"alltoall", alltoall},
      {"incast", incast},     {"sort", sort},     {"kernel", kernel},   {"streams", pair_streams}};
  using omx::wire::PacketType;
  const std::map<std::string, PacketType> marked = {{"rendezvous", PacketType::rndv},
                                                    {"pull", PacketType::pull},
                                                    {"reply", PacketType::pull_reply},
                                                    {"notify", PacketType::notify}};
  const std::map<std::string, Interrupts> ways = {
      {"round-robin", Interrupts::round_robin}, {"bound", Interrupts::bound}, {"queues", Interrupts::queues}};
  const std::map<std::string, Copies> copies = {{"processor", Copies::processor},
                                                {"engine", Copies::engine},
                                                {"ignored", Copies::ignored},
                                                {"all", Copies::all}};
  const std::map<std::string, omx::wire::Mode> modes = {{"omx", omx::wire::Mode::omx},
                                                        {"mxoe", omx::wire::Mode::mxoe}};
  Options o;
  WorkOptions& w = o.work;
  CLI::App app(
      "One experiment of the papers in simulation; `parameters` prints the model's numbers, `constants` the "
      "engine's.",
      "omx_papers");
  const auto keys = [](const auto& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
  };
  std::vector<std::string> names = keys(experiments);
  names.push_back("parameters");
  names.push_back("constants");
  app.add_option("experiment", o.experiment)->required()->check(CLI::IsMember(names));
  app.add_option("--size", w.size, "bytes of a message, or keys")->check(CLI::Range(0U, 1U << 28));
  app.add_option("--iterations", w.iterations)->check(CLI::Range(1U, 10'000'000U));
  app.add_option("--window", w.window, "messages on their way in a stream")->check(CLI::Range(1U, 4096U));
  app.add_option("--mark-moved", w.mark_moved, "fragments, from the last one back")
      ->check(CLI::Range(0U, 8U));
  app.add_option("--unmark", o.unmark, "frames that carry no mark")->check(CLI::IsMember(keys(marked)));
  app.add_flag("--synchronous", w.synchronous);
  app.add_option("--strategy", o.strategy)
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kStrategyNames), std::end(kStrategyNames))));
  app.add_option("--interrupts", o.interrupts)->check(CLI::IsMember(keys(ways)));
  app.add_option("--interrupt-core", w.network.host.bound_core)->check(CLI::Range(0U, kCores - 1));
  app.add_option("--cores", w.network.host.process_cores, "of the processes of each host")
      ->check(CLI::Range(0U, kCores - 1))
      ->expected(1, static_cast<int>(kCores));
  app.add_flag("--sleep", w.network.host.may_sleep, "idle cores fall asleep");
  app.add_option("--copies", o.copies)->check(CLI::IsMember(keys(copies)));
  app.add_flag("--mpi", w.network.host.mpi);
  app.add_option("--mtu", w.network.mtu)->check(CLI::Range(1500U, 65535U));
  app.add_option("--mode", o.mode)->check(CLI::IsMember(keys(modes)));
  app.add_option("--pull-blocks", w.network.pull_blocks)->check(CLI::Range(1U, 8U));
  app.add_flag(
      "--own-pulls", w.network.own_pulls,
      "large messages as our engine asks for them: within a window, by requests for unmarked blocks");
  app.add_option("--hosts", w.network.hosts, "at a switch; without it two with a cable")
      ->check(CLI::Range(2U, 1024U));
  app.add_option("--peers", o.peers, "who knows whom: all others, or all the first host")
      ->check(CLI::IsMember({"all", "hub"}));
  app.add_option("--far-cores", w.network.far_cores, "of the processes of all hosts but the first")
      ->check(CLI::Range(0U, kCores - 1))
      ->expected(1, static_cast<int>(kCores));
  app.add_option("--gap-ns", w.gap_ns, "mean time between messages of all senders; 0: as fast as they can")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--parameters", o.parameters, "the set that --set changes")
      ->check(CLI::IsMember({"papers", "today"}));
  app.add_option("--kernel", w.kernel)
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kKernelNames), std::end(kKernelNames))));
  app.add_option("--compute-ns", w.compute_ns, "of each process in each iteration of a kernel")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", w.network.seed);
  app.add_option("--set", o.set, "a parameter: NAME=VALUE");
  CLI11_PARSE(app, argc, argv);
  if (o.experiment == "parameters") return parameters_print(o.parameters == "today");
  if (o.experiment == "constants") return constants_print(w.network);
  if (o.parameters == "today") w.network.parameters = parameters_today();
  if (o.peers == "hub" && w.network.hosts != 0) w.network.peers = Peers::hub;
  for (const std::string& text : o.set) {
    const std::string error = parameter_set(w.network.parameters, text);
    if (error.empty()) continue;
    fmt::print(stderr, "omx_papers: {}\n", error);
    return 2;
  }
  if (const std::string error = parameters_wrong(w.network.parameters); !error.empty()) {
    fmt::print(stderr, "omx_papers: --set: {}\n", error);
    return 2;
  }
  w.network.host.strategy = *strategy_named(o.strategy);
  w.network.host.interrupts = ways.at(o.interrupts);
  w.network.host.copies = copies.at(o.copies);
  if (!o.unmark.empty()) w.unmarked = marked.at(o.unmark);
  w.network.mode = modes.at(o.mode);
  const WorkResult result = experiments.at(o.experiment)(w);
  if (!result.failure.empty()) {
    fmt::print(stderr, "omx_papers: {}\n", result.failure);
    return 1;
  }
  result_print(result);
  return 0;
}

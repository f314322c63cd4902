// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/cmd_counters.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/host_name.h"
#include "base/text.h"
#include "runtime/board/broker_boards.h"
#include "runtime/endpoint/counters_shared.h"
#include "tools/host/file_replace.h"
#include "tools/info/host_facts.h"
#include "tools/json.h"
#include "tools/watch/counter_texts.h"
#include "tools/watch/metrics.h"

namespace omx::tools {

namespace {

struct CountersOptions {
  long board = -1;
  long endpoint = -1;
  bool all = false;
  bool json = false;
  bool explain = false;
  bool openmetrics = false;
  bool prometheus = false;
  std::string output;
  unsigned watch_s = 0;
};

struct Reading {
  runtime::Board board;
  OpenEndpoint endpoint;
  std::vector<CounterValue> values;
  std::string rail_of;  // if not empty: this board is a rail of an endpoint on the board named here
};

// Reads the counters of all endpoints. Reports on stderr what could not be read, and counts it in `failures`.
std::vector<Reading> readings_take(const std::vector<runtime::Board>& own, const runtime::Settings& settings,
                                   long only, int& failures) {
  std::vector<Reading> readings;
  const std::vector<runtime::Board> boards = runtime::boards_watched(own, settings);
  for (const runtime::Board& board : boards) {
    for (const OpenEndpoint& open : endpoints_open(board, settings)) {
      if (only >= 0 && open.id != static_cast<std::uint32_t>(only)) continue;
      const auto counters = runtime::counters_read(board.interface.index, open.id);
      if (counters) {
        const auto rail = std::find_if(boards.begin(), boards.end(), [&](const runtime::Board& b) {
          return counters->rail_of != 0 && b.interface.index == counters->rail_of;
        });
        readings.push_back({board, open, counter_values(*counters),
                            rail == boards.end() ? std::string() : rail->interface.name});
      } else {
        failures++;
        failed("counters", "board {}: {}", board.number, counters.error().message);
      }
    }
  }
  return readings;
}

void print_text(const std::vector<Reading>& readings, bool all) {
  for (const Reading& r : readings) {
    const std::string title = fmt::format(
        "{} endpoint {} open by {}{}", board_text(r.board), r.endpoint.id, holder_text(r.endpoint.holder),
        r.rail_of.empty() ? "" : ", a rail of its endpoint on " + r.rail_of);
    fmt::print("{}\n{:=<{}}\n", title, "", title.size());
    for (std::size_t i = 0; i < r.values.size(); i++) {
      const auto& [label, value] = r.values[i];
      if (all || value) fmt::print("{:03}: {:12} {}\n", i, value, label);
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void print_json(const std::vector<Reading>& readings, bool all) {
  JsonWriter json;
  json.object([&] {
    json.array("endpoints", [&] {
      for (const Reading& r : readings) {
        json.object([&] {
          json.field("board", r.board.number);
          json.field("interface", r.board.interface.name);
          json.field("by_broker", r.board.granted());
          if (!r.rail_of.empty()) json.field("rail_of", r.rail_of);
          json.field("endpoint", r.endpoint.id);
          json.field("pid", r.endpoint.holder.pid);
          json.field("command", r.endpoint.holder.command);
          json.object("counters", [&] {
            for (const auto& [label, value] : r.values) {
              if (!all && !value) continue;
              json.field(label, value);
              // Scripts that read the former label go on working.
              const CounterText* const text = counter_text(label);
              if (text && text->former) json.field(text->former, value);
            }
          });
        });
      }
    });
  });
  fmt::print("{}", json.take());
  std::fflush(stdout);
}

// Subtracts earlier values of the same endpoint, if the same process still has it open.
std::vector<Reading> difference(std::vector<Reading> now, const std::vector<Reading>& before) {
  for (Reading& n : now) {
    for (const Reading& b : before) {
      if (n.board.interface.index != b.board.interface.index || n.endpoint.id != b.endpoint.id ||
          n.endpoint.holder.pid != b.endpoint.holder.pid)
        continue;
      for (std::size_t i = 0; i < n.values.size(); i++) n.values[i].second -= b.values[i].second;
    }
  }
  return now;
}

int counters_explain() {
  for (const CounterValue& counter : counter_values({})) {
    const CounterText* text = counter_text(counter.first);
    const char* const former = text ? text->former : nullptr;
    fmt::print("{} ({})\n    {}{}\n", counter.first, text ? text->unit : "?",
               text ? text->meaning : "not explained", former ? fmt::format("; was: {}", former) : "");
  }
  return kOk;
}

// Reads the endpoints for a monitoring system. An endpoint that closes meanwhile is left out.
MetricsHost metrics_take(const std::vector<runtime::Board>& boards, const runtime::Settings& settings,
                         long only) {
  constexpr int kMxBadEndpoint = 9;
  MetricsHost host;
  host.name = host_name("localhost");
  for (const runtime::Board& board : runtime::boards_watched(boards, settings)) {
    // The ids of confined endpoints are those of a board of their own.
    const bool confined = board.granted() && !board.trusted;
    for (const OpenEndpoint& open : endpoints_open(board, settings)) {
      if (only >= 0 && open.id != static_cast<std::uint32_t>(only)) continue;
      auto shared = runtime::endpoint_read(board.interface.index, open.id);
      if (shared) {
        host.sources.push_back({board.interface.name + (confined ? "@broker" : ""), open.id,
                                open.holder.command, std::move(*shared)});
      } else if (shared.error().mx_code != kMxBadEndpoint) {
        host.unreadable++;
        failed("counters", "board {}: {}", board.number, shared.error().message);
      }
    }
  }
  return host;
}

// Endpoints that cannot be read are counted in the text. So they are no failure of the whole.
int metrics_run(const CountersOptions& options, const std::vector<runtime::Board>& boards,
                const runtime::Settings& settings) {
  const std::string text =
      metrics_text(metrics_take(boards, settings, options.endpoint),
                   options.openmetrics ? MetricsFormat::openmetrics : MetricsFormat::prometheus);
  if (options.output.empty()) {
    fmt::print("{}", text);
    return kOk;
  }
  if (is_special(options.output))
    return failed("counters", "{} is not a file; name a file with --output",
                  shown(options.output, kPathShown));
  if (const int error = file_replace(options.output, text))
    return failed("counters",
                  "cannot write {}: {}; name a file with --output in a folder that this user may write",
                  shown(options.output, kPathShown), std::strerror(error));
  return kOk;
}

int counters_run(const CountersOptions& options) {
  if (options.explain) return counters_explain();
  const bool metrics = options.openmetrics || options.prometheus;
  if (!options.output.empty() && !metrics) {
    failed("counters", "--output needs --openmetrics or --prometheus");
    return kUsage;
  }
  auto process = runtime::Process::create();
  if (!process) return failed("counters", "{}", process.error().message);
  const auto boards = boards_select((*process)->boards(), options.board);
  if (!boards) return failed("counters", "{}", boards.error().message);
  if (metrics) return metrics_run(options, *boards, (*process)->settings());
  const auto print = options.json ? print_json : print_text;

  int failures = 0;
  const auto read = [&] {
    return readings_take(*boards, (*process)->settings(), options.endpoint, failures);
  };
  std::vector<Reading> readings = read();
  if (options.endpoint >= 0 && readings.empty() && !failures)
    return failed("counters", "endpoint {} is not open on this host", options.endpoint);
  if (readings.empty() && !failures && !options.json && !options.watch_s)
    fmt::print("no endpoint is open on this host\n");
  print(readings, options.all);
  while (options.watch_s) {
    std::this_thread::sleep_for(std::chrono::seconds(options.watch_s));
    std::vector<Reading> next = read();
    print(difference(next, readings), options.all);
    readings = std::move(next);
  }
  return failures ? kFailed : kOk;
}

}  // namespace

Command counters_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("counters", "counters of the open endpoints of this host");
  auto options = std::make_shared<CountersOptions>();
  app->add_option("-b,--board", options->board, "only this board")->check(CLI::Range(0, kBoardMost));
  app->add_option("-e,--endpoint", options->endpoint, "only this endpoint")->check(CLI::Range(0, 255));
  app->add_flag("-v,--verbose", options->all, "show counters that are zero, too");
  app->add_flag("--json", options->json, "print a JSON document");
  app->add_flag("--explain", options->explain,
                "say what each counter counts, in which unit, and what it means when it grows");
  app->add_option("--watch", options->watch_s,
                  "continue, and print what was added, at this interval in seconds")
      ->check(CLI::Range(1, 86400));
  CLI::Option* const openmetrics =
      app->add_flag("--openmetrics", options->openmetrics,
                    "print OpenMetrics text, for monitoring systems that ask for it");
  CLI::Option* const prometheus =
      app->add_flag("--prometheus", options->prometheus,
                    "print the text format of Prometheus, which node_exporter reads from files");
  for (CLI::Option* const format : {openmetrics, prometheus})
    for (const char* const other : {"--json", "--explain", "--watch"})
      format->excludes(app->get_option(other));
  openmetrics->excludes(prometheus);
  app->add_option("-o,--output", options->output, "replace this file by that text, in one step")
      ->type_name("FILE");
  app->footer("omx counters --explain says what each counter means.");
  return {app, [options] { return counters_run(*options); }};
}

}  // namespace omx::tools

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/cmd_counters.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/endpoint/counters_shared.h"
#include "tools/info/host_facts.h"
#include "tools/json.h"
#include "tools/watch/counter_texts.h"

namespace omx::tools {

namespace {

struct CountersOptions {
  long board = -1;
  long endpoint = -1;
  bool all = false;
  bool json = false;
  bool explain = false;
  unsigned watch_s = 0;
};

struct Reading {
  runtime::Board board;
  OpenEndpoint endpoint;
  std::vector<CounterValue> values;
  std::string rail_of;  // if not empty: this board is a rail of an endpoint on the board named here
};

// Reads the counters of all endpoints. Reports on stderr what could not be read, and counts it in `failures`.
std::vector<Reading> readings_take(const std::vector<runtime::Board>& boards,
                                   const runtime::Settings& settings, long only, int& failures) {
  std::vector<Reading> readings;
  for (const runtime::Board& board : boards) {
    for (const OpenEndpoint& open : endpoints_open(board, settings)) {
      if (only >= 0 && open.id != static_cast<std::uint32_t>(only)) continue;
      const auto counters = runtime::counters_read(board.interface.index, open.id);
      if (counters) {
        const auto own = std::find_if(boards.begin(), boards.end(), [&](const runtime::Board& b) {
          return counters->rail_of != 0 && b.interface.index == counters->rail_of;
        });
        readings.push_back({board, open, counter_values(*counters),
                            own == boards.end() ? std::string() : own->interface.name});
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

int counters_run(const CountersOptions& options) {
  if (options.explain) return counters_explain();
  auto process = runtime::Process::create();
  if (!process) return failed("counters", "{}", process.error().message);
  const auto boards = boards_select((*process)->boards(), options.board);
  if (!boards) return failed("counters", "{}", boards.error().message);
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
  app->footer("omx counters --explain says what each counter means.");
  return {app, [options] { return counters_run(*options); }};
}

}  // namespace omx::tools

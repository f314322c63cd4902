// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/json.h"
#include "tools/perf/perf_report.h"

namespace omx::tools {

namespace {

void spent_add(JsonWriter& json, const char* side, const PerfSpent& spent) {
  json.object(side, [&] {
    const PerfUsage& usage = spent.usage;
    json.field("bytes", spent.bytes);
    if (usage.known & PerfUsage::kTimes) {
      json.field("scope", usage.known & PerfUsage::kThread ? "thread" : "process");
      json.field("user_us", static_cast<double>(usage.user_ns) * 1e-3);
      json.field("system_us", static_cast<double>(usage.system_ns) * 1e-3);
      json.field("processors", spent.processors());
    }
    if (usage.known & PerfUsage::kCycles) {
      json.field("cycles", usage.cycles);
      json.field("cycles_of", usage.known & PerfUsage::kUserCycles ? "user" : "user and kernel");
      if (spent.bytes) json.field("cycles_per_byte", spent.cycles_per_byte());
    } else {
      json.field("cycles_missing",
                 usage.known || usage.cycles ? usage.cycles_missing() : "the omx perf there is older");
    }
  });
}

void figures_add(JsonWriter& json, const PerfOptions& options, const PerfFigures& figures) {
  json.field("messages", figures.messages);
  json.field("seconds", figures.seconds);
  if (options.test == PerfTest::pingpong) {
    json.field("min_us", figures.min_us);
    json.field("median_us", figures.median_us);
    json.field("p99_us", figures.p99_us);
    json.field("mean_us", figures.mean_us);
    json.field("max_us", figures.max_us);
    if (!figures.percentiles.empty()) {
      json.object("percentiles_us", [&] {
        for (const auto& [percent, us] : figures.percentiles) json.field(fmt::format("{:g}", percent), us);
      });
    }
  }
  json.field("million_per_s", figures.million_per_s());
}

void row_add(JsonWriter& json, const PerfOptions& options, const PerfRow& row) {
  json.field("size", row.size);
  json.field("repeat", row.repeat);
  json.field("cut_short", row.cut_short());
  figures_add(json, options, row);
  json.field("mb_per_s", row.mb_per_s());
  json.field("gbit_per_s", row.gbit_per_s());
  if (options.pattern != PerfPattern::pairs) {
    json.field("slowest_mb_per_s", row.slowest_mb_per_s);
    json.field("fastest_mb_per_s", row.fastest_mb_per_s);
  }
  spent_add(json, "here", row.here);
  spent_add(json, "there", row.there);
  if (options.interval_s > 0) {
    json.array("intervals", [&] {
      for (const PerfInterval& interval : row.intervals) {
        json.object([&] {
          json.field("from_s", interval.from_s);
          json.field("to_s", interval.to_s);
          figures_add(json, options, interval.figures);
        });
      }
    });
  }
  if (options.histogram) {
    json.array("histogram", [&] {
      for (const auto& bucket : row.buckets) {
        json.object([&] {
          json.field("from_us", static_cast<double>(bucket.low) * kHalfUs);
          json.field("to_us", static_cast<double>(bucket.high + 1) * kHalfUs);
          json.field("count", bucket.count);
        });
      }
    });
  }
}

}  // namespace

std::string perf_json(const PerfOptions& options, const std::string& from, const std::vector<PerfRow>& rows) {
  JsonWriter json;
  json.object([&] {
    json.field("version", OMX_VERSION);
    json.field("test", test_name(options.test));
    json.field("pattern", pattern_name(options.pattern));
    json.field("threads", options.threads);
    json.field("from", from);
    json.field("to", fmt::format("{}", fmt::join(options.peers, ", ")));
    json.field("blocking", options.blocking);
    json.field("synchronous", options.sync);
    json.field("verified", options.verify);
    json.field("repeats", options.repeats);
    json.array("results", [&] {
      for (const PerfRow& row : rows) json.object([&] { row_add(json, options, row); });
    });
  });
  return json.take();
}

}  // namespace omx::tools

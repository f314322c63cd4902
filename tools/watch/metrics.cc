// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>

#include "base/text.h"
#include "tools/watch/counter_texts.h"

namespace omx::tools {

namespace {

constexpr std::string_view kPrefix = "openmx_";
// Of a counter with this unit each step is an event of its own kind. Such a metric has no unit.
constexpr std::string_view kTimes = "times";

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

// Escapes what would end a text or a line. `quotes`: double quotes, too.
std::string escaped(std::string_view text, bool quotes) {
  std::string made;
  for (const char c : text) {
    if (c == '\n') {
      made += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) made += '\\';
    made += c;
  }
  return made;
}

// Any program may choose its name. Bytes that are not UTF-8 would make Prometheus refuse the whole text.
std::string label_text(std::string_view name, std::string_view value) {
  std::string plain = shown(value);
  std::ranges::replace_if(
      plain, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return fmt::format("{}=\"{}\"", name, escaped(plain, true));
}

struct Gauge {
  std::string_view name, unit, meaning;
  std::uint64_t (*value)(const runtime::SharedView& view);
};

// The state that the endpoint published last, at most about a second ago.
constexpr Gauge kGauges[] = {
    {"known_peers", "peers", "peers that the endpoint knows",
     [](const runtime::SharedView& v) -> std::uint64_t { return v.snapshot.peers; }},
    {"posted_receives", "receives", "receives that wait for a message",
     [](const runtime::SharedView& v) -> std::uint64_t { return v.snapshot.posted; }},
    {"waiting_messages", "messages", "messages that arrived and wait for a receive",
     [](const runtime::SharedView& v) -> std::uint64_t { return v.snapshot.unexpected; }},
    {"waiting_bytes", "bytes", "memory of messages that arrived and wait for a receive",
     [](const runtime::SharedView& v) -> std::uint64_t { return v.snapshot.unexpected_bytes; }},
    {"waiting_threads", "threads", "threads of the application in waiting calls",
     [](const runtime::SharedView& v) -> std::uint64_t { return v.waiting; }},
};

class Writer {
 public:
  explicit Writer(MetricsFormat format) : open_(format == MetricsFormat::openmetrics) {}

  void counter(const std::string& name, std::string_view unit, std::string_view help) {
    sample_ = name + "_total";
    // The older format names the samples here, and has no units.
    head(open_ ? name : sample_, "counter", unit, help);
  }
  void gauge(const std::string& name, std::string_view unit, std::string_view help) {
    sample_ = name;
    head(name, "gauge", unit, help);
  }
  void sample(const std::string& labels, std::uint64_t value) {
    fmt::format_to(std::back_inserter(text_), "{}{{{}}} {}\n", sample_, labels, value);
  }
  std::string take() {
    if (open_) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  void head(const std::string& name, std::string_view type, std::string_view unit, std::string_view help) {
    auto out = std::back_inserter(text_);
    fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, open_), name, type);
    if (open_ && !unit.empty()) fmt::format_to(out, "# UNIT {} {}\n", name, unit);
  }

  const bool open_;
  std::string text_;
  std::string sample_;
};

}  // namespace

// Leaves articles out, and the unit where the label has it, in singular or plural.
std::string metric_name(std::string_view label, std::string_view unit) {
  const std::string_view one = unit.substr(0, unit.size() - (unit.ends_with('s') ? 1 : 0));
  std::string name(kPrefix.substr(0, kPrefix.size() - 1));
  const std::string text = lower(label);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && letter(text[end])) end++;
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (!word.empty() && word != "a" && word != "an" && word != "the" && word != unit && word != one)
      name.append("_").append(word);
    at = end + 1;
  }
  if (unit != kTimes) name.append("_").append(unit);
  return name;
}

std::string metrics_text(const MetricsHost& host, MetricsFormat format) {
  Writer writer(format);
  const std::string host_label = label_text("host", host.name);
  std::vector<std::string> labels;
  for (const MetricsSource& s : host.sources)
    labels.push_back(fmt::format("{},{},endpoint=\"{}\",{}", host_label, label_text("link", s.link),
                                 s.endpoint, label_text("process", s.process)));

  const auto own = std::count_if(host.sources.begin(), host.sources.end(),
                                 [](const MetricsSource& s) { return s.shared->counters.rail_of == 0; });
  writer.gauge(fmt::format("{}open_endpoints", kPrefix), "endpoints", "open endpoints whose counters follow");
  writer.sample(host_label, static_cast<std::uint64_t>(own));
  writer.gauge(fmt::format("{}unreadable_endpoints", kPrefix), "endpoints",
               "open endpoints whose counters are not readable here: of another user or version");
  writer.sample(host_label, host.unreadable);
  if (host.sources.empty()) return writer.take();

  for (const Gauge& gauge : kGauges) {
    writer.gauge(fmt::format("{}{}", kPrefix, gauge.name), gauge.unit, gauge.meaning);
    for (std::size_t i = 0; i < host.sources.size(); i++) {
      const runtime::SharedEndpoint& shared = *host.sources[i].shared;
      if (shared.counters.rail_of == 0) writer.sample(labels[i], gauge.value(shared.view));
    }
  }
  std::vector<std::vector<CounterValue>> values;
  for (const MetricsSource& s : host.sources) values.push_back(counter_values(s.shared->counters));
  for (std::size_t c = 0; c < values.front().size(); c++) {
    const std::string_view label = values.front()[c].first;
    const CounterText* const text = counter_text(label);
    if (!text) continue;  // a test checks that there is none
    writer.counter(metric_name(label, text->unit), text->unit == kTimes ? "" : text->unit,
                   fmt::format("{}: {}", label, text->meaning));
    for (std::size_t i = 0; i < host.sources.size(); i++) {
      // Another board of an endpoint counts only what its link does.
      if (host.sources[i].shared->counters.rail_of == 0 || label.starts_with("Link "))
        writer.sample(labels[i], values[i][c].second);
    }
  }
  return writer.take();
}

}  // namespace omx::tools

// SPDX-License-Identifier: BSD-3-Clause
#include "steering/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu_list.h"
#include "base/text.h"
#include "steering/binding_file.h"

namespace omx::steering {

namespace {

bool has(const std::vector<int>& list, int cpu) {
  return std::find(list.begin(), list.end(), cpu) != list.end();
}

Placement stay(std::string reason) {
  return {{}, std::move(reason), false};
}

Placement refuse(std::string reason) {
  return {{}, std::move(reason), true};
}

// Returns the processors beside those of the queue, each once, best first.
std::vector<int> beside_all(const std::vector<int>& near, Surroundings& surroundings) {
  std::vector<int> all;
  for (const int cpu : near) {
    for (const int other : surroundings.beside(cpu))
      if (!has(near, other) && !has(all, other)) all.push_back(other);
  }
  return all;
}

// Places a thread when all single processors are used. It may run on all processors that share the cache, so
// that two threads do not share one processor while another is idle.
Placement share(const ReceiveQueue& queue, const std::vector<int>& near, const std::vector<int>& beside,
                const std::vector<int>& allowed) {
  std::vector<int> group;
  for (const int cpu : allowed)
    if (has(near, cpu) || has(beside, cpu)) group.push_back(cpu);
  const std::string where =
      fmt::format("of processor {}, where {} brings its frames", cpu_list_text(near), queue.source);
  if (group.empty())
    return stay(fmt::format("none of the processors that it may use ({}) is known to share a cache {}",
                            cpu_list_text(allowed), where));
  if (group.size() == 1 || group.size() == allowed.size())
    return stay(fmt::format("other endpoints have the processors that share the cache {}", where));
  return {std::move(group), fmt::format("which share the cache {}; other endpoints have each of them", where),
          false};
}

Placement place_near(const ReceiveQueue& queue, const std::vector<int>& allowed, Surroundings& surroundings) {
  const std::vector<int>& near = queue.processors;
  for (const int cpu : near) {
    if (has(allowed, cpu) && surroundings.take(cpu))
      return {{cpu}, fmt::format("where {} brings its frames", queue.source), false};
  }
  const std::vector<int> beside = beside_all(near, surroundings);
  for (const int cpu : beside) {
    if (has(allowed, cpu) && surroundings.take(cpu)) {
      const bool may = std::any_of(near.begin(), near.end(), [&](int n) { return has(allowed, n); });
      return {{cpu},
              fmt::format("which shares a cache with processor {}, where {} brings its frames and {}",
                          cpu_list_text(near), queue.source, may ? "another endpoint is" : "it may not run"),
              false};
    }
  }
  return share(queue, near, beside, allowed);
}

// Keeps a bound thread where it is. It marks its processor, so that other threads go elsewhere.
Placement place_bound(const std::vector<int>& affinity, Surroundings& surroundings) {
  if (affinity.size() == 1) surroundings.take(affinity[0]);
  return stay(fmt::format("it is bound to processor{} {} already", affinity.size() == 1 ? "" : "s",
                          cpu_list_text(affinity)));
}

Placement place_automatic(const PlacedEndpoint& endpoint, Surroundings& surroundings) {
  const std::vector<int> affinity = surroundings.affinity();
  if (affinity.empty()) return stay("the kernel does not tell where it may run");
  const std::vector<int> possible = surroundings.possible();
  for (const int cpu : possible)
    if (!has(affinity, cpu)) return place_bound(affinity, surroundings);
  if (affinity.size() == 1) return stay(fmt::format("it may run on processor {} only", affinity[0]));
  const ReceiveQueues queues = surroundings.queues();
  if (queues.udp && queues.count != 1 && !flow_decides(queues, endpoint.endpoint))
    return stay(
        "messages by UDP arrive in all receive queues, not in one of them, where no flow rule says in which "
        "(omx steer --flows)");
  if (!queues.udp && !queues.rps && !queues.steered.unreadable.empty())
    return stay(queues.steered.unreadable);
  const auto queue = queue_find(queues, endpoint.endpoint);
  if (!queue || queue->processors.empty())
    return stay(fmt::format("which processor handles the frames of {} is not known", queues.interface));
  return place_near(*queue, affinity, surroundings);
}

Placement place_listed(const BindingSetting& setting, const PlacedEndpoint& endpoint,
                       Surroundings& surroundings) {
  const int cpu = setting.processors[endpoint.endpoint % setting.processors.size()];
  const std::vector<int> possible = surroundings.possible();
  if (!possible.empty() && !has(possible, cpu)) {
    return refuse(fmt::format("processor {} is not one that this process may use ({}); give others, or off",
                              cpu, cpu_list_text(possible)));
  }
  surroundings.take(cpu);
  return {{cpu}, fmt::format("as OMX_PROCESS_BINDING={} says", binding_setting_text(setting)), false};
}

Placement place_by_file(const BindingSetting& setting, const PlacedEndpoint& endpoint,
                        Surroundings& surroundings) {
  const auto lines = binding_file_read(
      setting.path, setting.path == kBindingFile ? BindingTrust::exposed : BindingTrust::named);
  if (!lines) return refuse(lines.error().message);
  const std::string file = shown(setting.path, kPathShown);
  const auto line = std::find_if(lines->begin(), lines->end(), [&](const BindingLine& l) {
    return l.board == endpoint.board && l.endpoint == endpoint.endpoint;
  });
  if (line == lines->end())
    return refuse(fmt::format("{} has no line for board {} ep {}; omx prepare-binding writes it again", file,
                              mac_format(endpoint.board), endpoint.endpoint));
  const std::vector<int> possible = surroundings.possible();
  std::vector<int> processors;
  for (const int cpu : line->processors)
    if (possible.empty() || has(possible, cpu)) processors.push_back(cpu);
  if (processors.empty())
    return refuse(fmt::format("{} gives it processors ({}) that this process may not use ({})", file,
                              cpu_list_text(line->processors), cpu_list_text(possible)));
  if (processors.size() == 1) surroundings.take(processors[0]);
  return {std::move(processors), fmt::format("as {} says", file), false};
}

}  // namespace

Placement place(const BindingSetting& setting, const PlacedEndpoint& endpoint, Surroundings& surroundings) {
  switch (setting.mode) {
    case BindingMode::off:
      break;
    case BindingMode::automatic:
      return place_automatic(endpoint, surroundings);
    case BindingMode::listed:
      return place_listed(setting, endpoint, surroundings);
    case BindingMode::file:
      return place_by_file(setting, endpoint, surroundings);
  }
  return stay("OMX_PROCESS_BINDING=off");
}

}  // namespace omx::steering

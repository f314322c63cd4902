// SPDX-License-Identifier: BSD-3-Clause
#include "copy/engines.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "copy/channels.h"
#include "copy/cpu_engine.h"
#include "copy/dsa_engine.h"
#include "copy/dsa_open.h"
#include "copy/policy.h"
#include "copy/thread_engine.h"

namespace omx::copy {

namespace {

constexpr int kNoResources = 15;  // MX_NO_RESOURCES

#ifdef OMX_PREDICTION
// Pretends to copy, to predict what perfect copies would gain (Cluster 2008, fig. 4). Only benchmarks build
// it, because it delivers garbage.
class SkipEngine final : public CopyEngine {
 public:
  Capabilities capabilities() const override {
    return {.name = "skip", .asynchronous = true, .least_piece = 0, .most_outstanding = 1};
  }
  Submission submit(const Piece&) override {
    completed_ = ++submitted_;
    return {Answer::accepted, submitted_};
  }
  std::uint32_t poll(std::uint32_t) override { return 0; }
  bool drain(TimeNs) override { return true; }
};
#endif

constexpr EngineKind kKinds[] = {
    EngineKind::automatic, EngineKind::cpu, EngineKind::thread, EngineKind::dsa,
#ifdef OMX_PREDICTION
    EngineKind::skip,
#endif
};

DsaOptions dsa_options(const DsaQueue& queue, std::uint32_t processes) {
  DsaOptions options;
  options.most_outstanding = outstanding_most(queue.threshold, processes);
  options.max_transfer = static_cast<std::uint32_t>(std::min<std::uint64_t>(queue.max_transfer, 1U << 30));
  options.max_list = queue.max_batch;
  options.cache_control = queue.cache_control;
  return options;
}

std::size_t queues_most(const EngineOptions& options) {
  constexpr std::size_t kAutomatic = 4;
  return options.channels > 0 ? std::min<std::size_t>(options.channels, Channels::kMost) : kAutomatic;
}

// Joins `count` engines that `create` makes.
template <class Create>
Result<std::unique_ptr<CopyEngine>> joined(std::size_t count, Create create) {
  std::vector<std::unique_ptr<CopyEngine>> engines;
  for (std::size_t i = 0; i < count; i++) {
    auto engine = create(i);
    if (!engine) return engine;
    engines.push_back(std::move(*engine));
  }
  auto all = Channels::join(std::move(engines));
  if (!all) return fail(kNoResources, "copy engine: no memory left for its channels");
  return all;
}

Result<std::unique_ptr<CopyEngine>> dsa_create(const EngineOptions& options) {
  auto open = dsa_open_best(options.dsa, options.numa_node, queues_most(options));
  if (!open) return tl::unexpected<Failure>(std::move(open.error()));
  return joined(open->size(), [&](std::size_t i) -> Result<std::unique_ptr<CopyEngine>> {
    return DsaEngine::create(std::move((*open)[i].portal), dsa_options((*open)[i].queue, options.processes));
  });
}

Result<std::unique_ptr<CopyEngine>> thread_create(const EngineOptions& options) {
  return joined(std::clamp<std::size_t>(options.channels, 1, Channels::kMost), [&](std::size_t) {
    return ThreadEngine::create({.most_outstanding = options.thread_queue});
  });
}

EngineFact thread_fact() {
  cpu_set_t mine;
  const bool alone = ::sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) == 1;
  if (!alone) return {EngineKind::thread, true, "a helper thread; it sleeps while there is nothing to copy"};
  return {EngineKind::thread, false,
          "a helper thread would only take turns with the application, as this process may use one processor "
          "only: bind it to two or more"};
}

EngineFact dsa_fact(const EngineOptions& options) {
  auto open = dsa_open_best(options.dsa, options.numa_node, queues_most(options));
  if (!open) return {EngineKind::dsa, false, std::move(open.error().message)};
  std::vector<std::string> queues;
  for (const OpenQueue& one : *open) {
    queues.push_back(fmt::format("{} ({}) by {}, {} pieces of up to {} KiB at a time", one.queue.path,
                                 one.queue.shared ? "shared" : "dedicated", one.portal->name(),
                                 outstanding_most(one.queue.threshold, options.processes),
                                 one.queue.max_transfer / 1024));
  }
  return {EngineKind::dsa, true, fmt::format("Intel DSA, {}", fmt::join(queues, "; "))};
}

}  // namespace

const char* engine_name(EngineKind kind) {
  switch (kind) {
    case EngineKind::automatic:
      return "auto";
    case EngineKind::cpu:
      return "cpu";
    case EngineKind::thread:
      return "thread";
    case EngineKind::dsa:
      return "dsa";
#ifdef OMX_PREDICTION
    case EngineKind::skip:
      return "skip";
#endif
  }
  return "?";
}

std::optional<EngineKind> engine_parse(std::string_view name) {
  for (const EngineKind kind : kKinds)
    if (name == engine_name(kind)) return kind;
  return std::nullopt;
}

Result<std::unique_ptr<CopyEngine>> engine_create(EngineKind kind, const EngineOptions& options) {
  switch (kind) {
    case EngineKind::cpu:
      break;
    case EngineKind::thread:
      return thread_create(options);
    case EngineKind::dsa:
      return dsa_create(options);
#ifdef OMX_PREDICTION
    case EngineKind::skip:
      return std::make_unique<SkipEngine>();
#endif
    case EngineKind::automatic: {
      auto engine = dsa_create(options);
      if (engine) return engine;
      log(LogLevel::info, "the processor copies, as there is no copy engine: {}", engine.error().message);
      break;
    }
  }
  return std::make_unique<CpuEngine>();
}

std::vector<EngineFact> engine_list(const EngineOptions& options) {
  return {
      {EngineKind::cpu, true, "memcpy by the thread that makes progress"}, thread_fact(), dsa_fact(options)};
}

}  // namespace omx::copy

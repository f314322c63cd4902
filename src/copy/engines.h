// SPDX-License-Identifier: BSD-3-Clause
// Makes engines by name, and lists those that this machine has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "copy/dsa_devices.h"
#include "copy/engine.h"

namespace omx::copy {

enum class EngineKind : std::uint8_t {
  automatic,  // a device that works, otherwise cpu: never offload if unsure (docs/spec/copy-offload.md 9)
  cpu,
  thread,
  dsa,
#ifdef OMX_PREDICTION
  skip,
#endif
};

const char* engine_name(EngineKind kind);  // auto, cpu, thread, dsa
std::optional<EngineKind> engine_parse(std::string_view name);

struct EngineOptions {
  DsaSystem dsa;
  int numa_node = -1;               // the owner's node; -1: does not matter
  std::uint32_t processes = 1;      // processes of this host that share a queue's threshold
  std::uint32_t thread_queue = 64;  // pieces of each helper thread
  // Queues, or helper threads, that copy different messages; 0: as many queues as there are, but at most
  // four, and one thread.
  std::uint32_t channels = 1;
};

// Makes an engine. A failure says what is missing and the remedy. `automatic` does not fail. Opens devices,
// and may wait 0.1 s for one that does not answer, so it is not for the data path.
Result<std::unique_ptr<CopyEngine>> engine_create(EngineKind kind, const EngineOptions& options = {});

struct EngineFact {
  EngineKind kind;
  bool available;
  std::string text;  // what it is, or one sentence why it is not available, with the remedy
};
// Lists all engines except `automatic`. Opens and tries devices as engine_create() does.
std::vector<EngineFact> engine_list(const EngineOptions& options = {});

}  // namespace omx::copy

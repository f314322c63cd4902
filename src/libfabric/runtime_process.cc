// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/runtime_process.h"

#include <fmt/format.h>

#include <mutex>

#include "base/fork_guard.h"
#include "base/text.h"
#include "config/settings_environment.h"
#include "libfabric/parameters.h"

namespace omx::fabric {

namespace {

constexpr int kMxFailure = 2;

Result<runtime::Process*> runtime_make() {
  if (!parameters().malformed.empty()) return fail(kMxFailure, parameters().malformed);
  runtime::Settings settings;
  if (auto r = runtime::settings_read(settings); !r) return tl::unexpected(r.error());
  if (!parameters().iface.empty()) {
    settings.interfaces = parameters().iface;
    settings.interfaces_variable = "FI_OMX_IFACE";
  }
  if (const std::string& link = parameters().link; !link.empty()) {
    const auto kind = runtime::link_parse(link);
    if (!kind)
      return fail(kMxFailure, fmt::format("FI_OMX_LINK={} is none of auto, ethernet, xdp, udp, udp4 and udp6",
                                          shown(link)));
    settings.link = *kind;
  }
  if (settings.protocol.mode == wire::Mode::mxoe) {
    return fail(kMxFailure,
                "OMX_WIRE_MODE=mxoe has no room for libfabric's tags and data; unset it, or use the MX API");
  }
  if (!settings.protocol.extension)
    return fail(kMxFailure, "the extension of the wire format is off; libfabric's messages need it");
  // The time-out also holds for connects that the engine makes by itself.
  settings.protocol.reliability.connect_timeout = parameters().connect_ms * protocol::kMillisecond;
  auto process = runtime::Process::create(settings);
  if (!process) return tl::unexpected(process.error());
  return process->release();
}

}  // namespace

Result<runtime::Process*> runtime_of_process() {
  static std::mutex mutex;
  static runtime::Process* process = nullptr;
  static unsigned generation = 0;
  const std::lock_guard guard(mutex);
  if (process && generation == fork_generation()) return process;
  auto made = runtime_make();  // after a failure the next call tries again: an interface may have come up
  if (made) process = *made;   // a forked child does not touch its parent's
  generation = fork_generation();
  return made;
}

}  // namespace omx::fabric

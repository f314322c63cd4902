// SPDX-License-Identifier: BSD-3-Clause
// The entry point that libfabric looks for in libomx-fi.so (libfabric.md 1.3).
#include "libfabric/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/fork_guard.h"
#include "base/log_file.h"
#include "base/number.h"
#include "base/text.h"
#include "libfabric/fabric.h"
#include "libfabric/info.h"

namespace omx::fabric {

namespace {

void cleanup() {}  // a thread may still be inside a call (libfabric.md 6.4)

constexpr int kMxFailure = 2;

// Not libfabric's, which takes "12abc" for a number and says nothing of "abc".
void number_read(const char* variable, std::size_t most, std::size_t& value, std::string& malformed) {
  const char* const text = std::getenv(variable);
  if (!text) return;
  const auto number = number_parse(text);
  if (number && *number > 0 && *number <= most)
    value = *number;
  else
    malformed =
        fmt::format("{}=\"{}\" is not accepted; give a number from 1 to {}", variable, shown(text), most);
}

Parameters parameters_read() {
  Parameters p;
  char* text = nullptr;
  if (fi_param_get_str(&g_provider, "iface", &text) == 0 && text) p.iface = text;
  if (fi_param_get_str(&g_provider, "link", &text) == 0 && text) p.link = text;
  std::size_t connect_ms = p.connect_ms;
  number_read("FI_OMX_CONNECT_TIMEOUT", 3'600'000, connect_ms, p.malformed);
  p.connect_ms = static_cast<unsigned>(connect_ms);
  number_read("FI_OMX_TX_SIZE", kQueueSizeMost, p.tx_size, p.malformed);
  return p;
}

}  // namespace

void parameters_define() {
  fi_param_define(&g_provider, "iface", FI_PARAM_STRING,
                  "Interfaces to use, separated by commas, best first (instead of OMX_INTERFACES)");
  fi_param_define(&g_provider, "link", FI_PARAM_STRING,
                  "What carries messages: ethernet, xdp, udp, udp4, udp6, or auto (instead of OMX_LINK)");
  fi_param_define(&g_provider, "connect_timeout", FI_PARAM_SIZE_T,
                  "Milliseconds until messages to an address that never answered fail (default 30000)");
  fi_param_define(
      &g_provider, "tx_size", FI_PARAM_SIZE_T,
      "Sends that may be under way by default before calls return FI_EAGAIN, beside those that wait "
      "for their receives (default 16384)");
}

namespace {

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
  settings.protocol.connect_timeout = parameters().connect_ms * protocol::kMillisecond;  // also of its own
  auto process = runtime::Process::create(settings);
  if (!process) return tl::unexpected(process.error());
  return process->release();
}

}  // namespace

fi_provider g_provider = {
    FI_VERSION(0, 1), kInterface, {}, "omx", getinfo, fabric_open, cleanup,
};

const Parameters& parameters() {
  static const Parameters* const read = new Parameters(parameters_read());
  return *read;
}

Result<runtime::Process*> runtime_of_process() {
  static std::mutex mutex;
  static runtime::Process* process = nullptr;
  static unsigned generation = 0;
  const std::lock_guard guard(mutex);
  if (process && generation == fork_generation()) return process;
  auto made = runtime_make();  // after a failure the next call tries again: an interface may have come up
  if (made) process = *made;   // a forked child makes its own, and leaves its parent's alone
  generation = fork_generation();
  return made;
}

void warn(fi_log_subsys subsystem, const std::string& text) {
  FI_WARN(&g_provider, subsystem, "%s\n", text.c_str());
  log_file_write("libfabric provider omx: warning: " + text + '\n');
}

void info(fi_log_subsys subsystem, const std::string& text) {
  FI_INFO(&g_provider, subsystem, "%s\n", text.c_str());
}

int refuse(fi_log_subsys subsystem, int error, const std::string& why) {
  if (error == FI_ENOSYS || error == FI_ENOPROTOOPT)
    info(subsystem, why);
  else
    warn(subsystem, why);
  return -error;
}

const char* text_give(const char* text, char* out, std::size_t length) {
  if (out && length > 0) {
    std::strncpy(out, text, length - 1);
    out[length - 1] = 0;
  }
  return text;
}

int no_bind(fid*, fid*, std::uint64_t) {
  return -FI_ENOSYS;
}

int no_control(fid*, int, void*) {
  return -FI_ENOSYS;
}

int no_ops_open(fid*, const char*, std::uint64_t, void**, void*) {
  return -FI_ENOSYS;
}

}  // namespace omx::fabric

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  omx::fabric::parameters_define();
  // libfabric would not ask us on behalf of a program that wants a newer interface than we say, and nobody
  // would learn why: getinfo declines with a sentence instead.
  omx::fabric::g_provider.fi_version = std::max(omx::fabric::kInterface, fi_version());
  return &omx::fabric::g_provider;
}

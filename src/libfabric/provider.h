// SPDX-License-Identifier: BSD-3-Clause
// The provider "omx" as libfabric sees it, and what all its objects share: log, settings, the runtime, and
// the fence that keeps exceptions inside.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "base/expected.h"
#include "runtime/process/process.h"

namespace omx::fabric {

extern fi_provider g_provider;

// What "FI_OMX_..." says (fi_info -e lists them).
struct Parameters {
  std::string iface;             // instead of OMX_INTERFACES
  std::string link;              // instead of OMX_LINK
  unsigned connect_ms = 30'000;  // how long an address may stay silent that was never heard of
  std::size_t tx_size = 16'384;  // sends under way before FI_EAGAIN, beside those that wait for receives
  std::string malformed;         // what is wrong with them; then there are no boards
};
const Parameters& parameters();
void parameters_define();

// The runtime of this process, made when first asked for, and never unmade: threads may be inside when the
// process exits.
Result<runtime::Process*> runtime_of_process();

// One line for people who asked libfabric for its log (FI_LOG_LEVEL), a warning for our log file as well.
void warn(fi_log_subsys subsystem, const std::string& text);
void info(fi_log_subsys subsystem, const std::string& text);

// Says why a call that opens, binds or changes an object fails, and returns -error: at level warn, or info
// where something is not implemented, for which programs only try.
int refuse(fi_log_subsys subsystem, int error, const std::string& why);

// Runs `body` for libfabric: no exception passes.
template <class Body>
auto fenced(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return -FI_ENOMEM;
  } catch (const std::exception& e) {
    warn(FI_LOG_CORE, std::string("internal error: ") + e.what());
    return -FI_EOTHER;
  }
}

// libfabric's tables are not declared const, though nobody writes to them.
template <class Ops>
Ops* table(const Ops& ops) {
  return const_cast<Ops*>(&ops);
}

// For fi_*_strerror: the text, and a copy where the caller has room.
const char* text_give(const char* text, char* out, std::size_t length);

int no_bind(fid* object, fid* other, std::uint64_t flags);
int no_control(fid* object, int command, void* argument);
int no_ops_open(fid* object, const char* name, std::uint64_t flags, void** ops, void* context);
// The fi_ops of an object that can only be closed.
constexpr fi_ops closing_ops(int (*close)(fid*), int (*bind)(fid*, fid*, std::uint64_t) = no_bind,
                             int (*control)(fid*, int, void*) = no_control) {
  return {sizeof(fi_ops), close, bind, control, no_ops_open, nullptr, nullptr};
}

}  // namespace omx::fabric

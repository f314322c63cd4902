// SPDX-License-Identifier: BSD-3-Clause
#include "mx/lifecycle.h"

#include <memory>
#include <mutex>

#include "config/settings_environment.h"
#include "mx/code_texts.h"
#include "mx/error_handler.h"
#include "mx/handles.h"
#include "mx/process.h"

namespace omx::mx {

namespace {

constinit std::mutex g_start_mutex;

}  // namespace

Result<void> process_start() {
  const std::lock_guard lock(g_start_mutex);
  if (process()) return fail(OMX_ALREADY_INITIALIZED, code_text(OMX_ALREADY_INITIALIZED));
  runtime::Settings settings;
  const auto read = runtime::settings_read(settings);
  initial_handler_choose(settings);
  if (!read) return tl::make_unexpected(read.error());
  auto created = runtime::Process::create(settings);
  if (!created) return tl::make_unexpected(created.error());
  process_exchange(created->release());
  return {};
}

bool process_stop() {
  const std::lock_guard lock(g_start_mutex);
  // Handlers of endpoints may call the library until they return.
  if (runtime::Process* p = process())
    p->endpoints_visit([](runtime::Endpoint& endpoint) { endpoint.end_background(); });
  const std::unique_ptr<runtime::Process> stopping(process_exchange(nullptr));
  if (!stopping) return false;
  handles_close_all();
  return true;
}

}  // namespace omx::mx

// SPDX-License-Identifier: BSD-3-Clause
#include "mx/error_handler.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/messages/catalogue.h"
#include "base/setting_text.h"
#include "config/settings.h"
#include "mx/code_texts.h"
#include "mx/process.h"

namespace omx::mx {

namespace {

constinit std::mutex g_mutex;
constinit ErrorHandler g_handler;  // not set: the initial one
// The choice of the settings that were read last.
constinit std::atomic<bool> g_initially_fatal{true}, g_ignore_mx_env{false};

[[noreturn]] void die(const char* text, int code) {
  const std::string sentence = fmt::format("{} (error {}: {})", text, code, code_text(code));
  std::string tag = messages::tag(text);
  if (tag.empty()) tag = messages::tag(sentence);  // texts of codes have no entry of their own
  log_plain(LogLevel::error, fmt::format("Open-MX: {}{}", tag, sentence));
  const runtime::Process* p = process();
  if (const std::uint32_t pause = p ? p->settings().abort_sleep_s : 0) {
    const std::string wait = fmt::format("process {} ends in {} s: time for a debugger", ::getpid(), pause);
    log_plain(LogLevel::error, fmt::format("Open-MX: {}{}", messages::tag(wait), wait));
    std::this_thread::sleep_for(std::chrono::seconds(pause));
  }
  std::exit(-1);
}

constexpr ErrorHandler kFatal{errors_are_fatal_mx, errors_are_fatal_native};
constexpr ErrorHandler kReturn{errors_return_mx, errors_return_native};

std::optional<bool> variable_boolean(const char* name) {
  const char* value = std::getenv(name);
  return value ? boolean_parse(value) : std::nullopt;
}

// Returns whether errors end the program where it has set no handler. Before init only the environment can
// say so. Afterwards the configuration file counts as well, even if init fails.
bool initially_fatal() {
  if (const runtime::Process* p = process()) return p->settings().errors_are_fatal;
  if (const auto fatal = variable_boolean("OMX_FATAL_ERRORS")) return *fatal;
  if (!variable_boolean("OMX_IGNORE_MX_ENV").value_or(g_ignore_mx_env)) {
    if (const auto fatal = variable_boolean("MX_ERRORS_ARE_FATAL")) return *fatal;
  }
  return g_initially_fatal;
}

const ErrorHandler& initial() {
  return initially_fatal() ? kFatal : kReturn;
}

ErrorHandler in_force(Handle* handle) {
  {
    const std::lock_guard lock(g_mutex);
    if (handle && handle->error_handler.set()) return handle->error_handler;
    if (g_handler.set()) return g_handler;
  }
  return initial();
}

// Returns a handler of the other interface, which takes the same arguments in the same places.
template <class To, class From>
To adapt(From from) {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(from));
}

}  // namespace

mx_return_t errors_are_fatal_mx(char* text, mx_return_t code) {
  die(text, code);
}
mx_return_t errors_return_mx(char*, mx_return_t code) {
  return code;
}
omx_return_t errors_are_fatal_native(char* text, omx_return_t code) {
  die(text, code);
}
omx_return_t errors_return_native(char*, omx_return_t code) {
  return code;
}

int error_raise(Handle* handle, Code code, const char* text) {
  const ErrorHandler handler = in_force(handle);
  // The handler may write into its text.
  char copy[kTextMax + 1];
  std::snprintf(copy, sizeof copy, "%s", text);
  if (handler.mx) return handler.mx(copy, static_cast<mx_return_t>(code));
  return handler.native(copy, code);
}

bool error_handler_prints(Handle* handle) {
  const ErrorHandler handler = in_force(handle);
  return handler.mx == errors_are_fatal_mx || handler.native == errors_are_fatal_native;
}

bool error_handler_reads(Handle* handle) {
  const ErrorHandler handler = in_force(handle);
  return handler.mx ? handler.mx != errors_return_mx : handler.native != errors_return_native;
}

ErrorHandler error_handler_swap(Handle* handle, ErrorHandler handler) {
  ErrorHandler previous;
  {
    const std::lock_guard lock(g_mutex);
    previous = std::exchange(handle ? handle->error_handler : g_handler, handler);
  }
  return previous.set() || handle ? previous : initial();
}

void initial_handler_choose(const runtime::Settings& settings) {
  g_initially_fatal = settings.errors_are_fatal;
  g_ignore_mx_env = settings.ignore_mx_env;
}

mx_error_handler_t as_mx(const ErrorHandler& handler) {
  if (handler.mx || !handler.native) return handler.mx;
  if (handler.native == errors_are_fatal_native) return errors_are_fatal_mx;
  if (handler.native == errors_return_native) return errors_return_mx;
  return adapt<mx_error_handler_t>(handler.native);
}

omx_error_handler_t as_native(const ErrorHandler& handler) {
  if (handler.native || !handler.mx) return handler.native;
  if (handler.mx == errors_are_fatal_mx) return errors_are_fatal_native;
  if (handler.mx == errors_return_mx) return errors_return_native;
  return adapt<omx_error_handler_t>(handler.mx);
}

}  // namespace omx::mx

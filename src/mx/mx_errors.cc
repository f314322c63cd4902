// SPDX-License-Identifier: BSD-3-Clause
// The error handler (mx-api.md 5): that of the endpoint, else that of the process, else the initial one.
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
#include "config/settings_kinds.h"
#include "mx/internal.h"

namespace omx::mx {

namespace {

constinit std::mutex g_mutex;
constinit ErrorHandler g_handler;  // not set: the initial one
// As the last settings that were read say.
constinit std::atomic<bool> g_initially_fatal{true}, g_ignore_mx_env{false};

[[noreturn]] void die(const char* text, int code) {
  log_plain(LogLevel::error, fmt::format("Open-MX: {} (error {}: {})", text, code, code_text(code)));
  const runtime::Process* p = process();
  if (const std::uint32_t pause = p ? p->settings().abort_sleep_s : 0) {
    log_plain(LogLevel::error,
              fmt::format("Open-MX: process {} ends in {} s: time for a debugger", ::getpid(), pause));
    std::this_thread::sleep_for(std::chrono::seconds(pause));
  }
  std::exit(-1);
}

mx_return_t mx_fatal(char* text, mx_return_t code) {
  die(text, code);
}
mx_return_t mx_return(char*, mx_return_t code) {
  return code;
}
omx_return_t native_fatal(char* text, omx_return_t code) {
  die(text, code);
}
omx_return_t native_return(char*, omx_return_t code) {
  return code;
}

constexpr ErrorHandler kFatal{mx_fatal, native_fatal};
constexpr ErrorHandler kReturn{mx_return, native_return};

std::optional<bool> variable_boolean(const char* name) {
  const char* value = std::getenv(name);
  return value ? runtime::boolean_parse(value) : std::nullopt;
}

// Before init only the environment can say so; then the configuration file has its say too, even if init
// fails.
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

// A handler of the other interface is called with the same arguments in the same places.
template <class To, class From>
To adapt(From from) {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(from));
}

}  // namespace

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
  return handler.mx == mx_fatal || handler.native == native_fatal;
}

bool error_handler_reads(Handle* handle) {
  const ErrorHandler handler = in_force(handle);
  return handler.mx ? handler.mx != mx_return : handler.native != native_return;
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
  if (handler.native == native_fatal) return mx_fatal;
  if (handler.native == native_return) return mx_return;
  return adapt<mx_error_handler_t>(handler.native);
}

omx_error_handler_t as_native(const ErrorHandler& handler) {
  if (handler.native || !handler.mx) return handler.native;
  if (handler.mx == mx_fatal) return native_fatal;
  if (handler.mx == mx_return) return native_return;
  return adapt<omx_error_handler_t>(handler.mx);
}

int Call::raise(Code code, const std::string& text) {
  return error_raise(handle_, code, (std::string(function_) + ": " + text).substr(0, kTextMax).c_str());
}

int Call::fail_loudly(const Failure& failure) {
  const bool cut = std::strlen(function_) + std::strlen(": ") + failure.message.size() > kTextMax;
  if (cut || !error_handler_prints(handle_)) log(LogLevel::error, "{}: {}", function_, failure.message);
  return fail(static_cast<Code>(failure.mx_code), "{}", failure.message);
}

}  // namespace omx::mx

using namespace omx::mx;

extern "C" {

const mx_error_handler_t MX_ERRORS_ARE_FATAL = mx_fatal;
const mx_error_handler_t MX_ERRORS_RETURN = mx_return;
const omx_error_handler_t OMX_ERRORS_ARE_FATAL = native_fatal;
const omx_error_handler_t OMX_ERRORS_RETURN = native_return;

mx_error_handler_t mx_set_error_handler(mx_error_handler_t handler) {
  return as_mx(error_handler_swap(nullptr, {handler, nullptr}));
}

omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler) {
  Handle* handle = nullptr;
  if (ep) {
    handle = handle_find(ep);
    if (!handle || !handle->endpoint) {
      Call(__func__, nullptr, nullptr).fail(OMX_BAD_ENDPOINT, "not an open endpoint");
      return nullptr;
    }
  }
  return as_native(error_handler_swap(handle, {nullptr, handler}));
}

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
#include "mx/call.h"

#include <cstring>
#include <string>

#include "base/log.h"

namespace omx::mx {

int Call::raise(Code code, const std::string& text) {
  return error_raise(handle_, code, (std::string(function_) + ": " + text).substr(0, kTextMax).c_str());
}

int Call::fail_loudly(const Failure& failure) {
  const bool cut = std::strlen(function_) + std::strlen(": ") + failure.message.size() > kTextMax;
  if (cut || !error_handler_prints(handle_)) log(LogLevel::error, "{}: {}", function_, failure.message);
  return fail(static_cast<Code>(failure.mx_code), "{}", failure.message);
}

}  // namespace omx::mx

// SPDX-License-Identifier: BSD-3-Clause
// Errors are values. tl::expected has the interface of std::expected and works with every compiler we use
// (clang 14, which builds the fuzzers and runs clang-tidy, cannot read libstdc++'s <expected>).
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace omx {

template <class T, class E>
using Expected = tl::expected<T, E>;

// A failure that a person reads: one sentence that names the object, the cause and the remedy, and the
// MX return code (mx-api.md 1.1) that goes with it.
struct Failure {
  int mx_code = 2;  // MX_FAILURE
  std::string message;
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(int mx_code, std::string message) {
  return tl::unexpected<Failure>(Failure{mx_code, std::move(message)});
}

}  // namespace omx

// SPDX-License-Identifier: BSD-3-Clause
// Errors are values. tl::expected has the interface of std::expected and works with every compiler in use.
// clang 14, which builds the fuzzers and runs clang-tidy, cannot read libstdc++'s <expected>.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace omx {

template <class T, class E>
using Expected = tl::expected<T, E>;

// A failure for people: one sentence that names the object, the cause and the remedy. With it goes an MX
// return code (docs/spec/mx-api.md 1.1).
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

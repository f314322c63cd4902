// SPDX-License-Identifier: BSD-3-Clause
// The one place that knows what the engine calls a generation of the conversation with a peer.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::simulation {

// An engine without generations takes every address for a current one.
template <typename T>
std::uint32_t generation_of(const T& reported) {
  if constexpr (requires { reported.conversation; })
    return reported.conversation;
  else
    return 0;
}
template <typename T>
void generation_set(T& op, std::uint32_t generation) {
  if constexpr (requires { op.conversation; }) op.conversation = generation;
}
template <typename T = protocol::SendOp>
inline constexpr bool kEngineCounts = requires(T op) {
  op.conversation;
};

}  // namespace omx::simulation

// SPDX-License-Identifier: BSD-3-Clause
#include "mx/map_state.h"

#include <mutex>

namespace omx::mx {

namespace {

constinit std::mutex g_mutex;
constinit mx_mapper_state_t g_map{};

}  // namespace

void map_state_set(const mx_mapper_state_t& state) {
  const std::lock_guard lock(g_mutex);
  g_map = state;
}

mx_mapper_state_t map_state() {
  const std::lock_guard lock(g_mutex);
  return g_map;
}

}  // namespace omx::mx

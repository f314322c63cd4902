// SPDX-License-Identifier: BSD-3-Clause
#include "mx/handles.h"

#include <array>
#include <cassert>

#include "runtime/process/process.h"

namespace omx::mx {

namespace {

// An endpoint pointer is the address of a cell.
struct Cell {
  std::atomic<Handle*> handle{nullptr};
};
constexpr std::size_t kCells = runtime::kSlots;  // 32 kB of zero pages
constinit std::array<Cell, kCells> g_cells{};

}  // namespace

Handle* handle_of_slot(std::uint32_t slot) {
  return slot < kCells ? g_cells[slot].handle.load(std::memory_order_acquire) : nullptr;
}

Handle* handle_find(const void* endpoint) {
  const auto offset = reinterpret_cast<std::uintptr_t>(endpoint) - reinterpret_cast<std::uintptr_t>(&g_cells);
  if (offset >= sizeof g_cells || offset % sizeof(Cell) != 0) return nullptr;
  return handle_of_slot(static_cast<std::uint32_t>(offset / sizeof(Cell)));
}

Handle& handle_prepare(runtime::Endpoint& endpoint) {
  const std::uint32_t slot = endpoint.slot();
  assert(slot < kCells);
  // The slot is ours while the endpoint is open, so no other thread writes its cell.
  Handle* handle = handle_of_slot(slot);
  if (!handle) {
    handle = new Handle;
    g_cells[slot].handle.store(handle, std::memory_order_release);
  }
  assert(!handle->endpoint.load(std::memory_order_relaxed));
  return *handle;
}

void* handle_publish(Handle& handle, runtime::Endpoint& endpoint) {
  assert(&handle == handle_of_slot(endpoint.slot()));
  handle.endpoint.store(&endpoint, std::memory_order_release);
  return &g_cells[endpoint.slot()];
}

void handles_for_each(const std::function<void(runtime::Endpoint&)>& visit) {
  for (Cell& cell : g_cells) {
    Handle* handle = cell.handle.load(std::memory_order_acquire);
    runtime::Endpoint* endpoint = handle ? handle->endpoint.load(std::memory_order_acquire) : nullptr;
    if (endpoint) visit(*endpoint);
  }
}

void handles_close_all() {
  for (Cell& cell : g_cells)
    if (Handle* handle = cell.handle.load(std::memory_order_acquire))
      handle->endpoint.store(nullptr, std::memory_order_release);
}

}  // namespace omx::mx

// SPDX-License-Identifier: BSD-3-Clause
// The process and its open endpoints, as the interfaces see them.
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "mx/internal.h"

namespace omx::mx {

namespace {

// An endpoint pointer is the address of a cell.
struct Cell {
  std::atomic<Handle*> handle{nullptr};
};
constexpr std::size_t kCells = runtime::kSlots;  // 32 kB of zero pages
constinit std::array<Cell, kCells> g_cells{};

// Never destroyed: at exit() other threads may still be inside a call.
constinit std::atomic<runtime::Process*> g_process{nullptr};
constinit std::mutex g_start_mutex;

void detach_all() {
  for (Cell& cell : g_cells)
    if (Handle* handle = cell.handle.load(std::memory_order_acquire))
      handle->endpoint.store(nullptr, std::memory_order_release);
}

}  // namespace

Handle* handle_of_slot(std::uint32_t slot) {
  return slot < kCells ? g_cells[slot].handle.load(std::memory_order_acquire) : nullptr;
}

Handle* handle_find(const void* endpoint) {
  const auto offset = reinterpret_cast<std::uintptr_t>(endpoint) - reinterpret_cast<std::uintptr_t>(&g_cells);
  if (offset >= sizeof g_cells || offset % sizeof(Cell) != 0) return nullptr;
  return handle_of_slot(static_cast<std::uint32_t>(offset / sizeof(Cell)));
}

void* handle_attach(runtime::Endpoint* endpoint, const ErrorHandler& error_handler) {
  const std::uint32_t slot = endpoint->slot();
  // The slot is ours while the endpoint is open, so nobody else writes its cell.
  Handle* handle = handle_of_slot(slot);
  if (!handle) {
    handle = new Handle;
    g_cells[slot].handle.store(handle, std::memory_order_release);
  }
  error_handler_swap(handle, error_handler);
  handle->endpoint.store(endpoint, std::memory_order_release);
  return &g_cells[slot];
}

void handles_for_each(const std::function<void(runtime::Endpoint&)>& visit) {
  for (Cell& cell : g_cells) {
    Handle* handle = cell.handle.load(std::memory_order_acquire);
    runtime::Endpoint* endpoint = handle ? handle->endpoint.load(std::memory_order_acquire) : nullptr;
    if (endpoint) visit(*endpoint);
  }
}

runtime::Process* process() {
  return g_process.load(std::memory_order_acquire);
}

Result<void> process_start() {
  const std::lock_guard lock(g_start_mutex);
  if (g_process) return fail(OMX_ALREADY_INITIALIZED, code_text(OMX_ALREADY_INITIALIZED));
  runtime::Settings settings;
  const auto read = runtime::settings_read(settings);
  initial_handler_choose(settings);
  if (!read) return tl::make_unexpected(read.error());
  auto created = runtime::Process::create(settings);
  if (!created) return tl::make_unexpected(created.error());
  g_process.store(created->release(), std::memory_order_release);
  return {};
}

bool process_stop() {
  const std::lock_guard lock(g_start_mutex);
  // Handlers may call until they return.
  if (runtime::Process* p = process())
    p->endpoints_visit([](runtime::Endpoint& endpoint) { endpoint.end_background(); });
  const std::unique_ptr<runtime::Process> stopping(g_process.exchange(nullptr));
  if (!stopping) return false;
  detach_all();
  return true;
}

}  // namespace omx::mx

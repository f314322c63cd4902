// SPDX-License-Identifier: BSD-3-Clause
// The kernel's table of a hook group: made anew and loaded as a whole when endpoints come.
#include "link/fanout/hook_fanout.h"
#include "link/fanout/hook_group.h"
#include "link/fanout/hook_program.h"

namespace omx::link {

// Two that live, so that names are answered though one of them may be stopped: who asks again is heard by
// the other one sooner or later.
std::array<std::uint32_t, 2> HookGroup::board_choose() const {
  std::array<std::uint32_t, 2> chosen{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < deposited() && count < chosen.size(); i++) {
    if (record(i).kind.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(HookKind::frames) &&
        record(i).owner.load(std::memory_order_relaxed) >= 0 && memory_.locked(place_lock(i)))
      chosen[count++] = i + 1;
  }
  return chosen;
}

bool HookGroup::load(HookKind kind, int member) {
  HookDirectory& d = directory();
  const auto which = static_cast<std::uint32_t>(kind);
  const std::uint32_t version = d.wanted[which].load(std::memory_order_acquire);
  HookTable table;
  table.ifindex = ifindex_;
  std::array<bool, 256> seen{};
  const auto index_of = [this](std::uint32_t place) {
    return static_cast<std::uint16_t>(record(place).index.load(std::memory_order_relaxed));
  };
  for (std::uint32_t i = 0; i < deposited(); i++) {
    const std::int32_t owner = record(i).owner.load(std::memory_order_relaxed);
    if (record(i).state.load(std::memory_order_acquire) != HookPlaceRecord::member ||
        record(i).kind.load(std::memory_order_relaxed) != which || owner < 0 || owner > 255 ||
        seen[static_cast<std::size_t>(owner)])
      continue;
    seen[static_cast<std::size_t>(owner)] = true;
    table.leaves.push_back({static_cast<std::uint8_t>(owner), index_of(i)});
  }
  // Bells hear their endpoints only: the rest is found when somebody looks.
  std::array<std::uint32_t, 2> board{};
  if (kind == HookKind::frames) board = board_choose();
  for (std::size_t i = 0; i < board.size(); i++)
    if (board[i] > 0) table.board[i] = index_of(board[i] - 1);
  if (hook_program_load(member, hook_program_build(std::move(table))) != 0) return false;
  if (kind == HookKind::frames)
    for (std::size_t i = 0; i < board.size(); i++) d.board[i].store(board[i], std::memory_order_relaxed);
  d.loaded[which].store(version, std::memory_order_release);
  return true;
}

// One load serves all who came before it; each waits for the kernel some ten milliseconds. Once, whatever the
// counts say: what was written before the lock was taken is in the table then.
bool HookGroup::publish(HookKind kind, int member, std::uint32_t version) {
  const auto done = [&] {
    const auto& loaded = directory().loaded[static_cast<std::uint32_t>(kind)];
    return static_cast<std::int32_t>(loaded.load(std::memory_order_acquire) - version) >= 0;
  };
  if (done()) return true;
  const HookLock lock(memory_, load_lock(kind));
  return done() || (lock.held() && load(kind, member));
}

// Who hears the board may have gone.
void HookGroup::look() {
  HookDirectory& d = directory();
  for (const auto& chosen : d.board) {
    const std::uint32_t place = chosen.load(std::memory_order_relaxed);
    if (place == 0 || place > HookDirectory::kPlaces || memory_.locked(place_lock(place - 1))) continue;
    publish(HookKind::frames, share_.sink.get(), d.wanted[0].fetch_add(1, std::memory_order_acq_rel) + 1);
    return;
  }
}

}  // namespace omx::link

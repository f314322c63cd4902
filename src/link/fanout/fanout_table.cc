// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_table.h"

#include <array>

#include "link/fanout/fanout_program.h"

namespace omx::link {

namespace {

// Chooses two members with live holders for the board's frames, because one of the two may be stopped. A
// host that asks again reaches the other one sooner or later.
std::array<std::uint32_t, 2> board_choose(const FanoutGroup& group) {
  std::array<std::uint32_t, 2> chosen{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < group.spares() && count < chosen.size(); i++) {
    if (group.record(i).kind.load(std::memory_order_relaxed) ==
            static_cast<std::uint32_t>(FanoutKind::frames) &&
        group.record(i).owner.load(std::memory_order_relaxed) >= 0 && group.memory().locked(member_lock(i)))
      chosen[count++] = i + 1;
  }
  return chosen;
}

bool load(FanoutGroup& group, FanoutKind kind, int any) {
  FanoutDirectory& d = group.directory();
  const auto which = static_cast<std::uint32_t>(kind);
  const std::uint32_t version = d.wanted[which].load(std::memory_order_acquire);
  FanoutTable table;
  table.ifindex = group.ifindex();
  std::array<bool, 256> seen{};
  const auto index_of = [&group](std::uint32_t member) {
    return static_cast<std::uint16_t>(group.record(member).index.load(std::memory_order_relaxed));
  };
  for (std::uint32_t i = 0; i < group.spares(); i++) {
    const std::int32_t owner = group.record(i).owner.load(std::memory_order_relaxed);
    if (group.record(i).state.load(std::memory_order_acquire) != MemberRecord::joined ||
        group.record(i).kind.load(std::memory_order_relaxed) != which || owner < 0 || owner > 255 ||
        seen[static_cast<std::size_t>(owner)])
      continue;
    seen[static_cast<std::size_t>(owner)] = true;
    table.leaves.push_back({static_cast<std::uint8_t>(owner), index_of(i)});
  }
  // Wake-up sockets are only for their endpoints' frames. A thread that polls finds the board's.
  std::array<std::uint32_t, 2> board{};
  if (kind == FanoutKind::frames) board = board_choose(group);
  for (std::size_t i = 0; i < board.size(); i++)
    if (board[i] > 0) table.board[i] = index_of(board[i] - 1);
  if (fanout_program_load(any, fanout_program_build(std::move(table))) != 0) return false;
  if (kind == FanoutKind::frames)
    for (std::size_t i = 0; i < board.size(); i++) d.board[i].store(board[i], std::memory_order_relaxed);
  d.loaded[which].store(version, std::memory_order_release);
  return true;
}

}  // namespace

// Loads the table unless another process did so meanwhile. One load serves all processes that waited for it.
// A load waits some ten milliseconds for the kernel. One load is enough, whatever the counts say: the table
// then has all that was written before the lock was taken.
bool table_publish(FanoutGroup& group, FanoutKind kind, int any, std::uint32_t version) {
  const auto done = [&] {
    const auto& loaded = group.directory().loaded[static_cast<std::uint32_t>(kind)];
    return static_cast<std::int32_t>(loaded.load(std::memory_order_acquire) - version) >= 0;
  };
  if (done()) return true;
  const FanoutLock lock(group.memory(), load_lock(kind));
  return done() || (lock.held() && load(group, kind, any));
}

// Checks the members that take the frames for the board, because one may have gone.
void board_look(FanoutGroup& group) {
  FanoutDirectory& d = group.directory();
  for (const auto& chosen : d.board) {
    const std::uint32_t member = chosen.load(std::memory_order_relaxed);
    if (member == 0 || member > FanoutDirectory::kMembers || group.memory().locked(member_lock(member - 1)))
      continue;
    table_publish(group, FanoutKind::frames, group.share().dropping.get(),
                  d.wanted[0].fetch_add(1, std::memory_order_acq_rel) + 1);
    return;
  }
}

}  // namespace omx::link

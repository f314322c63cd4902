// SPDX-License-Identifier: BSD-3-Clause
// The boards of a process.
#pragma once

#include <utility>
#include <vector>

#include "runtime/board/boards.h"

namespace omx::runtime {

class ProcessBoards {
 public:
  explicit ProcessBoards(std::vector<Board> found) : found_(std::move(found)) {}

  // Returns the boards as they were found. They never change once names are set, so threads may read them
  // without a lock.
  const std::vector<Board>& found() const { return found_; }
  void name_set(const Board& board, const std::string& hostname) { found_[board.number].hostname = hostname; }
  // Returns a copy with present indices and MAC addresses. An interface that was removed and came back has
  // another index, by which its endpoints are claimed. Costs a few system calls.
  std::vector<Board> now() const;
  // Returns the board with that NIC; nullptr if it is no board of this process.
  const Board* of(NicId nic) const;

 private:
  std::vector<Board> found_;
};

}  // namespace omx::runtime

// SPDX-License-Identifier: BSD-3-Clause
// The raw endpoint of a board: whole frames in and out, for mapper daemons (docs/spec/mx-api.md 4.8). Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "link/transport.h"
#include "mx_raw.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"

struct omx_raw_endpoint {
 public:
  static omx::Result<std::unique_ptr<omx_raw_endpoint>> open(const omx::runtime::Board& board);
  ~omx_raw_endpoint();

  const omx::runtime::Board& board() const { return board_; }
  // Returns a descriptor that is readable when a frame or an event may wait.
  int descriptor() const { return epoll_; }

  // Returns whether the length in bytes is one that the interface can send.
  bool fits(std::size_t length) const;
  void send(std::span<const std::byte> frame, void* context);

  struct Event {
    mx_raw_status_t status = MX_RAW_NO_EVENT;
    void* context = nullptr;  // SEND_COMPLETE
    std::size_t length = 0;   // RECV_COMPLETE: bytes written to the buffer
  };
  // Waits for an event up to `timeout_ms`, and writes a frame to `buffer`. Returns false when the interface
  // is gone.
  bool next_event(std::span<std::byte> buffer, std::uint32_t timeout_ms, Event& event);

 private:
  explicit omx_raw_endpoint(const omx::runtime::Board& board) : board_(board) {}
  bool take(std::span<std::byte> buffer, Event& event);

  omx::runtime::Board board_;
  omx::runtime::Claim claim_;
  std::unique_ptr<omx::link::Transport> link_;
  std::deque<void*> sent_;  // contexts of SEND_COMPLETE events not fetched yet
  int event_ = -1;          // eventfd: readable while sent_ is not empty
  int epoll_ = -1;          // both descriptors as one
};

// SPDX-License-Identifier: BSD-3-Clause
// Frames on their way by UDP: those that follow one another to the same place and have the same size, of
// which the last may be shorter, are one GSO batch. The kernel takes it in one call, and carries it in one
// piece as far as it can (UDP_SEGMENT): into the NIC, or to a receiver in this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "link/link_counters.h"
#include "link/udp/udp_address.h"
#include "wire/frame_io.h"

namespace omx::link {

class GsoBatch {
 public:
  // `counters` must outlive it.
  explicit GsoBatch(LinkCounters& counters);
  ~GsoBatch();

  wire::TxFrame& begin(int fd, std::uint32_t max_segments);
  // `ifindex`: of our own interface. Without it the frame is forgotten.
  void commit(int fd, const wire::LaneAddress& to, std::uint32_t ifindex);
  void flush(int fd);
  // What goes to `to` goes by that socket, which is connected there; -1: as all else.
  void connected(int fd, const wire::LaneAddress& to) {
    connected_fd_ = fd;
    connected_to_ = to;
  }
  // A call failed since error_forget(), perhaps for what was sent earlier.
  bool error_told() const { return error_told_; }
  void error_forget() { error_told_ = false; }
  // Why the last frame was not sent, and where it should have gone; 0: it was.
  int failure() const { return failure_; }
  const wire::LaneAddress& failed_to() const { return failed_to_; }

 private:
  struct Memory;

  bool joins(const wire::LaneAddress& to, std::size_t length) const;
  void frame_to_front(const wire::TxFrame& frame, const iovec* pieces, std::size_t count);
  template <class Call>
  bool send_by(Call call);
  bool send(int fd, std::size_t first_piece, std::size_t pieces, std::size_t segment);
  bool send_one(int fd, std::size_t first_piece, std::size_t pieces, std::size_t bytes);
  void send_singly(int fd);
  bool by_connected() const { return connected_fd_ >= 0 && to_ == connected_to_; }

  LinkCounters& counters_;
  std::unique_ptr<Memory> memory_;
  bool segmentation_ = true;  // the kernel and the interface have it
  wire::LaneAddress to_;      // the GSO batch's
  std::uint32_t ifindex_ = 0;
  std::size_t count_ = 0, pieces_ = 0, bytes_ = 0;  // of the GSO batch
  std::size_t size_ = 0;                            // of its frames, except perhaps the last
  bool complete_ = false;                           // its last frame is shorter
  bool error_told_ = false;
  int connected_fd_ = -1;
  wire::LaneAddress connected_to_;
  int failure_ = 0;
  wire::LaneAddress failed_to_;
};

}  // namespace omx::link

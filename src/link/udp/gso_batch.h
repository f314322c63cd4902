// SPDX-License-Identifier: BSD-3-Clause
// Frames to be sent by UDP. Consecutive frames to the same address with the same size are one GSO batch; the
// last may be shorter. The kernel takes the batch in one call (UDP_SEGMENT). It carries the batch as one
// packet as far as it can: into the NIC, or to a receiver in this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "link/link_counters.h"
#include "link/udp/udp_address.h"
#include "wire/frame_io.h"

namespace omx::link {

class ZerocopySocket;

class GsoBatch {
 public:
  // `counters` must outlive the object.
  explicit GsoBatch(LinkCounters& counters);
  ~GsoBatch();

  wire::TxFrame& begin(int fd, std::uint32_t max_segments);
  // Adds the frame that begin() returned. `ifindex` is that of our own interface. A frame without commit()
  // is forgotten.
  void commit(int fd, const wire::BulkAddress& to, std::uint32_t ifindex);
  void flush(int fd) {
    if (count_ > 0) send_all(fd);
  }
  // Sends frames for `to` by this socket, which is connected to that address. With -1 all frames go by the
  // usual socket.
  void connected(int fd, const wire::BulkAddress& to) {
    connected_fd_ = fd;
    connected_to_ = to;
  }
  // Sends GSO frames whose data last by this socket, where that is cheaper. The socket must outlive the
  // batch.
  void zerocopy_set(ZerocopySocket* socket) { zerocopy_ = socket; }
  // Returns whether a call failed since error_forget(), perhaps because of an earlier datagram.
  bool error_told() const { return error_told_; }
  void error_forget() { error_told_ = false; }
  // Returns why the last frame was not sent, or 0 if it was. failed_to() returns where it should have gone.
  int failure() const { return failure_; }
  const wire::BulkAddress& failed_to() const { return failed_to_; }

 private:
  struct Memory;

  bool joins(const wire::BulkAddress& to, std::size_t length) const;
  void frame_to_front(const wire::TxFrame& frame, const iovec* pieces, std::size_t count);
  template <class Call>
  bool send_by(Call call);
  bool send(int fd, std::size_t first_piece, std::size_t pieces, std::size_t segment);
  bool send_lasting(int fd, std::size_t segment);
  bool send_one(int fd, std::size_t first_piece, std::size_t pieces, std::size_t bytes);
  void send_all(int fd);
  void send_singly(int fd);
  void send_whole(int fd);
  bool by_connected() const { return connected_fd_ >= 0 && to_ == connected_to_; }

  LinkCounters& counters_;
  std::unique_ptr<Memory> memory_;
  ZerocopySocket* zerocopy_ = nullptr;
  bool segmentation_ = true;  // the kernel and the interface support it
  wire::BulkAddress to_;      // where the GSO batch goes
  std::uint32_t ifindex_ = 0;
  std::size_t count_ = 0, pieces_ = 0, bytes_ = 0;  // size of the GSO batch
  std::size_t size_ = 0;                            // bytes of each frame, except perhaps the last
  bool complete_ = false;                           // no other frame may follow
  bool error_told_ = false;
  int connected_fd_ = -1;
  wire::BulkAddress connected_to_;
  int failure_ = 0;
  wire::BulkAddress failed_to_;
};

}  // namespace omx::link

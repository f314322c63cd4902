// SPDX-License-Identifier: BSD-3-Clause
// A host of the fabric: one endpoint, which is the real engine, and a program that polls it some time after a
// frame came. It makes no calls while its NIC has much to send, as a blocking socket makes it wait.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "protocol/endpoint.h"
#include "simulation/engine/events.h"
#include "simulation/fabric/options.h"
#include "simulation/fabric/packets.h"
#include "simulation/fabric/surroundings.h"
#include "wire/frame_io.h"

namespace omx::simulation::fabric {

class Host;

// The part of the fabric that only a host uses.
class HostSurroundings : public virtual Surroundings {
 public:
  virtual void completed(Host& host, const protocol::Completion& completion) = 0;
  virtual void ring_dropped() = 0;
  virtual std::span<std::byte> sent_bytes() = 0;
  virtual std::span<std::byte> received_bytes() = 0;

 protected:
  ~HostSurroundings() = default;
};

class Host final : public wire::FrameSink, public EventTarget {
 public:
  Host(HostSurroundings& fabric, std::uint32_t index);
  ~Host();

  static NicId nic_of(std::uint32_t index) { return 0x020000000001 + index; }
  std::uint32_t index() const { return index_; }
  protocol::Endpoint& engine() { return *engine_; }
  const protocol::Counters& counters() const { return counters_; }
  std::size_t waiting() const { return ring_.size(); }

  bool connect(std::uint32_t to);
  // Sends `length` bytes to a connected host, as soon as the NIC has room.
  void send(std::uint32_t to, std::uint32_t length, std::uint64_t match_info);
  void arrived(std::uint32_t packet);
  // Returns how many data frames a message of this length needs, if each is sent once.
  std::uint64_t frames_needed(std::uint32_t to, std::uint32_t length);

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override;
  void frame_commit() override;
  void flush() override {}
  void on_event(std::uint64_t argument) override;

 private:
  struct Waiting {
    std::uint32_t to, length;
    std::uint64_t match_info;
  };
  bool nic_full() const;
  void poll_at(TimeNs at);
  void poll();
  void post();
  void start(const Waiting& send);
  void reap();
  void wake_schedule();

  HostSurroundings& fabric_;
  std::uint32_t index_;
  Random random_;
  protocol::Counters counters_;
  std::unique_ptr<protocol::Endpoint> engine_;
  std::deque<std::uint32_t> ring_;
  std::deque<Waiting> sends_;
  TimeNs poll_at_ = protocol::kNever, wake_at_ = protocol::kNever;  // of the earliest such events
  std::uint32_t posted_ = 0;
  wire::TxFrame tx_;
  std::vector<iovec> segments_;
};

// Returns the data frames that engines have sent, all of them.
std::uint64_t data_frames(const protocol::Counters& counters);

}  // namespace omx::simulation::fabric

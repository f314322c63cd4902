// SPDX-License-Identifier: BSD-3-Clause
// A modelled TCP flow that always has data to send. Both ends are here. Each segment is acknowledged by one
// frame, which also names that segment (as selective acknowledgement does). A segment is lost when three that
// were sent after it have come, as on a path that keeps the order, or after the retransmission time-out. Two
// silent round trips bring a probe before that.
#pragma once

#include <deque>
#include <set>
#include <vector>

#include "simulation/engine/events.h"
#include "simulation/fabric/options.h"
#include "simulation/fabric/packets.h"
#include "simulation/fabric/surroundings.h"
#include "simulation/fabric/tcp_window.h"

namespace omx::simulation::fabric {

inline constexpr std::uint32_t kTcpPayload = 1448;  // of a segment: MTU 1500 and time stamps

class TcpSurroundings : public virtual Surroundings {
 public:
  virtual void transmit_at(TimeNs at, std::uint32_t packet) = 0;

 protected:
  ~TcpSurroundings() = default;
};

struct TcpEnds {
  std::uint32_t flow = 0, from = 0, to = 0;
};

struct TcpFigures {
  std::uint64_t delivered = 0;  // segments, in order
  std::uint64_t sent = 0, sent_again = 0, timeouts = 0;
  std::vector<std::uint32_t> round_trips;  // ns
};

class TcpFlow final : public EventTarget {
 public:
  TcpFlow(TcpSurroundings& fabric, const TcpEnds& ends, TcpKind kind);

  void start();
  void stop() { running_ = false; }
  void arrived(const TcpSegment& segment);  // at either end
  void on_event(std::uint64_t argument) override;
  const TcpFigures& figures() const { return figures_; }
  void round_trips_clear() { figures_.round_trips.clear(); }

 private:
  enum class Fate : std::uint8_t { under_way, come, lost };
  struct Unacknowledged {
    Fate fate = Fate::under_way;
    std::uint64_t transmission = 0;  // the last one
  };
  struct Sending {
    std::uint64_t transmission, segment;
  };

  void received(const TcpSegment& segment);
  void acknowledged(const TcpSegment& segment);
  void losses_find(std::uint64_t transmission);
  void lose(std::uint64_t segment);
  void fill_window();
  void nic_await(std::uint64_t bytes);
  void send(std::uint64_t segment);
  std::uint32_t frame(const TcpSegment& segment, std::uint32_t length, bool back);
  void time(TimeNs sample);
  void timer_set();
  void probe();

  TcpSurroundings& fabric_;
  TcpEnds ends_;
  TcpWindow window_;
  TcpFigures figures_;
  bool running_ = false;
  // The sender: segments from first_ on have not all been acknowledged.
  std::uint64_t first_ = 0, transmissions_ = 0, under_way_ = 0;
  std::uint64_t recover_ = 0;  // losses before this segment belong to the window that was reduced
  std::deque<Unacknowledged> segments_;
  std::deque<Sending> sendings_;
  std::set<std::uint64_t> lost_;
  TimeNs mean_ = 0, deviation_ = 0, backoff_ = 1;  // of the round trip
  TimeNs due_ = protocol::kNever;                  // the probe, after it the retransmission time-out
  TimeNs timer_at_ = protocol::kNever;             // the earliest scheduled event
  std::uint64_t probe_ = protocol::kNever;         // transmission of the probe under way
  bool nic_awaited_ = false;
  // The receiver.
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> early_;
};

}  // namespace omx::simulation::fabric

// SPDX-License-Identifier: BSD-3-Clause
// One link of an agent. It answers the probes of others, counts what arrives, and measures a path.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/settings.h"
#include "link/transport.h"
#include "runtime/board/claim.h"
#include "tools/cluster/probe_frame.h"

namespace omx::tools {

struct ProbeCount {
  std::uint32_t received = 0;  // different frames
  std::uint32_t duplicates = 0;
  std::uint32_t damaged = 0;
};

// The other end of a path.
struct ProbePeer {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t mtu = 0;
  std::uint32_t window = 0;  // bytes of frames that it holds while it does not poll
};

struct ProbeResult {
  bool reached = false;
  std::uint32_t frame = 0;     // bytes of the largest frame that was answered, of those tried
  std::uint32_t expected = 0;  // bytes of the largest frame that both interfaces take
  double half_round_trip_us = 0;
  double gbps = 0;
  std::uint32_t sent = 0;
};

class ProbeLink final : public link::FrameHandler {
 public:
  // Opens a link of a kind ("raw", "udp", "xdp") with a free endpoint id of the board. Failures name the
  // remedy.
  static Result<std::unique_ptr<ProbeLink>> open(runtime::Settings settings, const std::string& kind,
                                                 std::uint32_t board);

  // Begins to count the data of a measurement.
  void expect(std::uint32_t token, std::uint32_t frames);
  const ProbeCount& count() const { return count_; }
  // Answers what waits. Returns whether there was something.
  bool serve();
  // Measures the path to a peer, and sends `frames` frames of the largest size that passes. Ends at
  // `deadline`.
  ProbeResult measure(const ProbePeer& peer, std::uint32_t token, std::uint32_t frames, TimeNs deadline);
  // Sleeps until frames wait, `also` is readable, or `until`. Returns whether `also` is readable.
  static bool sleep(std::span<ProbeLink* const> links, int also, TimeNs until);

  const link::Transport& transport() const { return *link_; }
  std::uint8_t endpoint() const { return endpoint_; }
  std::uint32_t window() const;

  void on_frame(wire::Frame frame) override;

 private:
  ProbeLink(runtime::Claim claim, std::unique_ptr<link::Transport> link, std::uint8_t endpoint,
            std::uint32_t ring_frames)
      : claim_(std::move(claim)), link_(std::move(link)), endpoint_(endpoint), ring_frames_(ring_frames) {}
  void frame_send(ProbeFrame probe, std::uint32_t bytes);
  void flush();
  // Returns whether the peer answered the frame of that number.
  bool await(std::uint32_t number, TimeNs until);
  bool echo(const ProbePeer& peer, std::uint32_t bytes, std::uint32_t tries, TimeNs wait);
  std::uint32_t largest_find(const ProbePeer& peer, std::uint32_t expected);
  double half_round_trip(const ProbePeer& peer, TimeNs deadline);
  void data_send(const ProbePeer& peer, std::uint32_t frames, TimeNs deadline, ProbeResult& result);

  runtime::Claim claim_;
  std::unique_ptr<link::Transport> link_;
  std::uint8_t endpoint_;
  std::uint32_t ring_frames_;
  std::uint32_t token_ = 0;
  std::vector<bool> seen_;  // by the number of the data frame
  ProbeCount count_;
  std::vector<ProbeFrame> answers_;  // replies to send
  std::uint32_t next_ = 0;           // number of the next frame that wants a reply
  std::vector<std::uint32_t> replied_;
  std::vector<std::vector<std::byte>> queued_;  // frames that the link may read until flush()
  std::size_t queued_count_ = 0;
};

}  // namespace omx::tools

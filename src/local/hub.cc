// SPDX-License-Identifier: BSD-3-Clause
#include "local/hub.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <utility>

#include "base/no_cancel.h"
#include "local/threshold.h"

namespace omx::local {

namespace {

constexpr std::size_t kEventsAtOnce = 16;
constexpr std::size_t kRegionPieces = 256;
// Frames that are copied twice. The caches hold one, and all that one request may ask for fits the ring.
constexpr std::uint32_t kFrameBytes = 16 * 1024 + 64;
constexpr std::uint8_t kPullFrames = 6;

// Headers of endpoint packets are longer than what destination_endpoint() needs.
Place destination(std::span<const iovec> frame) {
  assert(!frame.empty());
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  return {mac_load(head), static_cast<std::uint8_t>(wire::destination_endpoint({head, frame[0].iov_len}))};
}

}  // namespace

Hub::Hub(HubOptions options)
    : options_(std::move(options)),
      refusals_(options_.self),
      outgoing_(options_, descriptors_, refusals_, counters_),
      incoming_(options_, refusals_),
      unknown_(options_.listener, descriptors_, refusals_, incoming_) {}

void Hub::send(std::span<const iovec> frame) {
  Outgoing::Path* path = outgoing_.to(destination(frame));
  if (path) {
    counters_.frames_sent++;
    return outgoing_.put(*path, Kind::frame, frame, wire::kMinFrame);
  }
  const int error = errno;
  counters_.frames_dropped++;
  // The peer may exist all the same; then the frame is sent again.
  if (error != ECONNREFUSED && error != EACCES) return outgoing_.unreached_add(destination(frame), error);
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  refused_.emplace_back(head, head + frame[0].iov_len);
  refused_.back().resize(std::max(refused_.back().size(), wire::kMinFrame));
}

void Hub::send_now(wire::Frame frame) {
  const wire::Frame padded(frame.data(), std::max(frame.size(), wire::kMinFrame));
  const iovec piece{const_cast<std::byte*>(padded.data()), padded.size()};
  if (outgoing_.send_now(destination({&piece, 1}), padded)) {
    counters_.frames_sent++;
    return;
  }
  send({&piece, 1});
  flush();
}

void Hub::send_region(const Place& to, std::uint16_t region, std::uint8_t generation,
                      std::span<const protocol::Segment> memory) {
  Outgoing::Path* path = outgoing_.to(to);
  if (!path || memory.size() > kRegionPieces) return;
  std::array<iovec, kRegionPieces> places;
  for (std::size_t i = 0; i < memory.size(); i++) places[i] = {memory[i].base, memory[i].length};
  RegionHead head = regions_.announce(region, generation, static_cast<std::uint16_t>(memory.size()));
  const iovec pieces[] = {{&head, sizeof head}, {places.data(), memory.size() * sizeof(iovec)}};
  outgoing_.put(*path, Kind::regions, pieces, 0);
}

std::size_t Hub::receive(Arrivals& arrivals, std::size_t budget) {
  outgoing_.drain();
  for (; !refused_.empty(); refused_.pop_front()) {
    const std::vector<std::byte> frame = std::move(refused_.front());
    arrivals.on_local_refused(frame);
  }
  const std::size_t frames = incoming_.receive(arrivals, budget);
  counters_.frames_received += frames;
  return frames;
}

// Takes what came on a connection: bytes that have done their work by waking us, or its end. Returns false
// if the connection is no peer's.
bool Hub::hear(int fd) {
  const bool in = incoming_.owns(fd), out = outgoing_.owns(fd);
  if (!in && !out) return false;
  char bytes[64];
  const ssize_t got = ::recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  if (in) incoming_.gone(fd);
  if (out) outgoing_.end(fd);
  return true;
}

void Hub::tick(Arrivals& arrivals) {
  const NoCancel no_cancel;
  epoll_event events[kEventsAtOnce];
  const int count = descriptors_.ready(events);
  bool unknown = unknown_.masked();
  for (int i = 0; i < count; i++)
    if (!hear(events[i].data.fd)) unknown = true;
  if (unknown) unknown_.hear();
  if (count > 0) incoming_.hear_for_sleeper(arrivals);
  incoming_.end_gone(arrivals);
}

protocol::IntraNodePath Hub::path(NicId nic, std::uint8_t endpoint) const {
  if (!options_.stays(nic) || options_.self == Place{nic, endpoint}) return {};
  const std::uint32_t threshold =
      options_.rndv_threshold ? options_.rndv_threshold : threshold_of_this_machine();
  return {kFrameBytes, kPullFrames, threshold};
}

bool Hub::read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
               std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) {
  const PeerRegions* const memory = incoming_.readable({nic, endpoint});
  if (!memory || !memory->read(region, generation, offset, to, length)) return false;
  counters_.direct_reads++;
  counters_.direct_bytes += length;
  return true;
}

}  // namespace omx::local

// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_receiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "link/udp/udp_errors.h"
#include "link/udp/udp_socket.h"
#include "netdev/socket_buffer.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

// A frame of this size passes tunnels and whatever else is on the path. IPv6 demands that every path carries
// packets of 1280 bytes.
constexpr std::uint32_t kBaseFrame = 1280 - 48;

bool comes_from(wire::Frame frame, const wire::FrameSender& sender) {
  if (frame.size() < wire::kBulkHeader || !sent_by(frame, sender)) return false;
  // Releases without kFeatureSource write 0 into PULL_REPLY and NACK_MCP, which sent_by() does not compare.
  const int source = wire::source_endpoint(frame);
  return source == sender.endpoint || source == 0;
}

}  // namespace

UdpReceiver::UdpReceiver(OwnFd fd, const UdpLinkOptions& options, const InterfaceAddress& address,
                         GsoBatch& batch, LinkCounters& counters)
    : options_(options),
      nic_(udp_nic(address.ip)),
      fd_(std::move(fd)),
      fast_path_(fd_.get(), address, options.own_port()),
      routes_(address),
      batch_(batch),
      counters_(counters) {
  group_join(address);
  udp_errors_keep(fd_.get(), is_ipv4(address.ip));
  send_buffer_set(fd_.get(), kSocketBuffer);
  window_ = static_cast<std::uint32_t>(receive_buffer_set(fd_.get(), kSocketBuffer)) / 2;
  if (fast_path_.descriptor() >= 0) {
    send_buffer_set(fast_path_.descriptor(), kSocketBuffer);
    receive_buffer_set(fast_path_.descriptor(), kSocketBuffer);
  }
}

// Joins the group. Without it only peers that know our address find us.
void UdpReceiver::group_join(const InterfaceAddress& address) {
  if (!is_ipv4(address.ip))
    unknown_peers_ = udp_group_open(wire::udp_group(nic_), options_.own_port(), address.ifindex);
}

void UdpReceiver::marks_forgo() {
  udp_socket_marks_forgo(fd_.get());
  udp_socket_marks_forgo(fast_path_.descriptor());
}

DatagramLimits UdpReceiver::limits() const {
  return {kBaseFrame, window_};
}

bool UdpReceiver::pending() {
  if (handing_over_ || held_ || errors_due_ || batch_.error_told() || unknown_peers_due()) return true;
  held_ = fetch();
  return held_ || errors_due_;
}

bool UdpReceiver::nothing() {
  (errno == EAGAIN ? quiet_ : errors_due_) = true;
  return quiet_;
}

// Returns the endpoint that sent from this address. Its NIC is 0 when the port is not an endpoint's.
wire::FrameSender UdpReceiver::sender_of(const wire::BulkAddress& from) {
  if (from.port < options_.port || from.port >= options_.port + kUdpBulkPorts) return {};
  return {routes_.from(from.ip), static_cast<std::uint8_t>(from.port - options_.port)};
}

// Receives a datagram. Returns false when nothing is there, or on an error. An error is reported once, and
// before the datagrams that wait.
bool UdpReceiver::fetch() {
  if (fast_path_.leads()) {
    if (fast_path_.receive(datagram_)) {
      counters_.frames_alone += datagram_.frames();
      return true;
    }
    if (nothing() && !fast_path_.main_due()) return false;
  }
  if (!datagram_.receive(fd_.get())) {
    if (nothing()) fast_path_.main_empty();
    return false;
  }
  const bool was = fast_path_.chosen();
  fast_path_.main_heard(datagram_.from());
  if (fast_path_.chosen() != was) batch_.connected(was ? -1 : fast_path_.descriptor(), fast_path_.peer());
  return true;
}

// Hands over the frames of a datagram. A frame is accepted only from the address that its NIC id says, and
// from the port of its source endpoint. So no host speaks for another, and no program for one that has the
// port.
std::size_t UdpReceiver::hand_over(FrameHandler& handler) {
  std::size_t frames = 0;
  counters_.receive_batches++;
  const wire::FrameSender sender = sender_of(datagram_.from());
  handing_over_ = true;
  if (datagram_.marked()) [[unlikely]]
    handler.frames_marked(true);
  datagram_.for_each([&](wire::Frame frame) {
    if (sender.nic == 0 || !comes_from(frame, sender)) {
      counters_.frames_ignored++;
      return;
    }
    frames++;
    counters_.frames_received++;
    counters_.bytes_received += frame.size();
    handler.on_frame(frame);
  });
  handing_over_ = false;
  if (datagram_.marked()) [[unlikely]]
    handler.frames_marked(false);
  if (datagram_.frames() > 1) counters_.gso_batches_received++;
  return frames;
}

std::size_t UdpReceiver::unknown_peers_take(FrameHandler& handler, std::size_t budget) {
  std::size_t frames = 0;
  looks_ = 0;
  for (std::size_t looked_at = 0; looked_at < budget; looked_at++)
    if (datagram_.receive(unknown_peers_.get()))
      frames += hand_over(handler);
    else if (errno == EAGAIN)
      break;
  return frames;
}

std::size_t UdpReceiver::receive(FrameHandler& handler, std::size_t budget) {
  std::size_t frames = 0, looked_at = 0;
  while (looked_at < budget) {
    const bool lone = quiet_;
    quiet_ = false;
    if (!held_ && !fetch()) {
      if (quiet_) break;
      looked_at++;
      continue;
    }
    held_ = false;
    looked_at += datagram_.frames();
    frames += hand_over(handler);
    // After a pause, a frame or GSO batch usually is a whole message that a thread waits for. Another poll
    // would cost a system call.
    if (lone) break;
  }
  if (unknown_peers_due()) frames += unknown_peers_take(handler, budget);
  if (errors_due_ || batch_.error_told()) errors_take(handler);
  return frames;
}

// Returns whether `frame` is one that we sent to `to`.
bool UdpReceiver::ours(wire::Frame frame, const wire::BulkAddress& to) const {
  constexpr std::size_t kShortest = 32;  // destination_endpoint() needs this much; datagrams are not padded
  if (frame.size() < kShortest || frame_source(frame.data()) != nic_) return false;
  const int endpoint = wire::destination_endpoint(frame);
  return endpoint >= 0 && mac_load(frame.data()) == udp_nic(to.ip) && to.port == options_.port + endpoint;
}

void UdpReceiver::errors_take(FrameHandler& handler) {
  constexpr unsigned kAtOnce = 64;
  errors_due_ = false;
  batch_.error_forget();
  UdpError error;
  for (unsigned i = 0;
       i < kAtOnce && (udp_error_take(fd_.get(), error) || udp_error_take(fast_path_.descriptor(), error));
       i++) {
    const NicId nic = udp_nic(error.to.ip);
    // Probes find out what sizes pass.
    if (nic == 0 || error.error == 0 || error.error == EMSGSIZE) continue;
    missed_ = nic;
    missed_why_ = error.error;
    missed_by_ = error.by.ip;
    // Only the host itself may say that its port is closed. From other hosts the error means that they do
    // not let us through.
    const wire::Frame frame{error.datagram, std::min(error.bytes, UdpError::kBytesMost)};
    if (error.error == ECONNREFUSED && error.by.ip == error.to.ip && ours(frame, error.to))
      handler.on_refused(frame);
  }
}

std::string UdpReceiver::complaint(NicId nic) const {
  if (batch_.failure() != 0 && udp_nic(batch_.failed_to().ip) == nic)
    return fmt::format("this host does not send there: {}", std::strerror(batch_.failure()));
  if (missed_ == nic) return fmt::format("{} says: {}", ip_text(missed_by_), std::strerror(missed_why_));
  return {};
}

}  // namespace omx::link

// SPDX-License-Identifier: BSD-3-Clause
// Frames as UDP datagrams: for those who may not send raw ones, and for networks that drop them.
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/link.h"
#include "link/udp/udp_datagram.h"
#include "link/udp/udp_directory.h"
#include "link/udp/udp_errors.h"
#include "link/udp/udp_favourite.h"
#include "link/udp/udp_lane.h"
#include "link/udp/udp_socket.h"
#include "link/udp/udp_train.h"
#include "netdev/interface_state.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

// Passes tunnels and whatever else is in between: a packet of 1280 bytes, as IPv6 demands of every path.
constexpr std::uint32_t kBaseFrame = 1280 - 48;

// A program that polls looks there so often; one that sleeps is woken.
constexpr std::uint32_t kLooksPerStranger = 1024;

std::uint16_t port_of(const UdpLinkOptions& options) {
  return static_cast<std::uint16_t>(options.port + options.endpoint);
}

class UdpLink final : public Link {
 public:
  UdpLink(OwnFd fd, const UdpLinkOptions& options, const InterfaceState& state,
          const InterfaceAddress& address)
      : options_(options),
        state_(state),
        address_(address),
        nic_(udp_nic(address.ip)),
        fd_(std::move(fd)),
        favourite_(fd_.get(), address, port_of(options)),
        routes_(address) {
    // Without the group only those find us who know our address.
    if (!is_ipv4(address.ip))
      strangers_ = udp_group_open(wire::udp_group(nic_), port_of(options), state.index);
    udp_errors_keep(fd_.get(), is_ipv4(address.ip));
    send_buffer_set(fd_.get(), kSocketBuffer);
    window_ = static_cast<std::uint32_t>(receive_buffer_set(fd_.get(), kSocketBuffer)) / 2;
    if (favourite_.descriptor() >= 0) {
      send_buffer_set(favourite_.descriptor(), kSocketBuffer);
      receive_buffer_set(favourite_.descriptor(), kSocketBuffer);
    }
    if (options_.lane) {
      lane_.open(address_, state_.mtu, static_cast<std::uint16_t>(port_of(options) + kUdpLanePorts));
    }
  }

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    by_lane_ = false;
    return *(frame_ = &train_.begin(fd_.get(), max_segments));
  }
  wire::TxFrame& lane_begin(const wire::LaneAddress& to, std::uint32_t max_segments) override {
    by_lane_ = true;
    return lane_.begin(to, max_segments);
  }
  void frame_commit() override;
  void flush() override {
    lane_.flush();  // first: another frame may announce what went by the lane
    train_.flush(fd_.get());
  }

  std::size_t receive(FrameHandler& handler, std::size_t budget) override;
  std::size_t lane_receive(BulkHandler& handler, std::size_t budget) override {
    return lane_.receive(handler, budget);
  }
  // Routers may be in between: a probe shows whether the lane is reached.
  LaneInfo lane() const override {
    LaneInfo info = lane_.info();
    info.network_bits = 0;
    return info;
  }
  int lane_descriptor() const override { return lane_.descriptor(); }
  // A datagram that is there is received at once, which costs no more than the look.
  bool pending() override {
    if (held_ || errors_due_ || train_.error_told() || strangers_due()) return true;
    held_ = fetch();
    return held_ || errors_due_;
  }
  bool look_is_call() const override { return true; }
  bool holds() const override { return held_; }
  bool errors_are_news() override { return errors_due_ = true; }
  std::string complaint(NicId nic) const override;
  int descriptor() const override { return fd_.get(); }
  void frames_ask() override { favourite_.main_ask(); }
  int favourite_descriptor() const override { return favourite_.descriptor(); }
  void favourite_ask() override { favourite_.ask(); }
  int strangers_descriptor() const override { return strangers_.get(); }
  void strangers_ask() override { looks_ = kLooksPerStranger; }
  NicId nic() const override { return nic_; }
  const char* name() const override { return "UDP"; }
  std::uint32_t mtu() const override { return udp_mtu(state_.mtu, address_); }
  bool refresh() override {
    errors_due_ = true;
    favourite_.ask();
    now_ = state_;
    outage_ = interface_look(fd_.get(), options_.interface, state_.index, index_taken(), 0, now_);
    if (outage_ == Outage::returned && !address_back()) outage_ = Outage::replaced;
    if (is_lost(outage_)) {
      state_.up = state_.running = false;
      return false;
    }
    state_ = now_;
    return state_.up && state_.running;
  }
  Outage outage() const override { return outage_; }
  InterfaceState interface_now() const override { return now_; }
  int follow() override;
  const LinkCounters& counters() const override { return counters_; }
  std::uint32_t base_frame() const override { return kBaseFrame; }
  std::uint32_t window() const override { return window_; }

 private:
  // Returns whether another interface has the index now. One that was renamed has kept the address.
  bool index_taken() const {
    char name[IF_NAMESIZE];
    if (!::if_indextoname(state_.index, name) || options_.interface == name) return false;
    const auto address = interface_address(name, state_.index, options_.family);
    return !address || address->ip != address_.ip;
  }
  bool address_back() const {
    const auto address = interface_address(options_.interface, now_.index, options_.family);
    return address && address->ip == address_.ip;
  }
  NicId sender_of(const wire::LaneAddress& from);
  bool strangers_due() const { return strangers_.open() && ++looks_ > kLooksPerStranger; }
  bool fetch();
  // Why the last look found none: true, or an error.
  bool nothing() {
    (errno == EAGAIN ? quiet_ : errors_due_) = true;
    return quiet_;
  }
  std::size_t hand_over(FrameHandler& handler);
  std::size_t strangers_take(FrameHandler& handler, std::size_t budget);
  void errors_take(FrameHandler& handler);
  bool ours(wire::Frame frame, const wire::LaneAddress& to) const;

  UdpLinkOptions options_;
  InterfaceState state_;
  Outage outage_ = Outage::none;
  InterfaceState now_;  // what has its name, if it is gone
  InterfaceAddress address_;
  NicId nic_;
  std::uint32_t window_ = 0;
  LinkCounters counters_;
  OwnFd fd_;
  UdpFavourite favourite_;
  OwnFd strangers_;  // takes what is sent to the group in which we listen
  mutable std::uint32_t looks_ = 0;
  UdpRoutes routes_;
  UdpDatagram datagram_;
  bool held_ = false;   // pending() received it, receive() has not handed it over yet
  bool quiet_ = false;  // the last look found nothing
  UdpTrain train_{counters_};
  UdpLane lane_{counters_};
  wire::TxFrame* frame_ = nullptr;  // the one that is being made
  bool by_lane_ = false;
  bool errors_due_ = false;  // perhaps the network said something
  // The last of what it said: about whom, what, and who said so.
  NicId missed_ = 0;
  int missed_why_ = 0;
  Ip missed_by_{};
};

void UdpLink::frame_commit() {
  if (by_lane_) return lane_.commit();
  const wire::Frame header{frame_->header, frame_->header_length};
  const int endpoint = wire::destination_endpoint(header);
  const auto ip = routes_.to(mac_load(frame_->header));
  if (endpoint < 0 || !ip) {  // for a whole board, or one on Ethernet, or of the other family
    counters_.send_errors++;
    return;
  }
  wire::LaneAddress to;
  to.ip = *ip;
  to.port = static_cast<std::uint16_t>(options_.port + endpoint);
  train_.commit(fd_.get(), to, state_.index);
}

// 0: not from an endpoint's port.
NicId UdpLink::sender_of(const wire::LaneAddress& from) {
  return from.port >= options_.port && from.port < options_.port + kUdpLanePorts ? routes_.from(from.ip) : 0;
}

// False: nothing is there, or an error, which is told once and before the datagrams that wait.
bool UdpLink::fetch() {
  if (favourite_.leads()) {
    if (favourite_.receive(datagram_)) {
      counters_.frames_alone += datagram_.frames();
      return true;
    }
    if (nothing() && !favourite_.main_due()) return false;
  }
  if (!datagram_.receive(fd_.get())) {
    if (nothing()) favourite_.main_empty();
    return false;
  }
  const bool was = favourite_.chosen();
  favourite_.main_heard(datagram_.from());
  if (favourite_.chosen() != was) train_.connected(was ? -1 : favourite_.descriptor(), favourite_.peer());
  return true;
}

// A frame is taken from the address that its NIC id says: every host speaks for itself.
std::size_t UdpLink::hand_over(FrameHandler& handler) {
  std::size_t frames = 0;
  counters_.receive_batches++;
  const NicId sender = sender_of(datagram_.from());
  datagram_.for_each([&](wire::Frame frame) {
    if (frame.size() < wire::kHeadBytes || sender == 0 || frame_source(frame.data()) != sender) {
      counters_.frames_ignored++;
      return;
    }
    frames++;
    counters_.frames_received++;
    counters_.bytes_received += frame.size();
    handler.on_frame(frame);
  });
  if (datagram_.frames() > 1) counters_.trains_received++;
  return frames;
}

std::size_t UdpLink::strangers_take(FrameHandler& handler, std::size_t budget) {
  std::size_t frames = 0;
  looks_ = 0;
  for (std::size_t looked_at = 0; looked_at < budget; looked_at++)
    if (datagram_.receive(strangers_.get()))
      frames += hand_over(handler);
    else if (errno == EAGAIN)
      break;
  return frames;
}

std::size_t UdpLink::receive(FrameHandler& handler, std::size_t budget) {
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
    // After a pause a frame or train mostly is a whole message, and somebody waits for it: another look is a
    // system call.
    if (lone) break;
  }
  if (strangers_due()) frames += strangers_take(handler, budget);
  if (errors_due_ || train_.error_told()) errors_take(handler);
  return frames;
}

// Whether it is a frame that we sent there.
bool UdpLink::ours(wire::Frame frame, const wire::LaneAddress& to) const {
  constexpr std::size_t kShortest = 32;  // what destination_endpoint needs; datagrams are not padded
  if (frame.size() < kShortest || frame_source(frame.data()) != nic_) return false;
  const int endpoint = wire::destination_endpoint(frame);
  return endpoint >= 0 && mac_load(frame.data()) == udp_nic(to.ip) && to.port == options_.port + endpoint;
}

void UdpLink::errors_take(FrameHandler& handler) {
  constexpr unsigned kAtOnce = 64;
  errors_due_ = false;
  train_.error_forget();
  UdpError error;
  for (unsigned i = 0;
       i < kAtOnce && (udp_error_take(fd_.get(), error) || udp_error_take(favourite_.descriptor(), error));
       i++) {
    const NicId nic = udp_nic(error.to.ip);
    // What sizes pass is for probes to find out.
    if (nic == 0 || error.error == 0 || error.error == EMSGSIZE) continue;
    missed_ = nic;
    missed_why_ = error.error;
    missed_by_ = error.by.ip;
    // That a port is closed is for its own host to say: others mean that they do not let us through.
    const wire::Frame frame{error.datagram, std::min(error.bytes, UdpError::kBytesMost)};
    if (error.error == ECONNREFUSED && error.by.ip == error.to.ip && ours(frame, error.to))
      handler.on_refused(frame);
  }
}

// Sockets are bound to the address, and go on when it is back. Those of link-local addresses are bound to the
// index.
int UdpLink::follow() {
  if (outage_ != Outage::returned) return EINVAL;
  if (wire::is_link_local(address_.ip)) return EOPNOTSUPP;
  state_ = now_;
  address_.ifindex = state_.index;
  outage_ = Outage::none;
  if (!is_ipv4(address_.ip))
    strangers_ = udp_group_open(wire::udp_group(nic_), port_of(options_), state_.index);
  return 0;
}

std::string UdpLink::complaint(NicId nic) const {
  if (train_.failure() != 0 && udp_nic(train_.failed_to().ip) == nic)
    return fmt::format("this host does not send there: {}", std::strerror(train_.failure()));
  if (missed_ == nic) return fmt::format("{} says: {}", ip_text(missed_by_), std::strerror(missed_why_));
  return {};
}

Failure bind_failure(const UdpLinkOptions& options, unsigned port, int error) {
  if (error == EADDRINUSE) {
    return {kBusy, fmt::format("UDP port {} of {} is in use by another program: set OMX_UDP_PORT to another "
                               "number, the same on all hosts",
                               port, options.interface)};
  }
  return open_failure(fmt::format("UDP port {} on {}", port, options.interface), error);
}

}  // namespace

Result<std::unique_ptr<Link>> udp_link_open(const UdpLinkOptions& options) {
  const std::string& name = options.interface;
  OwnFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.open()) return tl::unexpected(bind_failure(options, options.port, errno));
  InterfaceState state;
  if (const int error = interface_state_by_name(any.get(), name, state)) {
    return fail(kBoardUnknown, fmt::format("cannot read the state of {}: {}", name, std::strerror(error)));
  }
  const auto address = interface_address(name, state.index, options.family);
  if (!address) {
    const char* const kind = options.family == IpFamily::v4   ? "IPv4"
                             : options.family == IpFamily::v6 ? "IPv6"
                                                              : "IP";
    return fail(kNoDevice, fmt::format("{} has no {} address, which Open-MX by UDP needs: ip address add "
                                       "ADDRESS/BITS dev {}",
                                       name, kind, name));
  }
  udp_directory().told(address->ip);
  warn_if_down(name, state.up);
  const std::uint16_t port = port_of(options);
  OwnFd fd = udp_socket_open(*address, port);
  if (!fd.open()) return tl::unexpected(bind_failure(options, port, errno));
  return std::unique_ptr<Link>(std::make_unique<UdpLink>(std::move(fd), options, state, *address));
}

}  // namespace omx::link

// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_link.h"

#include <fmt/format.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "link/udp/gso_batch.h"
#include "link/udp/udp_bulk_socket.h"
#include "link/udp/udp_directory.h"
#include "link/udp/udp_interface.h"
#include "link/udp/udp_receiver.h"
#include "link/udp/udp_socket.h"
#include "netdev/interface_state.h"
#include "netdev/open_failure.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

class UdpLink final : public Transport {
 public:
  UdpLink(OwnFd fd, const UdpLinkOptions& options, const InterfaceState& state,
          const InterfaceAddress& address)
      : Transport("UDP", interface_, {nullptr, nullptr, nullptr, nullptr, &receiver_}),
        port_(options.port),
        receiver_(std::move(fd), options, address, batch_, counters_),
        interface_(options, state, address, receiver_),
        bulk_(UdpBulkSocket::Beside::datagrams, options.zerocopy, counters_) {
    if (options.bulk &&
        bulk_.open(address, state.mtu, static_cast<std::uint16_t>(options.own_port() + kUdpBulkPorts)))
      facets_set({nullptr, &bulk_, &wakeup_, nullptr, &receiver_});
  }

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    by_bulk_ = false;
    return *(frame_ = &batch_.begin(receiver_.descriptor(), max_segments));
  }
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override {
    by_bulk_ = true;
    return bulk_.begin(to, max_segments);
  }
  void frame_commit() override;
  void flush() override {
    bulk_.flush();  // first: another frame may announce what went by the bulk path
    batch_.flush(receiver_.descriptor());
  }

  void marks_forgo() override {
    receiver_.marks_forgo();
    bulk_.marks_forgo();
  }

  std::size_t receive(FrameHandler& handler, std::size_t budget) override {
    return receiver_.receive(handler, budget);
  }
  bool pending() override { return receiver_.pending(); }
  int descriptor() const override { return receiver_.descriptor(); }
  const LinkCounters& counters() const override { return counters_; }

 private:
  std::uint16_t port_;  // of endpoint 0
  LinkCounters counters_;
  GsoBatch batch_{counters_};
  UdpReceiver receiver_;
  UdpInterface interface_;
  UdpBulkSocket bulk_;
  LinkWakeup wakeup_;
  wire::TxFrame* frame_ = nullptr;  // the frame under way
  bool by_bulk_ = false;
};

void UdpLink::frame_commit() {
  if (by_bulk_) return bulk_.commit();
  assert(frame_);
  const wire::Frame header{frame_->header, frame_->header_length};
  const int endpoint = wire::destination_endpoint(header);
  const auto ip = receiver_.routes().to(mac_load(frame_->header));
  if (endpoint < 0 || !ip) {  // the frame is for a whole board, or an Ethernet or other family's NIC
    counters_.send_errors++;
    return;
  }
  wire::BulkAddress to;
  to.ip = *ip;
  to.port = static_cast<std::uint16_t>(port_ + endpoint);
  batch_.commit(receiver_.descriptor(), to, interface_.index());
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

Result<std::unique_ptr<Transport>> udp_link_open(const UdpLinkOptions& options) {
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
  const std::uint16_t port = options.own_port();
  OwnFd fd = udp_socket_open(*address, port);
  if (!fd.open()) return tl::unexpected(bind_failure(options, port, errno));
  return std::unique_ptr<Transport>(std::make_unique<UdpLink>(std::move(fd), options, state, *address));
}

}  // namespace omx::link

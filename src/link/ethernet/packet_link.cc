// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/packet_link.h"

#include <net/if.h>
#include <net/if_arp.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/own_fd.h"
#include "base/text.h"
#include "link/ethernet/data_socket.h"
#include "link/ethernet/frame_ring.h"
#include "link/ethernet/packet_bulk_path.h"
#include "link/ethernet/packet_interface.h"
#include "link/ethernet/wakeup_socket.h"
#include "link/fanout/fanout_meeting.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_socket.h"
#include "link/packet/tx_batch.h"
#include "link/udp/udp_bulk_socket.h"
#include "netdev/interface_state.h"
#include "netdev/interfaces.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"

namespace omx::link {

namespace {

class PacketLink final : public Transport {
 public:
  PacketLink(OwnFd fd, OwnFd licence, const PacketLinkOptions& options, const InterfaceState& state)
      : Transport("raw frames", interface_, {&bulk_, nullptr, &wakeup_, &ring_, nullptr}),
        socket_(std::move(fd), std::move(licence), options, state),
        batch_(options.batch, options.zerocopy, !options.granted, counters_),
        udp_bulk_(UdpBulkSocket::Beside::raw_frames, options.zerocopy, counters_) {}

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    by_bulk_ = false;
    return batch_.begin(socket_.descriptor(), max_segments);
  }
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override {
    by_bulk_ = true;
    return udp_bulk_.begin(to, max_segments);
  }
  void frame_commit() override {
    if (by_bulk_)
      udp_bulk_.commit();
    else
      batch_.commit();
  }
  void flush() override {
    udp_bulk_.flush();  // first: a frame of the link may announce what went by the bulk path
    batch_.flush(socket_.descriptor());
  }

  void send_now(const std::byte* bytes, std::size_t length) override {
    udp_bulk_.flush();
    if (!batch_.send_now(socket_.descriptor(), bytes, length)) Transport::send_now(bytes, length);
  }

  void marks_forgo() override { udp_bulk_.marks_forgo(); }

  std::size_t receive(FrameHandler& handler, std::size_t budget) override {
    return ring_.receive(handler, budget);
  }
  bool pending() override { return ring_.pending(); }
  int descriptor() const override { return socket_.descriptor(); }
  const LinkCounters& counters() const override { return counters_; }
  void hear_closed(const std::vector<std::uint8_t>& others) override {
    if (socket_.granted()) return;  // the process that made the sockets refuses such senders
    socket_.others_set(others);
    // If the filter cannot be attached, senders to closed endpoints get no refusal, as with other links.
    socket_.filter_attach(bulk_.rest());
  }

  FrameRing& ring_data() { return ring_; }
  int granted_enter(DataSocket::Fresh data) {
    socket_.own_set(std::move(data));
    return ring_.map();
  }
  void bulk_open() {
    const PacketLinkOptions& options = socket_.options();
    if (!options.udp || options.all_frames) return;
    const InterfaceState& state = socket_.state();
    // The state of a granted socket's interface may be that of another network namespace.
    const std::uint32_t index = options.granted ? ::if_nametoindex(options.interface.c_str()) : state.index;
    if (udp_bulk_.open(interface_address(options.interface, index), state.mtu, 0))
      facets_set({&bulk_, &udp_bulk_, &wakeup_, &ring_, nullptr});
  }

 private:
  LinkCounters counters_;
  DataSocket socket_;
  WakeupSocket wakeup_{socket_};
  FrameRing ring_{socket_, wakeup_, counters_};
  TxBatch batch_;
  PacketBulkPath bulk_{socket_, counters_};
  UdpBulkSocket udp_bulk_;
  PacketInterface interface_{socket_, wakeup_, ring_, bulk_, counters_};
  bool by_bulk_ = false;  // the frame under way goes by the UDP bulk path
};

Failure socket_failure(const std::string& interface, int error) {
  if (error == EPERM || error == EACCES) {
    return {
        kNoPermission,
        fmt::format("opening a packet socket on {} needs CAP_NET_RAW: run as root, or give the program the "
                    "capability (setcap cap_net_raw+ep PROGRAM), or the container (docker run "
                    "--cap-add NET_RAW), or start the broker (systemctl start omxd.socket)",
                    interface)};
  }
  if (error == EAFNOSUPPORT) {
    return {kFailure, "this kernel has no packet sockets: it needs CONFIG_PACKET (modprobe af_packet)"};
  }
  return open_failure("a packet socket on " + interface, error);
}

Failure no_interface_failure(const std::string& interface) {
  return {kBoardUnknown, fmt::format("no interface {}; there are: {}", shown(interface),
                                     interfaces_named(interfaces_list()))};
}

// Opens a link by a member of a packet fanout group. Returns nullptr when there is none.
std::unique_ptr<PacketLink> shared_open(int probe, const PacketLinkOptions& options,
                                        const InterfaceState& state) {
  if (!state.up) return nullptr;  // no socket can join now, and a member would be spoilt
  MemberWish wish;
  wish.geometry = ring_geometry(state.mtu, options.ring_frames, options.ring_bytes);
  wish.ready = [](int fd) {
    send_buffer_set(fd, kSocketBuffer);
    receive_buffer_set(fd, kSocketBuffer);
    return 0;
  };
  FanoutMember member = fanout_member_take(state.index, probe, wish);
  if (!member.held()) return nullptr;
  auto link = std::make_unique<PacketLink>(OwnFd(), OwnFd(), options, state);
  if (!link->ring_data().member_enter(std::move(member))) return nullptr;
  link->bulk_open();
  link->interface().refresh();
  return link;
}

Result<std::unique_ptr<Transport>> granted_open(const PacketLinkOptions& options) {
  const std::string& name = options.interface;
  auto data = options.granted->data();
  if (!data) return tl::unexpected(data.error());
  InterfaceState state;
  if (const int error = interface_state_by_name(data->socket.get(), name, state))
    return tl::unexpected(state_failure(name, error));
  warn_if_down(name, state.up && state.running);
  auto link = std::make_unique<PacketLink>(OwnFd(), OwnFd(), options, state);
  if (const int error = link->granted_enter({std::move(data->socket), data->ring}))
    return fail(kNoResources, fmt::format("{}: cannot map the granted receive ring: {}; raise the limit of "
                                          "memory (ulimit -v)",
                                          name, std::strerror(error)));
  link->bulk_open();
  link->interface().refresh();
  return std::unique_ptr<Transport>(std::move(link));
}

}  // namespace

Result<std::unique_ptr<Transport>> packet_link_open(const PacketLinkOptions& options) {
  if (options.granted) return granted_open(options);
  const std::string& name = options.interface;
  OwnFd fd = packet_socket_new();
  if (fd.get() < 0) return tl::unexpected(socket_failure(name, errno));

  InterfaceState state;
  int error = interface_state_by_name(fd.get(), name, state);
  if (error == ENODEV || error == ENXIO) return tl::unexpected(no_interface_failure(name));
  if (error) return tl::unexpected(state_failure(name, error));
  if (state.hardware_type != ARPHRD_ETHER && state.hardware_type != ARPHRD_LOOPBACK) {
    return fail(kBoardUnknown,
                fmt::format("{} is not an Ethernet interface (hardware type {}): choose another with "
                            "OMX_INTERFACES",
                            name, state.hardware_type));
  }
  warn_if_down(name, state.up);

  const bool shares = options.own_sockets < kAllHooks && !options.all_frames;
  OwnFd licence = shares ? hook_licence(state.index, options.own_sockets) : OwnFd();
  if (shares && !licence.open()) {
    if (auto link = shared_open(fd.get(), options, state)) return std::unique_ptr<Transport>(std::move(link));
    log(LogLevel::info, "{} endpoint {}: no place among the sockets of others; takes a hook of its own", name,
        options.endpoint);
  }

  error = DataSocket::ready(fd.get(), packet_filter_build({options.endpoint, state.index,
                                                           options.board_frames, options.all_frames}));
  if (error)
    return fail(kNoResources, fmt::format("{}: cannot make a packet socket ready (filter, TPACKET_V2): {}",
                                          name, std::strerror(error)));

  const int raw = fd.get();
  auto link = std::make_unique<PacketLink>(std::move(fd), std::move(licence), options, state);
  error = link->ring_data().map();
  if (error) {
    return fail(kNoResources,
                fmt::format("{}: no memory for a receive ring of {} frames: {}; lower OMX_RING_FRAMES "
                            "or close other endpoints",
                            name, kRingMinSlots, std::strerror(error)));
  }
  error = packet_socket_bind(raw, state.index);
  if (error) return fail(kFailure, fmt::format("cannot bind to {}: {}", name, std::strerror(error)));
  link->bulk_open();
  link->interface().refresh();  // clears the error that a bind to an interface that is down leaves behind
  return std::unique_ptr<Transport>(std::move(link));
}

}  // namespace omx::link

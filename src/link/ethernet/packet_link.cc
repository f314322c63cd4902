// SPDX-License-Identifier: BSD-3-Clause
// Frames through AF_PACKET: the link that works on every Linux with any Ethernet interface.
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/own_fd.h"
#include "base/text.h"
#include "link/ethernet/bell.h"
#include "link/ethernet/bulk_lane.h"
#include "link/fanout/hook_group.h"
#include "link/link.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_ring.h"
#include "link/packet/packet_socket.h"
#include "link/packet/tx_batch.h"
#include "link/udp/udp_lane.h"
#include "netdev/interface_state.h"
#include "netdev/interfaces.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "wire/packets.h"

namespace omx::link {

namespace {

class PacketLink final : public Link {
 public:
  PacketLink(OwnFd fd, OwnFd licence, const PacketLinkOptions& options, const InterfaceState& state)
      : options_(options),
        state_(state),
        known_(state.nic),
        licence_(std::move(licence)),
        fd_(std::move(fd)),
        batch_(options.batch, counters_) {}
  ~PacketLink() override {
    if (place_.held()) place_leave();
  }

  // Instead of a socket of its own. False: it does not work; not held any more.
  bool place_enter(HookPlace place);

  int map_ring() {
    // A smaller ring is better than none: memory in large pieces may be scarce.
    int error = ENOMEM;
    for (std::uint32_t slots = options_.ring_frames; error == ENOMEM; slots /= 2) {
      error = ring_.map(fd(), ring_geometry(state_.mtu, slots, options_.ring_bytes));
      if (slots <= kRingMinSlots) break;
    }
    return error;
  }

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    by_lane_ = false;
    return batch_.begin(fd(), max_segments);
  }
  wire::TxFrame& lane_begin(const wire::LaneAddress& to, std::uint32_t max_segments) override {
    by_lane_ = true;
    return lane_.begin(to, max_segments);
  }
  void frame_commit() override {
    if (by_lane_)
      lane_.commit();
    else
      batch_.commit();
  }
  void flush() override {
    lane_.flush();  // first: a frame of the link may announce what went by the lane
    batch_.flush(fd());
  }

  std::size_t receive(FrameHandler& handler, std::size_t budget) override;
  bool has_ring() const override { return true; }
  bool may_hold() override {
    wants_hold_ = true;
    return holds_ = ring_.mapped() && ring_.hold_prepare();
  }
  std::uint32_t frames_held() const override { return ring_.held(); }
  std::uint32_t frames_room() const override { return holds_ ? ring_.geometry().slots() : 0; }
  void frames_give_back(std::uint64_t ticket) override { ring_.give_back_up_to(ticket); }
  void frames_abandon() override;
  bool bulk_expect() override;
  bool bulk_forgo() override;
  void bulk_close() override;
  std::size_t bulk_receive(BulkHandler& handler, std::size_t budget) override {
    return bulk_.is_open() ? bulk_.receive(handler, budget, counters_) : 0;
  }
  std::size_t lane_receive(BulkHandler& handler, std::size_t budget) override {
    return lane_.receive(handler, budget);
  }
  void lane_open() {
    if (options_.udp && !options_.all_frames)
      lane_.open(interface_address(options_.interface, state_.index), state_.mtu, 0);
  }
  LaneInfo lane() const override {
    LaneInfo info = lane_.info();
    info.fragments = true;
    return info;
  }
  int lane_descriptor() const override { return lane_.descriptor(); }
  int bulk_descriptor() const override { return bulk_.descriptor(); }
  bool bell_open() override {
    return place_.held() ? bell_.open_shared(place_, options_.endpoint)
                         : bell_.open(state_.index, options_.endpoint, options_.board_frames);
  }
  int bell_descriptor() const override { return bell_.descriptor(); }
  void bell_clear() override { bell_.clear(); }
  bool pending() override { return ring_.mapped() && ring_.front(); }
  int descriptor() const override { return fd(); }
  void hear_closed(const std::vector<std::uint8_t>& others) override {
    others_ = others;
    // Else they are not told: as with a link that cannot.
    filter_attach(bulk_takes_ ? Lane::eager : Lane::all);
  }
  NicId nic() const override { return state_.nic; }
  std::uint32_t mtu() const override { return state_.mtu; }
  bool refresh() override;
  Outage outage() const override { return outage_; }
  InterfaceState interface_now() const override { return now_; }
  int follow() override;
  const LinkCounters& counters() const override { return counters_; }

 private:
  int fd() const { return place_.held() ? place_.socket() : fd_.get(); }
  bool misdirected(wire::Frame frame) const;
  bool group_wrong();
  int own_hook();
  void place_leave() {
    ring_.forget();
    bell_.close();
    place_.leave();
  }
  void ring_fit();
  void ring_renew(bool tell);
  bool bulk_admit();
  FilterProgram filter(Lane lane, bool shared) const;
  int filter_attach(Lane lane);

  PacketLinkOptions options_;
  InterfaceState state_;  // that of the interface that the sockets are bound to
  NicId known_;           // as peers know it, whatever the interface has now
  Outage outage_ = Outage::none;
  InterfaceState now_;  // what has its name, if it is gone
  LinkCounters counters_;
  OwnFd licence_;  // for a hook of our own
  OwnFd fd_;
  HookPlace place_;  // held: its socket is used instead
  std::uint64_t misdirected_seen_ = 0;
  unsigned wrong_looks_ = 0;
  PacketRing ring_;
  TxBatch batch_;
  BulkLane bulk_;
  UdpLane lane_{counters_};
  bool by_lane_ = false;  // the frame that is being made
  bool bulk_refused_ = false;
  bool bulk_takes_ = false;                          // the pull replies; else the ring
  std::optional<std::vector<std::uint8_t>> others_;  // see hear_closed()
  bool wants_hold_ = false;
  bool holds_ = false;  // copies may read frames after receive()
  Bell bell_;
};

// Makes a new socket that of an endpoint, without a ring. Returns 0 or errno.
int data_socket_ready(int fd, const FilterProgram& filter) {
  // PACKET_QDISC_BYPASS saved 20 of 1,250 ns on veth. It is not used: with it, frames pass by traffic shaping
  // and are dropped, not queued, when the driver's ring is full.
  send_buffer_set(fd, kSocketBuffer);
  receive_buffer_set(fd, kSocketBuffer);
  const int error = packet_filter_attach(fd, filter);
  return error ? error : PacketRing::prepare(fd);
}

// A group's program knows our frames; our filter lets others' pass, so that we see when it is wrong. Requests
// to connect may be the board's.
bool PacketLink::misdirected(wire::Frame frame) const {
  constexpr std::size_t kEnough = 32, kTypeAt = 16;
  if (frame.size() < kEnough || frame[kTypeAt] == static_cast<std::byte>(wire::PacketType::connect))
    return false;
  const int endpoint = wire::destination_endpoint(frame);
  return endpoint >= 0 && endpoint != options_.endpoint;
}

std::size_t PacketLink::receive(FrameHandler& handler, std::size_t budget) {
  if (!ring_.mapped()) return 0;
  const bool shared = place_.held();
  std::size_t frames = 0;
  for (std::size_t slot = 0; slot < budget; slot++) {
    const tpacket2_hdr* header = ring_.front();
    if (!header) break;
    ring_.prefetch_next();
    const auto [frame, length] = ring_.seen(header);
    if (shared && misdirected(frame)) [[unlikely]] {
      counters_.frames_misdirected++;
    } else if (frame.size() == length && length > 0) {
      counters_.bytes_received += length;
      frames++;
      handler.on_frame(frame);
      if (const std::uint64_t ticket = holds_ ? handler.frame_held() : 0) {
        ring_.hold(ticket);
        continue;
      }
    } else {
      // Cut to the slot: the MTU grew, and refresh() has not seen it yet. Or nothing that the kernel wrote.
      counters_.frames_ignored++;
    }
    ring_.advance();
  }
  if (frames > 0) {
    counters_.frames_received += frames;
    counters_.receive_batches++;
  }
  return frames;
}

bool PacketLink::bulk_expect() {
  if (bulk_takes_ || bulk_refused_ || place_.held()) return bulk_takes_;
  bulk_refused_ = !bulk_admit();
  return bulk_takes_;
}

bool PacketLink::bulk_admit() {
  if (options_.all_frames || !options_.bulk) return false;
  if (bulk_.is_open() ? !bulk_.admit(true) : !bulk_.open(state_.index, options_.endpoint, state_.mtu))
    return false;
  // Both sockets take pull replies until this; the engine drops what comes twice.
  bulk_takes_ = filter_attach(Lane::eager) == 0;
  if (!bulk_takes_) bulk_.admit(false);
  return bulk_takes_;
}

bool PacketLink::bulk_forgo() {
  if (!bulk_takes_) return true;
  if (filter_attach(Lane::all) != 0) return false;  // one of the two must take them
  bulk_takes_ = false;
  bulk_.admit(false);  // else they come twice until it is closed
  return true;
}

void PacketLink::bulk_close() {
  if (bulk_takes_) return;
  bulk_.close();
  bulk_refused_ = false;
}

FilterProgram PacketLink::filter(Lane lane, bool shared) const {
  FilterRule rule;
  rule.endpoint = options_.endpoint;
  rule.ifindex = state_.index;
  rule.board_frames = options_.board_frames;
  rule.lane = lane;
  rule.closed_ones = others_.has_value() || shared;
  if (others_ && !shared) rule.others = *others_;
  return packet_filter_build(rule);
}

int PacketLink::filter_attach(Lane lane) {
  return packet_filter_attach(fd(), filter(lane, place_.held()));
}

bool PacketLink::place_enter(HookPlace place) {
  place_ = std::move(place);
  const RingGeometry geometry = place_.geometry();
  const auto ring_enter = [&] {
    return place_.used() ? ring_.adopt(fd(), geometry) : ring_.attach(fd(), geometry);
  };
  const bool whole = geometry.serves(ring_geometry(state_.mtu, options_.ring_frames, options_.ring_bytes)) &&
                     ring_enter() == 0;
  if (whole) {
    tpacket_stats former{};
    socklen_t length = sizeof former;
    ::getsockopt(fd(), SOL_PACKET, PACKET_STATISTICS, &former, &length);
    if (filter_attach(Lane::all) == 0 && place_.enter(options_.endpoint)) return true;
  }
  place_leave();
  return false;
}

// Whether to leave the group: frames of others that come for some seconds show that its program does not fit
// the order of its members, and that nobody mends it.
bool PacketLink::group_wrong() {
  constexpr unsigned kLooks = 3;
  if (!place_.held()) return false;
  wrong_looks_ = counters_.frames_misdirected == misdirected_seen_ ? 0 : wrong_looks_ + 1;
  misdirected_seen_ = counters_.frames_misdirected;
  if (wrong_looks_ >= kLooks) place_.group().give_up();
  return place_.group().broken();
}

// From a group to a socket of its own, whose ring is made next: the ring of a member must never change.
int PacketLink::own_hook() {
  if (!place_.held()) return 0;
  OwnFd fresh = packet_socket_new();
  if (!fresh.open()) return errno;
  // All that may fail comes first: a member that stays tries again.
  if (const int error = data_socket_ready(fresh.get(), filter(Lane::all, false))) return error;
  if (const int error = packet_socket_bind(fresh.get(), state_.index)) return error;
  place_leave();
  fd_ = std::move(fresh);
  return 0;
}

// Unmapped, it cannot be reached by a device that comes late.
void PacketLink::frames_abandon() {
  ring_renew(true);
}

// Larger frames need larger slots. Frames that wait in the old ring are lost; the protocol recovers.
void PacketLink::ring_fit() {
  const RingGeometry wanted = ring_geometry(state_.mtu, options_.ring_frames, options_.ring_bytes);
  if (ring_.mapped() && wanted.slot_bytes <= ring_.geometry().slot_bytes) return;
  ring_renew(ring_.mapped());
}

void PacketLink::ring_renew(bool tell) {
  int error = own_hook();
  if (!error) error = ring_.release(fd());
  if (!error) error = map_ring();
  holds_ = wants_hold_ && !error && ring_.hold_prepare();
  if (error && tell) {
    log(LogLevel::error,
        "{}: no memory for a receive ring for MTU {}: {}; nothing is received until it can be had: lower "
        "OMX_RING_FRAMES, or close other endpoints",
        options_.interface, state_.mtu, std::strerror(error));
  }
}

bool PacketLink::refresh() {
  tpacket_stats statistics{};
  socklen_t length = sizeof statistics;
  // Reading sets them to zero.
  if (::getsockopt(fd(), SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0) {
    counters_.ring_drops += statistics.tp_drops;
  }
  for (const int fd : {fd(), bulk_.descriptor(), bell_.descriptor()}) packet_socket_clear_error(fd);

  now_ = state_;
  // The kernel unbinds the sockets of an interface that is removed. It may come back under the same index, as
  // from a container's network, or another interface may get the index.
  const bool removed = !packet_socket_bound(fd(), state_.index);
  outage_ = interface_look(fd(), options_.interface, state_.index, removed, known_, now_);
  if (is_lost(outage_)) {
    state_.up = state_.running = false;
    return false;
  }
  state_ = now_;
  if (group_wrong())
    ring_renew(true);
  else
    ring_fit();
  if (!bulk_.fit(state_.mtu) && bulk_forgo()) bulk_refused_ = true;
  return state_.up && state_.running && ring_.mapped();
}

// All that may fail comes first: a link that stays as it is may try again.
int PacketLink::follow() {
  if (outage_ != Outage::returned) return EINVAL;
  OwnFd fresh = packet_socket_new();
  if (!fresh.open()) return errno;
  const InterfaceState former = std::exchange(state_, now_);  // the filter names the index
  int error = data_socket_ready(fresh.get(), filter(Lane::all, false));
  if (!error) error = packet_socket_bind(fresh.get(), state_.index);
  if (error) {
    state_ = former;
    return error;
  }
  if (place_.held()) place_leave();
  bell_.close();
  bulk_.close();
  bulk_takes_ = bulk_refused_ = false;
  ring_.forget();
  fd_ = std::move(fresh);
  outage_ = Outage::none;
  // Beyond the number of hooks that endpoints of an interface have, if others took them meanwhile.
  licence_ = HookGroup::licence(state_.index, options_.own_hooks);
  ring_renew(true);
  return 0;
}

Failure socket_failure(const std::string& interface, int error) {
  if (error == EPERM || error == EACCES) {
    return {
        kNoPermission,
        fmt::format("opening a packet socket on {} needs CAP_NET_RAW: run as root, or give the program the "
                    "capability (setcap cap_net_raw+ep PROGRAM), or the container (docker run "
                    "--cap-add NET_RAW)",
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

// By a place in a group; nullptr when there is none.
std::unique_ptr<PacketLink> shared_open(int witness, const PacketLinkOptions& options,
                                        const InterfaceState& state) {
  if (!state.up) return nullptr;  // nobody can join now, and a place would be spoilt
  HookWish wish;
  wish.geometry = ring_geometry(state.mtu, options.ring_frames, options.ring_bytes);
  wish.ready = [](int fd) {
    send_buffer_set(fd, kSocketBuffer);
    receive_buffer_set(fd, kSocketBuffer);
    return 0;
  };
  HookPlace place = HookGroup::take(state.index, witness, wish);
  if (!place.held()) return nullptr;
  auto link = std::make_unique<PacketLink>(OwnFd(), OwnFd(), options, state);
  if (!link->place_enter(std::move(place))) return nullptr;
  link->lane_open();
  link->refresh();
  return link;
}

}  // namespace

int packet_links_possible() {
  return packet_socket_new().open() ? 0 : errno;
}

Result<std::unique_ptr<Link>> packet_link_open(const PacketLinkOptions& options) {
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

  const bool shares = options.own_hooks < kAllHooks && !options.all_frames;
  OwnFd licence = shares ? HookGroup::licence(state.index, options.own_hooks) : OwnFd();
  if (shares && !licence.open()) {
    if (auto link = shared_open(fd.get(), options, state)) return std::unique_ptr<Link>(std::move(link));
    log(LogLevel::info, "{} endpoint {}: no place among the sockets of others; takes a hook of its own", name,
        options.endpoint);
  }

  error = data_socket_ready(fd.get(), packet_filter_build({options.endpoint, state.index,
                                                           options.board_frames, options.all_frames}));
  if (error)
    return fail(kNoResources, fmt::format("{}: cannot make a packet socket ready (filter, TPACKET_V2): {}",
                                          name, std::strerror(error)));

  const int raw = fd.get();
  auto link = std::make_unique<PacketLink>(std::move(fd), std::move(licence), options, state);
  error = link->map_ring();
  if (error) {
    return fail(kNoResources,
                fmt::format("{}: no memory for a receive ring of {} frames: {}; lower OMX_RING_FRAMES "
                            "or close other endpoints",
                            name, kRingMinSlots, std::strerror(error)));
  }
  error = packet_socket_bind(raw, state.index);
  if (error) return fail(kFailure, fmt::format("cannot bind to {}: {}", name, std::strerror(error)));
  link->lane_open();
  link->refresh();  // clears the error that a bind to an interface that is down leaves behind
  return std::unique_ptr<Link>(std::move(link));
}

}  // namespace omx::link

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/served_board.h"

#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/netlink.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/egress_program.h"
#include "tools/broker/kernel/kernel_failure.h"
#include "tools/broker/kernel/sealed_socket.h"

namespace omx::broker {

namespace {

// Reads the state of an interface in a network. Returns 0 or errno.
int state_in(const PrivateNetwork& network, const std::string& name, link::InterfaceState& state) {
  int error = 0;
  const int entered = run_in(network, [&] {
    const OwnFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    error = any.open() ? link::interface_state_by_name(any.get(), name, state) : errno;
  });
  return entered ? entered : error;
}

// Asks the kernel for all packet sockets of the calling thread's network.
int packet_sockets_list(std::vector<std::uint64_t>& cookies) {
  Netlink kernel(NETLINK_SOCK_DIAG);
  packet_diag_req request{};
  request.sdiag_family = AF_PACKET;
  return kernel.dump({SOCK_DIAG_BY_FAMILY, request}, [&](const NetlinkMessage& message) {
    NetlinkBytes body = message.body;
    const auto socket = netlink_head_take<packet_diag_msg>(body);
    if (socket) cookies.push_back(std::uint64_t{socket->pdiag_cookie[1]} << 32 | socket->pdiag_cookie[0]);
  });
}

}  // namespace

Result<std::unique_ptr<ServedBoard>> ServedBoard::open(Plan plan, const Shared& shared) {
  const std::string path = shared.networks + "/" + plan.choice.interface.name;
  auto network = plan.mode == Mode::trusted ? PrivateNetwork::own() : PrivateNetwork::open(path);
  if (!network && plan.mode == Mode::confined) network = PrivateNetwork::make_at(path);
  if (!network) return tl::unexpected(network.error());
  std::unique_ptr<ServedBoard> board(new ServedBoard(std::move(plan), shared, std::move(*network)));
  if (auto done = board->set_up(); !done) {
    board->remove();
    return tl::unexpected(done.error());
  }
  return board;
}

MacvlanOptions ServedBoard::macvlan_options() const {
  const link::Interface& nic = plan_.choice.interface;
  const NicId address = plan_.passthru ? nic.nic : board_mac(nic.nic);
  return {nic.name, nic.index, address, nic.mtu, plan_.passthru ? MacvlanMode::whole : MacvlanMode::apart};
}

Result<void> ServedBoard::set_up() {
  if (plan_.mode == Mode::confined) {
    const auto macvlan = macvlan_adopt(network_, macvlan_options());
    if (!macvlan) return tl::unexpected(macvlan.error());
  }
  other_mode_remove();
  if (const int error = state_in(network_, name(), state_))
    return tl::unexpected(kernel_failure("read the state of " + name(), error));
  nic_ = state_.nic;
  if (auto done = hook_set(); !done) return done;
  return voice_open();
}

// Removes what a broker left that served the board in the other mode.
void ServedBoard::other_mode_remove() const {
  if (plan_.mode == Mode::confined) {
    if (auto done = egress_hook_remove(nic_index()); !done) log(LogLevel::warn, "{}", done.error().message);
    return;
  }
  auto former = PrivateNetwork::open(shared_.networks + "/" + name());
  if (!former) return;
  if (auto done = macvlan_remove(*former, name()); !done) log(LogLevel::warn, "{}", done.error().message);
  if (auto done = former->remove(); !done) log(LogLevel::warn, "{}", done.error().message);
}

// Puts the egress program where all frames of the board's sockets pass. On the NIC itself the frames of the
// host pass, too.
Result<void> ServedBoard::hook_set() const {
  const auto program =
      egress_program_load(shared_.maps, plan_.mode == Mode::confined ? Unmarked::drop : Unmarked::pass);
  if (!program) return tl::unexpected(program.error());
  Result<void> done;
  if (const int error = run_in(network_, [&] { done = egress_hook_add(state_.index, program->get()); }))
    return tl::unexpected(kernel_failure("enter the network of " + name(), error));
  return done;
}

Result<void> ServedBoard::voice_open() {
  voice_.reset();
  runtime::Board board;
  board.number = plan_.number;
  board.interface = plan_.choice.interface;
  board.interface.nic = nic_;
  board.interface.index = state_.index;
  board.mac = nic_;
  board.mtu = state_.mtu;
  board.hostname = plan_.hostname;
  Result<std::unique_ptr<BoardVoice>> voice;
  if (const int error = run_in(network_, [&] { voice = BoardVoice::open(board, plan_.ears); }))
    return tl::unexpected(kernel_failure("enter the network of " + name(), error));
  if (!voice) return tl::unexpected(voice.error());
  voice_ = std::move(*voice);
  return {};
}

// Gives a socket its receive program, binds it and seals it.
Result<void> ServedBoard::seal(int socket, const SocketPlace& place, std::size_t word) const {
  ReceiveRule rule;
  rule.slot = place.slot;
  rule.cookie = place.cookie;
  rule.ifindex = state_.index;
  rule.word = word;
  const auto program = receive_program_load(shared_.maps, place.classes, rule);
  if (!program) return tl::unexpected(program.error());
  if (auto locked = packet_socket_lock(socket, program->get()); !locked) return locked;
  return packet_socket_seal(socket, state_.index, place.slot);
}

Result<ServedBoard::DataSocket> ServedBoard::data_make(SocketPlace place, const link::RingGeometry& ring) {
  if (absent_) return fail(link::kNoDevice, name() + " is gone; its endpoints can be opened when it is back");
  auto classes = classes_make();
  if (!classes) return tl::unexpected(classes.error());
  auto socket = rings_.take(ring);
  if (!socket) return tl::unexpected(socket.error());
  const auto cookie = socket_cookie(socket->get());
  if (!cookie) return tl::unexpected(cookie.error());
  place.cookie = *cookie;
  place.classes = classes->get();
  if (auto sealed = seal(socket->get(), place, offsetof(Classes, data)); !sealed)
    return tl::unexpected(sealed.error());
  return DataSocket{std::move(*socket), std::move(*classes), *cookie};
}

Result<OwnFd> ServedBoard::beside_make(const SocketPlace& place, SocketKind kind) const {
  if (absent_) return fail(link::kNoDevice, name() + " is gone");
  const bool bulk = kind == SocketKind::bulk;
  SocketMemory memory;
  // One frame in the wake-up socket wakes as well as many.
  memory.receive_buffer = bulk ? link::kBulkBuffer : 1;
  auto socket = packet_socket_open(network_, memory);
  if (!socket) return tl::unexpected(socket.error());
  const std::size_t word = bulk ? offsetof(Classes, bulk) : offsetof(Classes, wakeup);
  if (auto sealed = seal(socket->get(), place, word); !sealed) return tl::unexpected(sealed.error());
  return socket;
}

Result<std::vector<std::uint64_t>> ServedBoard::sockets_living() const {
  std::vector<std::uint64_t> cookies;
  int error = 0;
  if (const int entered = run_in(network_, [&] { error = packet_sockets_list(cookies); })) error = entered;
  if (error) return tl::unexpected(kernel_failure("list packet sockets (CONFIG_PACKET_DIAG)", error));
  return cookies;
}

bool ServedBoard::refresh() {
  link::InterfaceState nic;
  const OwnFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool there = any.open() && link::interface_state_by_name(any.get(), name(), nic) == 0 &&
                     nic.nic == plan_.choice.interface.nic;
  if (!there) {
    if (!std::exchange(absent_, true)) log(LogLevel::warn, "{} is gone; its sockets are silent", name());
    voice_.reset();
    state_.up = state_.running = false;
    return false;
  }
  const bool returned = absent_ || nic.index != nic_index();
  const bool resized = nic.mtu != plan_.choice.interface.mtu;
  plan_.choice.interface.index = nic.index;
  plan_.choice.interface.mtu = nic.mtu;
  if (returned) {
    if (auto done = set_up(); !done) {
      log(LogLevel::error, "{}", done.error().message);
      absent_ = true;
      return false;
    }
    absent_ = false;
    log(LogLevel::summary, "{} is back", name());
  } else if (resized && plan_.mode == Mode::confined) {
    if (auto done = macvlan_set_mtu(network_, name(), nic.mtu); !done)
      log(LogLevel::error, "{}", done.error().message);
  }
  return state_in(network_, name(), state_) == 0;
}

void ServedBoard::remove() {
  voice_.reset();
  if (plan_.mode == Mode::confined) {
    if (auto done = macvlan_remove(network_, name()); !done) log(LogLevel::error, "{}", done.error().message);
    if (auto done = network_.remove(); !done) log(LogLevel::error, "{}", done.error().message);
    return;
  }
  if (auto done = egress_hook_remove(nic_index()); !done) log(LogLevel::error, "{}", done.error().message);
}

}  // namespace omx::broker

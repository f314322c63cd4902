// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/served_board.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/log.h"
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
  const int entered = run_in(network, [&] { error = link::interface_state_by_name(name, state); });
  return entered ? entered : error;
}

}  // namespace

Result<std::unique_ptr<ServedBoard>> ServedBoard::open(Plan plan, const Shared& shared) {
  const std::string path = shared.networks + "/" + plan.choice.interface.name;
  auto network = plan.mode == Mode::trusted ? PrivateNetwork::own() : PrivateNetwork::open(path);
  const bool makes = !network && plan.mode == Mode::confined;
  if (makes) network = PrivateNetwork::make_at(path);
  if (!network) return tl::unexpected(network.error());
  std::unique_ptr<ServedBoard> board(new ServedBoard(std::move(plan), shared, std::move(*network)));
  board->made_network_ = makes;
  if (auto done = board->set_up(); !done) {
    board->undo();
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
    const auto former = macvlan_find(network_, name());
    const auto macvlan = macvlan_adopt(network_, macvlan_options());
    made_macvlan_ = former && (!*former || (macvlan && (*former)->ifindex != macvlan->ifindex));
    if (!macvlan) return tl::unexpected(macvlan.error());
  }
  other_mode_remove();
  if (auto done = state_read(); !done) return done;
  nic_ = state_.nic;
  if (auto done = hooks_set(); !done) return done;
  if (plan_.mode == Mode::confined) {
    if (auto started = macvlan_start(network_, name()); !started) return tl::unexpected(started.error());
    if (auto done = state_read(); !done) return done;
  }
  return voice_open();
}

Result<void> ServedBoard::state_read() {
  if (const int error = state_in(network_, name(), state_))
    return tl::unexpected(kernel_failure("read the state of " + name(), error));
  return {};
}

// Removes what this process made of a board that could not be set up. What an earlier broker made stays,
// because jobs may use it.
void ServedBoard::undo() {
  voice_.reset();
  rings_.reset();
  if (plan_.mode != Mode::confined) return;  // a program at the NIC does no harm
  if (made_macvlan_) {
    if (auto done = macvlan_remove(network_, name()); !done) log(LogLevel::warn, "{}", done.error().message);
    nic_hook_remove();
  }
  if (made_network_)
    if (auto done = network_.remove(); !done) log(LogLevel::warn, "{}", done.error().message);
}

// Removes the program from the NIC. While sealed sockets of trusted mode may be open it stays, because they
// could send any frames without it.
void ServedBoard::nic_hook_remove() const {
  const auto hook = egress_hook_find(nic_index());
  if (!hook || hook->program_id == 0) return;
  if (trusted_noted(shared_.maps) && sealed_sockets_live()) {
    log(LogLevel::summary, "the program stays at {}, because sockets of its trusted mode may be open",
        name());
    return;
  }
  if (auto done = egress_hook_remove(nic_index()); !done) log(LogLevel::warn, "{}", done.error().message);
}

// Removes what a broker left that served the board in the other mode.
void ServedBoard::other_mode_remove() const {
  if (plan_.mode == Mode::confined) return;  // the program of trusted mode is needed in this one, too
  auto former = PrivateNetwork::open(shared_.networks + "/" + name());
  if (!former) return;
  if (auto done = macvlan_remove(*former, name()); !done) log(LogLevel::warn, "{}", done.error().message);
  if (auto done = former->remove(); !done) log(LogLevel::warn, "{}", done.error().message);
}

// Puts the egress program where all frames of the board's sockets pass. One at the macvlan cannot be removed
// by accident, but a socket can avoid it: system calls of 32-bit programs pass by the seal, and so can set
// PACKET_QDISC_BYPASS. At the NIC no frame passes by the program, and the frames of the host pass, too.
Result<void> ServedBoard::hooks_set() const {
  Result<void> done;
  const auto add = [&](std::uint32_t ifindex, Unmarked unmarked) {
    const auto program = egress_program_load(shared_.maps, unmarked);
    done = program ? egress_hook_add(ifindex, program->get()) : tl::unexpected(program.error());
  };
  if (plan_.mode == Mode::trusted)
    if (const int error = trusted_note(shared_.maps))
      return tl::unexpected(kernel_failure("note the trusted mode of " + name(), error));
  add(nic_index(), Unmarked::pass);
  if (!done || plan_.mode == Mode::trusted) return done;
  if (const int error = run_in(network_, [&] { add(state_.index, Unmarked::drop); }))
    return tl::unexpected(kernel_failure("enter the network of " + name(), error));
  return done;
}

void ServedBoard::hook_check() const {
  if (retired_ || !outage_.empty()) return;
  const auto hook = egress_hook_find(nic_index());
  if (!hook || hook->program_id != 0) return;
  const auto done = hooks_set();
  log(LogLevel::error,
      "the broker's egress program was removed from {}, so its users could send more than their own frames; "
      "{}",
      name(), done ? "it is there again" : done.error().message);
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

Result<ServedBoard::DataSocket> ServedBoard::data_make(SocketPlace place, const link::RingGeometry& ring,
                                                       OwnFd classes) {
  if (!outage_.empty()) return fail(link::kNoDevice, outage_);
  auto socket = rings_->take(ring);
  if (!socket) return tl::unexpected(socket.error());
  const auto cookie = socket_cookie(socket->get());
  if (!cookie) return tl::unexpected(cookie.error());
  place.cookie = *cookie;
  place.classes = classes.get();
  if (auto sealed = seal(socket->get(), place, offsetof(Classes, data)); !sealed)
    return tl::unexpected(sealed.error());
  return DataSocket{std::move(*socket), std::move(classes), *cookie};
}

Result<OwnFd> ServedBoard::beside_make(const SocketPlace& place, SocketKind kind) const {
  if (!outage_.empty()) return fail(link::kNoDevice, outage_);
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

Result<std::vector<PacketSocket>> ServedBoard::sockets() const {
  std::vector<PacketSocket> sockets;
  int error = 0;
  if (const int entered = run_in(network_, [&] { error = packet_sockets_list(sockets); })) error = entered;
  if (error) return tl::unexpected(kernel_failure("list packet sockets (CONFIG_PACKET_DIAG)", error));
  if (former_) {
    auto of_former = former_->sockets();
    if (!of_former) return of_former;
    sockets.insert(sockets.end(), of_former->begin(), of_former->end());
  }
  return sockets;
}

Result<std::vector<std::uint64_t>> ServedBoard::sockets_living() const {
  return sockets().map([](const std::vector<PacketSocket>& all) {
    std::vector<std::uint64_t> cookies;
    for (const PacketSocket& socket : all) cookies.push_back(socket.cookie);
    return cookies;
  });
}

void ServedBoard::succeed(std::unique_ptr<ServedBoard> former) {
  // Predecessors whose sockets are all closed are needed no more.
  while (former) {
    const auto living = former->sockets_living();
    if (!living || !living->empty()) break;
    former = std::move(former->former_);
  }
  former_ = std::move(former);
}

// Notes that no endpoint can be opened, and why. Returns false.
bool ServedBoard::out(std::string why) {
  if (outage_ != why) log(LogLevel::warn, "{}", why);
  outage_ = std::move(why);
  voice_.reset();
  state_.up = state_.running = false;
  return false;
}

bool ServedBoard::refresh() {
  link::Interface& known = plan_.choice.interface;
  link::InterfaceState nic;
  const bool there = link::interface_state_by_name(name(), nic) == 0;
  const bool moved = there && nic.nic != known.nic;  // to another address
  if (!there || (moved && nic.index != known.index))
    return out(name() + " is gone; its sockets are silent, and endpoints can be opened when it is back");
  if (moved && !has_own_address())
    return out(
        fmt::format("{} has the MAC address {} now, so its endpoints, which have the former one, are silent; "
                    "\"systemctl reload omxd\" ends them and serves the new one",
                    name(), mac_format(nic.nic)));
  if (moved) {
    log(LogLevel::summary, "{} has the MAC address {} now; its board keeps {} and works on", name(),
        mac_format(nic.nic), mac_format(nic_));
    known.nic = nic.nic;
  }
  const bool returned = !outage_.empty() || nic.index != known.index;
  const bool resized = nic.mtu != known.mtu;
  known.index = nic.index;
  known.mtu = nic.mtu;
  if (returned) {
    if (auto done = set_up(); !done) return out(done.error().message);
    outage_.clear();
    log(LogLevel::summary, "{} is back", name());
  } else if (resized && plan_.mode == Mode::confined) {
    if (auto done = macvlan_set_mtu(network_, name(), nic.mtu); !done)
      log(LogLevel::error, "{}", done.error().message);
  }
  return state_in(network_, name(), state_) == 0;
}

void ServedBoard::network_remove() {
  if (auto done = macvlan_remove(network_, name()); !done) log(LogLevel::error, "{}", done.error().message);
  // This object still knows the sockets in it.
  auto mounted = PrivateNetwork::open(network_.path());
  if (!mounted) return;
  if (auto done = mounted->remove(); !done) log(LogLevel::error, "{}", done.error().message);
}

void ServedBoard::retire() {
  remove();
  outage_ = name() + " is no board of the broker any more";
  retired_ = true;
}

void ServedBoard::remove() {
  voice_.reset();
  rings_.reset();
  if (plan_.mode == Mode::confined && !retired_) network_remove();
  nic_hook_remove();
}

}  // namespace omx::broker

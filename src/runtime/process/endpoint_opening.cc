// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/endpoint_opening.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/log.h"
#include "base/no_cancel.h"
#include "runtime/endpoint/endpoint_impl.h"
#include "runtime/endpoint/rail_choice.h"
#include "runtime/process/host_memory.h"
#include "wire/sizes.h"

namespace omx::runtime {

namespace {

constexpr int kMxFailure = 2;
constexpr int kMxBoardUnknown = 8;
constexpr int kMxBadEndpoint = 9;
constexpr int kMxNoResources = 15;
constexpr int kMxBusy = 20;
constexpr int kMxBadParamVal = 26;

// The MTU that the fixed sizes of mxoe mode need (docs/spec/wire.md 5), without the Ethernet header.
constexpr std::uint32_t kMxoeMtu = wire::kMxoeFrame - wire::kEthernetHeader;

Expected<std::uint32_t, int> session_draw() {
  std::uint32_t session = wire::kUnknownSession;
  while (session == wire::kUnknownSession) {
    if (::getrandom(&session, sizeof session, 0) != sizeof session && errno != EINTR)
      return tl::unexpected<int>(errno);
  }
  return session;
}

Failure on_board(const Board& board, Failure failure) {
  failure.message = fmt::format("board {} ({}): {}", board.number, board.interface.name, failure.message);
  return failure;
}

void warn_small_mtu(const Board& board, const Settings& settings, std::uint32_t mtu) {
  if (settings.protocol.mode != wire::Mode::mxoe || mtu >= kMxoeMtu) return;
  log(LogLevel::warn,
      "{}: MTU {} is less than the {} that native MX needs; from its hosts messages of more than about {} "
      "bytes will not arrive (ip link set dev {} mtu 9000, on all hosts and switches)",
      board.interface.name, mtu, kMxoeMtu, mtu - 34, board.interface.name);
}

}  // namespace

// Returns the configuration for the engine of an endpoint whose links are open.
protocol::Config EndpointOpening::config_of(Endpoint& endpoint, const OpenOptions& options) const {
  const Endpoint::Impl& impl = endpoint.impl();
  protocol::Config config = settings_.protocol;
  HostMemory& memory = HostMemory::of_process();
  config.share = &memory;
  if (config.buffer_grows) config.buffer_bytes = memory.endpoint_base();
  config.envelope_bytes = memory.quarter();
  config.nic = impl.core.link->interface().nic();
  config.mtu = impl.core.link->interface().mtu();
  impl.rails.fill(config);
  const link::Datagram* datagram = impl.core.link->datagram();
  const link::DatagramLimits limits = datagram ? datagram->limits() : link::DatagramLimits{};
  if (datagram) config.base_frame = limits.base_frame;
  const link::UdpBulkPath* bulk = impl.core.link->udp_bulk_path();
  const link::BulkInfo udp_bulk = bulk ? bulk->info() : link::BulkInfo{};
  config.bulk.address = udp_bulk.address;
  config.bulk.network_bits = udp_bulk.network_bits;
  config.bulk.window = udp_bulk.window;
  config.bulk.fragments = udp_bulk.fragments;
  config.bulk.gso_frames = settings_.gso_frames;
  config.bulk.at_nic = endpoint.board().udp;
  config.self_as_others = settings_.disable_self;
  if (!options.mx_order) config.reliability.defers_from = protocol::kDeferredLeast;
  if (::getrandom(&config.rail_secret, sizeof config.rail_secret, 0) != sizeof config.rail_secret)
    config.rails = {};
  if (::getrandom(&config.bulk.secret, sizeof config.bulk.secret, 0) != sizeof config.bulk.secret)
    config.bulk.address = {};
  // The socket of the UDP bulk path holds the unscheduled data of peers. Each frame is charged at about
  // twice its size.
  if (udp_bulk.fragments && udp_bulk.window > 0)
    config.eager_frames =
        std::min(config.eager_frames, std::max(udp_bulk.window / std::max(config.mtu, 1024U), 8U));
  if (const std::uint32_t window = limits.window) {
    config.pull_window_bytes = std::min(config.pull_window_bytes, window);
    // Each frame is charged at about twice its size.
    const std::uint32_t frames = std::max(window / (2 * std::max(config.mtu, 1024U)), 8U);
    config.eager_frames = std::min(config.eager_frames, frames);
  }
  config.endpoint = endpoint.id();
  config.key = options.key;
  config.session = endpoint.session();
  config.max_endpoints = settings_.endpoints_max;
  if (options.context_bits) {
    config.context_bits = options.context_bits;
    config.context_shift = options.context_shift;
  }
  return config;
}

Result<Endpoint*> EndpointOpening::open_claimed(const std::vector<Board>& boards, const Board& board,
                                                std::uint32_t id, Claim claim, const OpenOptions& options,
                                                std::vector<RailClaim> rails) {
  const auto slot = endpoints_.slot_find();
  if (!slot)
    return fail(kMxNoResources,
                fmt::format("this process has {} endpoints open, which is the limit", kSlots));
  const auto session = session_draw();
  if (!session)
    return fail(kMxFailure, fmt::format("no random session number: {}", std::strerror(session.error())));

  auto endpoint =
      std::make_unique<Endpoint>(board, static_cast<std::uint8_t>(id), *session, *slot, settings_);
  Endpoint::Impl& impl = endpoint->impl();
  if (auto r = impl.lifecycle.claim_take(std::move(claim)); !r) return tl::unexpected(r.error());
  // Binds the thread before the rings are made, so that they are in memory near it. Also before threads
  // start that inherit the binding.
  Binding binding(board, id, settings_);
  if (auto r = impl.lifecycle.link_open(peers_, boards); !r) return tl::unexpected(r.error());

  impl.rails.open(std::move(rails));

  const protocol::Config config = config_of(*endpoint, options);
  impl.lifecycle.engine_start(config);
  warn_small_mtu(board, settings_, config.mtu);
  prefix_.endpoint_opened(board, id);

  impl.seat = binding.keep();
  impl.lifecycle.progress_start();
  return endpoints_.add(std::move(endpoint));
}

Result<std::vector<const Board*>> EndpointOpening::rails_of(const std::vector<Board>& boards,
                                                            const Board& board,
                                                            const std::string& wanted) const {
  auto found = rails_choose(boards, board, wanted);
  if (!found || found->empty()) return found;
  if (board.udp || settings_.protocol.mode != wire::Mode::omx || !settings_.protocol.extension)
    return fail(kMxBadParamVal,
                "several boards for one endpoint (OMX_RAILS) need raw frames, OMX_WIRE_MODE=omx and "
                "OMX_EXTENSION=1; leave OMX_RAILS empty, or give the program CAP_NET_RAW and set these");
  return found;
}

// Claims the id on each of these boards. With `must`, returns nullopt if one is busy: another id may be free
// on all boards. Otherwise leaves such boards out, with a warning.
std::optional<std::vector<RailClaim>> EndpointOpening::rails_claim(const Board& board, std::uint32_t id,
                                                                   const std::vector<const Board*>& others,
                                                                   bool must) {
  std::vector<RailClaim> claims;
  for (const Board* other : others) {
    auto claim = claim_try(other->interface.index, id);
    if (claim && claim->held()) {
      claims.push_back({*other, std::move(*claim)});
      continue;
    }
    if (must) return std::nullopt;
    log(LogLevel::warn, "{} endpoint {}: {} is left out: {}", board.interface.name, id, other->interface.name,
        claim ? claim_busy(other->interface.index, id).message : claim.error().message);
  }
  return claims;
}

// Opens an endpoint. Opening needs more memory than all else, so exceptions are turned into failures, and
// what was begun is undone.
Result<Endpoint*> EndpointOpening::open(const OpenOptions& options) {
  try {
    return open_found(options);
  } catch (const std::bad_alloc&) {
    return fail(kMxNoResources,
                "no memory for an endpoint; close others, or lower OMX_RING_FRAMES or OMX_UNEXP_BYTES");
  } catch (const std::exception& e) {
    return fail(kMxFailure, fmt::format("internal error while opening an endpoint: {}", e.what()));
  }
}

// Checks the options. Returns the id that is wanted, or kAnyEndpoint.
Result<std::uint32_t> EndpointOpening::id_wanted(const OpenOptions& options) const {
  if (mark_.forked()) {
    return fail(kMxFailure,
                "this process was forked from one that uses Open-MX; initialise it again here (mx_finalize, "
                "mx_init) or call exec");
  }
  if (options.board != kAnyBoard && options.board >= boards_.found().size()) {
    return fail(kMxBoardUnknown, fmt::format("there is no board {}; there are {} (omx info)", options.board,
                                             boards_.found().size()));
  }
  if (options.context_bits > 16 || options.context_bits + std::uint64_t{options.context_shift} > 64) {
    return fail(kMxBadParamVal,
                fmt::format("a context id of {} bits at bit {} does not fit: at most 16 bits, within 64",
                            options.context_bits, options.context_shift));
  }
  std::uint32_t wanted = options.endpoint;
  if (wanted == kAnyEndpoint && settings_.any_endpoint >= 0)
    wanted = static_cast<std::uint32_t>(settings_.any_endpoint);
  if (wanted != kAnyEndpoint && wanted >= settings_.endpoints_max) {
    return fail(kMxBadEndpoint, fmt::format("endpoint {} is beyond the last one, {} (OMX_ENDPOINTS_MAX={})",
                                            wanted, settings_.endpoints_max - 1, settings_.endpoints_max));
  }
  return wanted;
}

Result<Endpoint*> EndpointOpening::open_found(const OpenOptions& options) {
  const auto wanted = id_wanted(options);
  if (!wanted) return tl::unexpected(wanted.error());
  // Ids are in the outer loop, so that endpoints spread over the boards. A board that cannot be used is left
  // out. The reason is reported only if no other board could be used.
  const NoCancel no_cancel;
  const std::lock_guard guard(mutex_);
  const std::vector<Board> boards = boards_.now();
  const std::uint32_t first = *wanted == kAnyEndpoint ? 0 : *wanted;
  const std::uint32_t last = *wanted == kAnyEndpoint ? settings_.endpoints_max - 1 : *wanted;
  std::vector<const Board*> candidates;
  for (const Board& board : boards) {
    if (options.board == kAnyBoard || options.board == board.number) candidates.push_back(&board);
  }
  assert(!candidates.empty());
  const Board* const first_board = candidates.front();
  std::optional<Failure> failure;
  const std::string wanted_rails = options.all_boards ? "all" : settings_.rails;
  // If there is a choice, tries only ids that are free on all boards of the endpoint first.
  bool choosy = !wanted_rails.empty() && first != last;
  for (std::uint32_t id = first; id <= last; id = choosy && id == last ? (choosy = false, first) : id + 1) {
    for (std::size_t i = 0; i < candidates.size();) {
      const Board& board = *candidates[i];
      auto claim = claim_try(board.interface.index, id);
      if (claim && !claim->held()) {
        i++;
        continue;
      }
      const auto others = rails_of(boards, board, wanted_rails);
      if (!others) return tl::unexpected(others.error());
      auto rails = claim ? rails_claim(board, id, *others, choosy) : std::vector<RailClaim>();
      if (!rails) {
        i++;
        continue;
      }
      auto opened = claim ? open_claimed(boards, board, id, std::move(*claim), options, std::move(*rails))
                          : tl::unexpected(claim.error());
      if (opened) return opened;
      if (!failure) failure = on_board(board, opened.error());
      if (opened.error().mx_code == kMxBusy && first != last) {  // another program has the UDP port
        i++;
        continue;
      }
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (failure) return tl::unexpected(*failure);
  if (first == last)
    return tl::unexpected(on_board(*first_board, claim_busy(first_board->interface.index, first)));
  return fail(kMxBusy,
              fmt::format("all {} endpoints are in use; close some, or raise OMX_ENDPOINTS_MAX (at most 256)",
                          settings_.endpoints_max));
}

}  // namespace omx::runtime

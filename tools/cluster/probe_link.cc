// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/probe_link.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "runtime/board/boards.h"
#include "runtime/endpoint/link_choice.h"

namespace omx::tools {

namespace {

constexpr int kMxNoResources = 15;
constexpr int kMxBoardUnknown = 8;
constexpr std::size_t kBudget = 256;
constexpr TimeNs kSpin = 50'000;  // a thread that slept would measure its processor's wake-up time

Result<runtime::LinkKind> kind_of(const std::string& kind) {
  if (kind == "raw") return runtime::LinkKind::ethernet;
  if (kind == "udp") return runtime::LinkKind::udp;
  if (kind == "xdp") return runtime::LinkKind::xdp;
  return fail(kMxBoardUnknown, fmt::format("there is no link \"{}\"", kind));
}

}  // namespace

Result<std::unique_ptr<ProbeLink>> ProbeLink::open(runtime::Settings settings, const std::string& kind,
                                                   std::uint32_t board) {
  const auto link_kind = kind_of(kind);
  if (!link_kind) return tl::unexpected(link_kind.error());
  settings.link = *link_kind;
  const auto boards = runtime::boards_find(settings);
  if (!boards) return tl::unexpected(boards.error());
  if (board >= boards->size())
    return fail(kMxBoardUnknown, fmt::format("there is no board {}; omx info shows the boards", board));
  const runtime::Board& chosen = (*boards)[board];
  // Programs take ids from 0 on, so the last ones are most probably free.
  for (std::uint32_t id = settings.endpoints_max; id-- > 0;) {
    auto claim = runtime::claim_try(chosen.interface.index, id);
    if (!claim) return tl::unexpected(claim.error());
    if (!claim->held()) continue;
    const auto endpoint = static_cast<std::uint8_t>(id);
    auto link = runtime::frames_open(settings, chosen, endpoint, true);
    if (!link) return tl::unexpected(link.error());
    return std::unique_ptr<ProbeLink>(
        new ProbeLink(std::move(*claim), std::move(*link), endpoint, settings.ring_frames));
  }
  return fail(kMxNoResources, fmt::format("all endpoint ids of {} are in use; end a program (omx info)",
                                          chosen.interface.name));
}

std::uint32_t ProbeLink::window() const {
  if (const link::Datagram* datagram = link_->datagram()) return datagram->limits().window;
  return ring_frames_ / 2 * link_->interface().mtu();
}

void ProbeLink::expect(std::uint32_t token, std::uint32_t frames) {
  token_ = token;
  count_ = {};
  seen_.assign(frames, false);
}

void ProbeLink::frame_send(ProbeFrame probe, std::uint32_t bytes) {
  probe.from = link_->interface().nic();
  probe.from_endpoint = endpoint_;
  if (queued_count_ == queued_.size()) queued_.emplace_back();
  std::vector<std::byte>& frame = queued_[queued_count_++];
  frame.resize(bytes);
  probe_encode(probe, frame);
  wire::TxFrame& out = link_->frame_begin(1);
  out.header_length = std::min<std::uint32_t>(bytes, wire::kMinFrame);
  std::memcpy(out.header, frame.data(), out.header_length);
  out.segment_count = bytes > out.header_length;
  if (out.segment_count) out.segments[0] = {frame.data() + out.header_length, bytes - out.header_length};
  link_->frame_commit();
  constexpr std::size_t kAtOnce = 32;
  if (queued_count_ == kAtOnce) flush();
}

void ProbeLink::flush() {
  link_->flush();
  queued_count_ = 0;
}

void ProbeLink::on_frame(wire::Frame frame) {
  ProbeFrame probe;
  const ProbeDrop drop = probe_decode(frame, probe);
  if (drop == ProbeDrop::damaged) count_.damaged++;
  if (drop != ProbeDrop::none || probe.to_endpoint != endpoint_) return;
  if (probe.is_reply) {
    if (probe.token == token_) replied_.push_back(probe.number);
    return;
  }
  if (probe.kind != ProbeKind::echo) {
    if (probe.token != token_ || probe.number >= seen_.size()) return;
    (seen_[probe.number] ? count_.duplicates : count_.received)++;
    seen_[probe.number] = true;
  }
  if (probe.kind != ProbeKind::data) answers_.push_back(probe);
}

bool ProbeLink::serve() {
  if (!link_->pending() && !(link_->datagram() && link_->datagram()->holds())) return false;
  const std::size_t got = link_->receive(*this, kBudget);
  for (const ProbeFrame& question : answers_) {
    ProbeFrame answer = question;
    answer.to = question.from;
    answer.to_endpoint = question.from_endpoint;
    answer.is_reply = true;
    frame_send(answer, wire::kMinFrame);
  }
  if (!answers_.empty()) flush();
  answers_.clear();
  return got > 0;
}

bool ProbeLink::sleep(std::span<ProbeLink* const> links, int also, TimeNs until) {
  const TimeNs spin_until = std::min(until, clock_now() + kSpin);
  for (;;) {
    bool pending = false;
    for (ProbeLink* const link : links) pending |= link->link_->pending();
    if (pending) return false;
    if (clock_now() >= spin_until) break;
    ::sched_yield();  // both ends may share a processor, as in the lab
  }
  const TimeNs now = clock_now();
  if (now >= until) return false;
  std::vector<pollfd> fds{{also, POLLIN, 0}};
  for (ProbeLink* const link : links) {
    link::Datagram* const datagram = link->link_->datagram();
    fds.push_back({link->link_->descriptor(), POLLIN, 0});
    fds.push_back({datagram ? datagram->fast_path_descriptor() : -1, POLLIN, 0});
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(std::min<TimeNs>((until - now) / 1'000'000 + 1, 60'000)));
  for (std::size_t i = 0; i < links.size(); i++) {
    link::Transport& transport = *links[i]->link_;
    const short frames = fds[1 + 2 * i].revents, fast = fds[2 + 2 * i].revents;
    if (link::Datagram* const datagram = transport.datagram()) {
      if (fast) datagram->fast_path_poll();
      if (frames) datagram->main_poll();
      if ((frames | fast) & POLLERR) (void)datagram->errors_are_news();
    } else if (frames & POLLERR) {
      transport.interface().refresh();
    }
    if (frames | fast) links[i]->serve();
  }
  return fds[0].revents != 0;
}

}  // namespace omx::tools

// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/unreached.h"

#include <fmt/format.h>

namespace omx::runtime {

namespace {

using link::UdpPort;

std::string holder_name(const ClaimHolder& holder) {
  if (!holder.pid) return "a process that is not visible from here";
  return fmt::format("process {}{}", holder.pid, holder.command.empty() ? "" : " (" + holder.command + ")");
}

Unreached of_this_host(const UnreachedFacts& f) {
  // Claims are seen within a network namespace, and the broker also serves containers with one of their own.
  if (!f.holder && f.granted)
    return {fmt::format(
        "no process of this network namespace has endpoint {} open; start the program, or give its "
        "endpoint, or let the containers of this host share a network namespace",
        f.endpoint)};
  if (!f.holder)
    return {fmt::format(
        "no process of this host has endpoint {} open; start the program, or give its endpoint", f.endpoint)};
  const std::string who = holder_name(*f.holder);
  if (f.holder->pid && f.holder->uid != f.user)
    return {fmt::format(
                "endpoint {} of this host belongs to {} of user {}, and this process to user {}; run both as "
                "the same user, or both with OMX_LINK=udp OMX_LOCAL=0",
                f.endpoint, who, f.holder->uid, f.user),
            true};
  if (f.refused)
    return {fmt::format(
                "endpoint {} of this host belongs to {} now, but this process was refused: the endpoint may "
                "have been opened later, so try again, or its process has another OMX_LINK, OMX_LOCAL or "
                "OMX_INTERFACES",
                f.endpoint, who),
            true};
  return {
      fmt::format("endpoint {} of this host belongs to {}, which does not answer: it may be stopped, or have "
                  "another OMX_LINK, OMX_LOCAL or OMX_INTERFACES",
                  f.endpoint, who),
      true};
}

// Returns what makes both programs use the same kind of link. With "auto" on both, the privileges decide.
const char* link_remedy(const UnreachedFacts& f) {
  return f.link == "auto" ? "set OMX_LINK=udp on both, or give both CAP_NET_RAW or a broker (omx info)"
                          : "give both the same OMX_LINK";
}

Unreached by_udp(const UnreachedFacts& f) {
  if (f.board_answers)
    return {fmt::format("programs there go by raw frames, and this process by UDP (OMX_LINK={}); {}", f.link,
                        link_remedy(f)),
            true};
  if (!f.refused) return {f.advice};
  return {fmt::format(
      "nothing there has UDP port {} open: the program does not run, has another endpoint, goes by "
      "raw frames ({}), or a firewall there refuses the port",
      f.port, link_remedy(f))};
}

Unreached by_frames(const UnreachedFacts& f) {
  if (f.refused) return {};
  if (f.board_answers)
    return {
        fmt::format("programs there have raw frames and answer, but endpoint {} does not; its process may be "
                    "stopped",
                    f.endpoint),
        true};
  const std::string host = f.address.empty() ? "that host" : f.address;
  if (f.there == UdpPort::closed)
    return {fmt::format(
        "{} is up, but no program with Open-MX answers there, by raw frames or by UDP; start it there",
        host)};
  const char* const up = f.reachable ? "is up, but" : "may be down, or is up and";
  if (f.there == UdpPort::silent)
    return {fmt::format(
        "{} {} no program there answers by raw frames; UDP port {} there is not closed, so one may "
        "run that goes by UDP: {}",
        host, up, f.port, link_remedy(f))};
  return {fmt::format(
      "no program there answers by raw frames; see whether {} is up and on this network, and whether "
      "the program runs there and goes by raw frames, too ({})",
      host, link_remedy(f))};
}

}  // namespace

Unreached unreached_judge(const UnreachedFacts& facts) {
  if (facts.here) return of_this_host(facts);
  return facts.udp ? by_udp(facts) : by_frames(facts);
}

}  // namespace omx::runtime

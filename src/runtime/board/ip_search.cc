// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/ip_search.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.h"
#include "runtime/board/ip_names.h"
#include "runtime/clock.h"
#include "runtime/running_deadline.h"

namespace omx::runtime {

namespace {

using link::HostAddress;
using link::Ip;

constexpr int kMxHostNotFound = 28;
// An answer takes microseconds. The kernel repeats its question, but not when the first one found the
// interface down.
constexpr int kPollIntervalMs = 2;
constexpr TimeNs kAskPeriodNs = 250 * protocol::kMillisecond;

const Board* board_behind(const std::vector<Board>& boards, const std::string& interface) {
  const auto board = std::find_if(boards.begin(), boards.end(), [&](const Board& b) {
    return b.interface.name == interface || (!interface.empty() && b.interface.master == interface);
  });
  return board == boards.end() ? nullptr : &*board;
}

bool same_network(const link::InterfaceAddress& own, const Ip& ip) {
  const wire::BulkAddress a{own.ip}, b{ip};
  return link::is_ipv4(own.ip) == link::is_ipv4(ip) && wire::bulk_same_network(a, b, own.network_bits);
}

std::optional<NicFound> table_look(const std::vector<Board>& boards, std::span<const Ip> ips,
                                   const IpFacts& facts) {
  for (const Ip& ip : ips) {
    for (const link::Neighbour& neighbour : facts.neighbours(ip)) {
      if (const Board* board = board_behind(boards, neighbour.interface))
        return NicFound{neighbour.mac, board, ip};
    }
  }
  return std::nullopt;
}

// An address to ask for, and our own address that asks.
struct Question {
  Ip ip;
  HostAddress from;
};

std::vector<Question> questions_of(const std::vector<Board>& boards, std::span<const Ip> ips,
                                   const IpFacts& facts) {
  std::vector<Question> questions;
  for (const Ip& ip : ips) {
    for (const HostAddress& own : facts.own) {
      if (same_network(own.address, ip) && board_behind(boards, own.interface))
        questions.push_back({ip, own});
    }
  }
  return questions;
}

// Returns a text such as "eth0 10.77.0.1, eth1 10.78.0.1".
std::string boards_text(const std::vector<Board>& boards, const std::vector<HostAddress>& own) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t count = 0;
  for (const HostAddress& address : own) {
    if (!board_behind(boards, address.interface) || wire::is_link_local(address.address.ip)) continue;
    if (count++ == kMost) return text + " ...";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", address.interface,
                        link::ip_text(address.address.ip));
  }
  return text.empty() ? "they have no address" : text;
}

std::optional<NicFound> answer_await(const std::vector<Board>& boards, std::span<const Ip> ips,
                                     const IpFacts& facts, const std::vector<Question>& questions,
                                     const IpPatience& patience) {
  TimeNs now = clock_now();
  RunningDeadline deadline(now, patience.limit_ms);
  TimeNs ask_at = now;
  for (; !deadline.passed(now); now = clock_now()) {
    if (now >= ask_at) {
      for (const Question& question : questions) facts.ask(question.ip, question.from);
      ask_at = now + kAskPeriodNs;
    }
    ::poll(nullptr, 0, kPollIntervalMs);
    if (patience.meanwhile) patience.meanwhile();
    if (const auto found = table_look(boards, ips, facts)) return found;
  }
  return std::nullopt;
}

}  // namespace

IpFacts ip_facts_of_kernel() {
  const auto kernel = std::make_shared<Netlink>(NETLINK_ROUTE);
  return {link::host_addresses(), [kernel](const Ip& ip) { return link::neighbours_find(*kernel, ip); },
          [](const Ip& ip, const HostAddress& from) { link::neighbour_ask(ip, from); }};
}

const Board* board_with_ip(const std::vector<Board>& boards, const std::vector<HostAddress>& own,
                           const Ip& ip) {
  bool loopback = ip_loopback(ip);
  for (const HostAddress& address : own) {
    if (address.address.ip != ip) continue;
    if (const Board* board = board_behind(boards, address.interface)) return board;
    loopback = loopback || address.loopback;
  }
  return loopback && !boards.empty() ? &boards.front() : nullptr;
}

bool boards_share_network(const Board& a, const Board& b, const std::vector<HostAddress>& own) {
  const auto has = [](const Board& board, const HostAddress& address) {
    const std::string& interface = address.interface;
    return interface == board.interface.name || interface == board.interface.master;
  };
  for (const HostAddress& of_a : own) {
    if (!has(a, of_a) || wire::is_link_local(of_a.address.ip)) continue;
    for (const HostAddress& of_b : own) {
      if (has(b, of_b) && of_a.address.network_bits == of_b.address.network_bits &&
          same_network(of_a.address, of_b.address.ip))
        return true;
    }
  }
  return false;
}

Result<NicFound> nic_by_ip(const std::vector<Board>& boards, std::span<const Ip> ips, const std::string& host,
                           const IpFacts& facts, const IpPatience& patience) {
  for (const Ip& ip : ips) {
    if (const Board* board = board_with_ip(boards, facts.own, ip))
      return NicFound{board->interface.nic, board, ip_loopback(ip) ? std::nullopt : std::optional(ip)};
  }
  for (const HostAddress& own : facts.own) {
    if (std::ranges::find(ips, own.address.ip) == ips.end()) continue;
    return fail(kMxHostNotFound,
                fmt::format("\"{}\" is an address of {} of this host, which is no board of this "
                            "process; name it in OMX_INTERFACES, or give another address",
                            shown(host), own.interface));
  }
  if (const auto found = table_look(boards, ips, facts)) return *found;
  const auto questions = questions_of(boards, ips, facts);
  if (questions.empty()) {
    return fail(kMxHostNotFound,
                fmt::format("\"{}\" is in no network of this host's boards ({}), and raw frames pass no "
                            "router; give its MAC address, or let messages go by UDP (OMX_LINK=udp)",
                            shown(host), boards_text(boards, facts.own)));
  }
  if (patience.limit_ms == 0) {
    return fail(
        kMxHostNotFound,
        fmt::format("the kernel does not know the MAC address of \"{}\", and the network was not asked "
                    "(OMX_DISCOVERY_MS=0); give its MAC address instead",
                    shown(host)));
  }
  if (const auto found = answer_await(boards, ips, facts, questions, patience)) return *found;
  return fail(kMxHostNotFound, fmt::format("no host answered for \"{}\" on {} within {} ms "
                                           "(OMX_DISCOVERY_MS): it is down, or not on that network",
                                           shown(host), questions.front().from.interface, patience.limit_ms));
}

}  // namespace omx::runtime

// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/outage_text.h"

#include <fmt/format.h>

namespace omx::runtime {

namespace {

using link::Outage;

constexpr const char* kUntilGivenUp =
    "messages wait for it until their peers are given up (OMX_PEER_TIMEOUT_MS)";

std::string gone_text(const OutageFacts& f) {
  if (!f.follows)
    return fmt::format("{} is gone, and is not found again when it is back: restart the program then",
                       f.interface);
  return fmt::format("{} is gone; {}; it is found again when it is back under this name, with {}",
                     f.interface, kUntilGivenUp,
                     f.known ? "the MAC address " + mac_format(f.known) : "the address " + f.ip);
}

std::string replaced_text(const OutageFacts& f) {
  if (f.known == 0)
    return fmt::format(
        "{0} was made again without the address {1}, by which peers know this program: ip address add "
        "{1}/BITS dev {0}, or restart the program",
        f.interface, f.ip);
  return fmt::format(
      "{0} is another interface now, with the MAC address {1}; peers know this program by {2}: ip link "
      "set dev {0} address {2}, or restart the program",
      f.interface, mac_format(f.now.nic), mac_format(f.known));
}

}  // namespace

std::string outage_text(const OutageFacts& f) {
  switch (f.outage) {
    case Outage::none:
      if (f.up) return fmt::format("{} is up again", f.interface);
      return fmt::format(
          "{} receives nothing: there is no memory for its receive ring; lower OMX_RING_FRAMES, or close "
          "other endpoints",
          f.interface);
    case Outage::down:
      return fmt::format("{0} is down; {1}: ip link set dev {0} up", f.interface, kUntilGivenUp);
    case Outage::no_carrier:
      return fmt::format("{} has no carrier; {}: look at the cable and at its other end", f.interface,
                         kUntilGivenUp);
    case Outage::gone:
      return gone_text(f);
    case Outage::replaced:
      return replaced_text(f);
    case Outage::returned:
      return fmt::format("{} is back, but this program does not go on with it: {}", f.interface, f.obstacle);
    case Outage::readdressed:
      return fmt::format(
          "the MAC address of {0} is {1} now; peers know this program by {2}, so nothing comes: ip link "
          "set dev {0} address {2}, or restart the program",
          f.interface, mac_format(f.now.nic), mac_format(f.known));
    case Outage::withdrawn:
      return fmt::format(
          "the broker of this host has withdrawn this endpoint of {}, so nothing leaves or comes any more: "
          "ask the administrator (broker.conf), and restart the program",
          f.interface);
  }
  return {};
}

}  // namespace omx::runtime

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/capture/capture_filter.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>

#include "link/udp/udp_options.h"
#include "wire/packets.h"

namespace omx::tools {

namespace {

constexpr std::uint32_t kIp = 14;  // offset of the IP header
constexpr std::uint32_t kFrameType =
    8 + 12;  // offset of the inner ethertype from the UDP header: that header, then two MAC addresses

// Gathers the lines of a BPF program. A jump counts from the next line. Jumps to `accept` and
// `refuse` are resolved by finish().
class Program {
 public:
  enum Target : std::uint8_t { next = 0, accept = 254, refuse = 255 };

  void load(std::uint16_t code, std::uint32_t value) { lines_.push_back({code, 0, 0, value}); }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    lines_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), yes, no, value});
  }
  std::size_t size() const { return lines_.size(); }
  // Makes the failed test of line `at` go on at the next line that is added.
  void no_goes_here(std::size_t at) { lines_[at].jf = static_cast<std::uint8_t>(lines_.size() - at - 1); }

  std::vector<sock_filter> finish(std::uint32_t snap_length) {
    const std::size_t accepts = lines_.size();
    lines_.push_back({BPF_RET | BPF_K, 0, 0, snap_length});
    lines_.push_back({BPF_RET | BPF_K, 0, 0, 0});
    for (std::size_t i = 0; i < accepts; i++) {
      if (BPF_CLASS(lines_[i].code) != BPF_JMP) continue;
      for (std::uint8_t* target : {&lines_[i].jt, &lines_[i].jf}) {
        if (*target == accept) *target = static_cast<std::uint8_t>(accepts - i - 1);
        if (*target == refuse) *target = static_cast<std::uint8_t>(accepts - i);
      }
    }
    return std::move(lines_);
  }

 private:
  std::vector<sock_filter> lines_;
};

constexpr std::uint16_t kHalf = BPF_LD | BPF_H | BPF_ABS, kByte = BPF_LD | BPF_B | BPF_ABS;

// Accepts a datagram if one of its ports is ours, or if it holds a frame of our ethertype. The second rule is
// for the bulk path, which uses any port. `load` reads the UDP header at `ports`, or at X bytes behind it.
void udp_rule(Program& program, std::uint16_t load, std::uint32_t at, const CaptureRule& rule) {
  const std::uint32_t beyond = rule.udp_port + 2U * link::kUdpBulkPorts;
  for (const std::uint32_t port : {at, at + 2}) {
    program.load(load, port);
    const std::size_t low = program.size();
    program.jump(BPF_JGE, rule.udp_port, Program::next, 0);
    program.jump(BPF_JGE, beyond, Program::next, Program::accept);
    program.no_goes_here(low);
  }
  program.load(load, at + kFrameType);
  program.jump(BPF_JEQ, wire::kEthertype, Program::accept, Program::refuse);
}

}  // namespace

std::vector<sock_filter> capture_filter_build(const CaptureRule& rule) {
  Program program;
  if (rule.received_only) {
    program.load(BPF_LD | BPF_B | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE));
    program.jump(BPF_JEQ, PACKET_OUTGOING, Program::refuse, Program::next);
    program.jump(BPF_JEQ, PACKET_OTHERHOST, Program::refuse, Program::next);
  }
  program.load(kHalf, 12);
  program.jump(BPF_JEQ, wire::kEthertype, Program::accept, Program::next);
  // Some drivers leave the VLAN tag in the frame.
  for (const std::uint32_t tag : {std::uint32_t{ETH_P_8021Q}, std::uint32_t{ETH_P_8021AD}}) {
    const std::size_t other = program.size();
    program.jump(BPF_JEQ, tag, Program::next, 0);
    program.load(kHalf, 16);
    program.jump(BPF_JEQ, wire::kEthertype, Program::accept, Program::refuse);
    program.no_goes_here(other);
  }
  if (rule.udp) {
    const std::size_t other = program.size();
    program.jump(BPF_JEQ, ETH_P_IP, Program::next, 0);
    program.load(kByte, kIp + 9);
    program.jump(BPF_JEQ, IPPROTO_UDP, Program::next, Program::refuse);
    program.load(kHalf, kIp + 6);
    program.jump(BPF_JSET, 0x1fff, Program::refuse, Program::next);  // later IP fragments have no ports
    program.load(BPF_LDX | BPF_B | BPF_MSH, kIp);
    udp_rule(program, BPF_LD | BPF_H | BPF_IND, kIp, rule);
    program.no_goes_here(other);
    program.jump(BPF_JEQ, ETH_P_IPV6, Program::next, Program::refuse);
    program.load(kByte, kIp + 6);
    program.jump(BPF_JEQ, IPPROTO_UDP, Program::next, Program::refuse);
    udp_rule(program, kHalf, kIp + 40, rule);
  } else {
    program.jump(BPF_JEQ, wire::kEthertype, Program::accept, Program::refuse);
  }
  return program.finish(rule.snap_length);
}

}  // namespace omx::tools

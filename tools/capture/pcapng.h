// SPDX-License-Identifier: BSD-3-Clause
// Writes packets as a pcapng file of one Ethernet interface, which Wireshark and its relatives read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omx::tools {

struct CapturedFrame {
  std::uint64_t time_ns = 0;    // since 1970
  std::uint32_t wire_size = 0;  // before the capture cut the frame; without a VLAN tag
  bool sent = false;            // by this host
  bool tagged = false;          // the kernel removed a VLAN tag, which belongs behind the addresses
  std::uint16_t tag_type = 0, tag = 0;
  std::span<const std::byte> bytes;
};

struct CaptureCounts {
  std::uint64_t received = 0, sent = 0, dropped = 0;
  std::uint64_t frames() const { return received + sent; }
};

// Writes whole blocks only, so that the file can be read at any moment.
class PcapngWriter {
 public:
  explicit PcapngWriter(int fd) : fd_(fd) {}

  void begin(std::string_view interface, std::uint32_t snap_length, std::string_view program);
  void frame(const CapturedFrame& frame);
  void end(std::uint64_t time_ns, const CaptureCounts& counts);
  // Writes the gathered blocks. Returns 0 or an errno.
  int flush();
  std::size_t gathered() const { return block_.size(); }

 private:
  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void put_time(std::uint64_t time_ns);
  void put_bytes(std::span<const std::byte> bytes);
  void pad();
  void option(std::uint16_t code, std::string_view value);
  void option64(std::uint16_t code, std::uint64_t value);
  void block_begin(std::uint32_t type);
  void block_end();

  int fd_;
  std::vector<std::byte> block_;  // gathered blocks, not yet written
  std::size_t started_ = 0;       // where the last block begins
};

}  // namespace omx::tools

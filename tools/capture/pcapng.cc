// SPDX-License-Identifier: BSD-3-Clause
#include "tools/capture/pcapng.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omx::tools {

namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A, kInterface = 1, kPacket = 6, kStatistics = 5;
constexpr std::uint16_t kEthernet = 1;  // link type
constexpr std::uint16_t kEndOfOptions = 0, kPacketFlags = 2, kInterfaceName = 2, kApplication = 4,
                        kReceived = 4, kDropped = 5, kTimeResolution = 9;
constexpr std::uint32_t kInbound = 1, kOutbound = 2;
constexpr std::size_t kAddresses = 12;  // bytes of both MAC addresses, after which a VLAN tag follows
constexpr std::size_t kTagBytes = 4;

}  // namespace

void PcapngWriter::put_bytes(std::span<const std::byte> bytes) {
  block_.insert(block_.end(), bytes.begin(), bytes.end());
}

// Writes in this host's byte order, which the section header announces.
void PcapngWriter::put16(std::uint16_t value) {
  put_bytes(std::as_bytes(std::span(&value, 1)));
}
void PcapngWriter::put32(std::uint32_t value) {
  put_bytes(std::as_bytes(std::span(&value, 1)));
}

void PcapngWriter::put_time(std::uint64_t time_ns) {
  put32(static_cast<std::uint32_t>(time_ns >> 32));
  put32(static_cast<std::uint32_t>(time_ns));
}

void PcapngWriter::pad() {
  while ((block_.size() - started_) % 4) block_.push_back(std::byte{0});
}

void PcapngWriter::option(std::uint16_t code, std::string_view value) {
  put16(code);
  put16(static_cast<std::uint16_t>(value.size()));
  put_bytes(std::as_bytes(std::span(value)));
  pad();
}

void PcapngWriter::option64(std::uint16_t code, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  option(code, {bytes, sizeof value});
}

void PcapngWriter::block_begin(std::uint32_t type) {
  started_ = block_.size();
  put32(type);
  put32(0);  // place of the length, which block_end fills in
}

void PcapngWriter::block_end() {
  const auto length = static_cast<std::uint32_t>(block_.size() - started_ + 4);
  put32(length);
  std::memcpy(block_.data() + started_ + 4, &length, sizeof length);
}

void PcapngWriter::begin(std::string_view interface, std::uint32_t snap_length, std::string_view program) {
  block_begin(kSectionHeader);
  put32(0x1A2B3C4D);
  put16(1);  // version 1.0
  put16(0);
  put32(0xFFFFFFFF);  // the section's length is not known yet
  put32(0xFFFFFFFF);
  option(kApplication, program);
  option(kEndOfOptions, {});
  block_end();
  block_begin(kInterface);
  put16(kEthernet);
  put16(0);
  put32(snap_length);
  option(kInterfaceName, interface);
  option(kTimeResolution, "\x09");  // nanoseconds
  option(kEndOfOptions, {});
  block_end();
}

void PcapngWriter::frame(const CapturedFrame& frame) {
  const bool tagged = frame.tagged && frame.bytes.size() >= kAddresses;
  const std::size_t more = tagged ? kTagBytes : 0;
  block_begin(kPacket);
  put32(0);  // interface
  put_time(frame.time_ns);
  put32(static_cast<std::uint32_t>(frame.bytes.size() + more));
  put32(static_cast<std::uint32_t>(frame.wire_size + more));
  if (tagged) {
    put_bytes(frame.bytes.first(kAddresses));
    for (const unsigned value : {frame.tag_type, frame.tag}) {
      block_.push_back(static_cast<std::byte>(value >> 8));
      block_.push_back(static_cast<std::byte>(value));
    }
    put_bytes(frame.bytes.subspan(kAddresses));
  } else {
    put_bytes(frame.bytes);
  }
  pad();
  put16(kPacketFlags);
  put16(4);
  put32(frame.sent ? kOutbound : kInbound);
  option(kEndOfOptions, {});
  block_end();
}

void PcapngWriter::end(std::uint64_t time_ns, const CaptureCounts& counts) {
  block_begin(kStatistics);
  put32(0);
  put_time(time_ns);
  option64(kReceived, counts.frames() + counts.dropped);
  option64(kDropped, counts.dropped);
  option(kEndOfOptions, {});
  block_end();
}

int PcapngWriter::flush() {
  std::size_t done = 0;
  int error = 0;
  while (done < block_.size() && !error) {
    const ssize_t n = ::write(fd_, block_.data() + done, block_.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  block_.clear();
  return error;
}

}  // namespace omx::tools

// SPDX-License-Identifier: BSD-3-Clause
// omx_memory: measures the memory of an idle peer. Peers with many MAC addresses, each with a bulk path, send
// connect requests to an endpoint and nothing else.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "protocol/endpoint.h"
#include "wire/codec.h"

namespace {

using omx::NicId;

constexpr NicId kOurNic = 0x020000000000;
constexpr NicId kFirstPeer = 0x020001000000;

class NullSink final : public omx::wire::FrameSink {
 public:
  omx::wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    segments_.resize(max_segments);
    frame_.segments = segments_.data();
    return frame_;
  }
  void frame_commit() override {}
  void flush() override {}

 private:
  omx::wire::TxFrame frame_;
  std::vector<iovec> segments_;
};

std::size_t resident_bytes() {
  unsigned long total = 0;
  unsigned long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

omx::wire::BulkAddress bulk_address(std::uint32_t host) {
  omx::wire::BulkAddress a;
  a.ip[10] = a.ip[11] = 0xFF;
  a.ip[12] = 10;
  for (unsigned i = 0; i < 3; i++) a.ip[13 + i] = static_cast<std::uint8_t>(host >> (16 - 8 * i));
  a.port = 4000;
  a.frame = 1472;
  return a;
}

void connect_from(omx::protocol::Endpoint& endpoint, NicId nic, bool extended, omx::protocol::TimeNs now) {
  omx::wire::Head head;
  head.dst = kOurNic;
  head.src = nic;
  head.type = omx::wire::PacketType::connect;
  omx::wire::Connect request;
  request.src_session = static_cast<std::uint32_t>(nic);
  request.connect_seqnum = 1;
  request.ext.present = extended;
  request.ext.max_frame = 1514;
  request.ext.pull_frames = 32;
  request.ext.eager_frames = 256;
  request.ext.features = omx::wire::kFeatureBulk;
  request.ext.bulk_address = bulk_address(static_cast<std::uint32_t>(nic));
  std::byte bytes[omx::wire::kHeaderCapacity] = {};
  const std::size_t length = std::max(omx::wire::encode_connect(bytes, head, request), omx::wire::kMinFrame);
  endpoint.on_frame(now, {bytes, length});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Memory that an endpoint needs for each idle peer");
  std::uint32_t peers = 10000;
  bool plain = false;
  bool json = false;
  app.add_option("--peers", peers, "number of peers")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_flag("--plain", plain, "peers that speak only the legacy protocol");
  app.add_flag("--json", json, "print a JSON object");
  CLI11_PARSE(app, argc, argv);

  omx::protocol::Config config;
  config.nic = kOurNic;
  config.session = 1;
  config.bulk.address = bulk_address(0xFFFFFF);
  config.bulk.network_bits = 104;
  NullSink sink;
  omx::protocol::Counters counters;
  omx::protocol::Endpoint endpoint(config, sink, counters);
  const std::uint32_t before_count = endpoint.peer_count();
  const std::size_t before_memory = endpoint.memory().peers;
  const std::size_t before_resident = resident_bytes();
  omx::protocol::TimeNs now = omx::protocol::kMillisecond;
  for (std::uint32_t i = 0; i < peers; i++, now += 1000) {
    connect_from(endpoint, kFirstPeer + i, !plain, now);
    endpoint.progress(now);
  }

  const std::uint32_t made = endpoint.peer_count() - before_count;
  if (made != peers) {
    fmt::print(stderr, "omx_memory: {} connect requests made {} peers\n", peers, made);
    return 1;
  }
  const auto memory = endpoint.memory();
  const double each = static_cast<double>(memory.peers - before_memory) / made;
  const double resident = static_cast<double>(resident_bytes() - before_resident) / made;
  const char* format = json ? "{{\"peers\":{},\"object_bytes\":{},\"bytes_per_peer\":{:.1f},"
                              "\"resident_per_peer\":{:.1f}}}\n"
                            : "{} idle peers: {} bytes an object, {:.1f} bytes each with tables, {:.1f} "
                              "bytes each resident\n";
  fmt::print(fmt::runtime(format), made, memory.peer_object, each, resident);
  return 0;
}

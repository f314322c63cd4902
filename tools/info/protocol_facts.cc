// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/protocol_facts.h"

#include <fmt/format.h>

#include "link/udp/udp_address.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/state.h"
#include "runtime/endpoint/copies.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

constexpr std::uint64_t kSizes[] = {0,     32,    33,    128,    1024,    4096,
                                    16384, 32768, 65536, 131072, 1 << 20, 4 << 20};
constexpr const char* kPlaced = "kernel, into its place";

// Returns the largest frame of the board's bulk path, or 0 if there is none or it gains nothing.
std::uint32_t bulk_frame(const BoardInfo& board, const runtime::Settings& settings) {
  if (!settings.udp_bulk || !settings.protocol.extension || board.extended.mode != wire::Mode::omx) return 0;
  const auto address =
      link::interface_address(board.board.interface.name, board.board.interface.index, board.board.family);
  const std::uint32_t frame = address ? link::udp_frame(board.board.mtu, *address) : 0;
  // If all frames are datagrams anyway, the bulk path helps even with one frame at a time: the kernel puts it
  // in its place.
  return board.board.udp || 2 * frame <= wire::kGsoBatchBytes ? frame : 0;
}

struct Batches {
  std::uint32_t frames;  // before the last one
  std::uint32_t count;   // 0: one batch holds the whole message
};

// Returns the GSO batches of a medium message. If it is longer than a batch, its last frame travels as an
// ordinary frame.
Batches batches_of(std::uint32_t bytes, std::uint32_t most_in_frame, std::uint32_t overhead) {
  const std::uint32_t unit = wire::gso_batch_unit(bytes, most_in_frame, overhead);
  const std::uint32_t frames = (bytes - 1) / unit, most = wire::gso_batch_frames(unit + overhead);
  return {frames, frames < most ? 0 : (frames + most - 1) / most};
}

std::string batches_text(const Batches& batches) {
  if (batches.count == 0) return "one GSO frame by UDP, or frames in one GSO batch";
  return fmt::format("{} frames in {} GSO batch{} by UDP and one alone", batches.frames, batches.count,
                     batches.count > 1 ? "es" : "");
}

std::uint32_t bulk_frag(std::uint32_t bulk) {
  return wire::extended_sizes(wire::Mode::omx, bulk, 0).medium_frag;
}

std::string frames_text(std::uint64_t frames) {
  return frames == 1 ? "one frame" : fmt::format("{} frames", frames);
}

Way way_of(std::uint64_t bytes, const EngineFacts& f, std::uint32_t bulk, bool udp,
           const runtime::Settings& settings, const ProtocolFacts& facts) {
  Way way{bytes, "", "processor", ""};
  const protocol::Config& config = settings.protocol;
  if (bytes <= wire::kSmallMax) {
    way.way = bytes <= wire::kTinyMax ? "tiny, in one frame" : "small, in one frame";
    way.why = config.coalesce ? "messages in a burst share frames (OMX_COALESCE)" : "OMX_COALESCE=0";
    return way;
  }
  const auto fragments = static_cast<std::uint32_t>((bytes + f.medium_frag - 1) / f.medium_frag);
  // Where all frames go by UDP anyway, the bulk path gains only for large messages.
  const bool by_bulk = bulk > 0 && !udp && fragments >= protocol::kBulkFragments;
  const std::uint32_t eager = by_bulk ? std::max(f.eager_max, config.bulk_rndv_threshold) : f.eager_max;
  if (bytes <= eager && !by_bulk) {
    way.way = "medium, at once: " + frames_text(fragments);
    way.why = fmt::format("up to OMX_RNDV_THRESHOLD={}", f.eager_max);
    return way;
  }
  if (bytes <= eager) {
    const Batches batches =
        batches_of(static_cast<std::uint32_t>(bytes), f.medium_frag, bulk - bulk_frag(bulk));
    way.way = "medium, at once: " + batches_text(batches);
    way.why = fmt::format(
        "up to OMX_BULK_RNDV_THRESHOLD={} once the bulk path is proven; before that, by frames up to {}",
        config.bulk_rndv_threshold, f.eager_max);
    if (batches.count > 0 && !config.checksum) {
      // The last frame says which receive the others are for. In streams it often comes too late.
      way.copy = "kernel, or processor";
      way.why += "; the kernel places what is read after the last frame has come";
    }
    return way;
  }
  const bool ring = !udp && (settings.placement == runtime::Placement::ring ||
                             (facts.calibration && settings.copy.engine != copy::EngineKind::cpu &&
                              runtime::ring_better(settings, *facts.calibration, f.pull_reply)));
  if (bulk > 0 && !ring) {
    way.way = fmt::format("rendezvous, pulled in GSO batches of up to {} frames by UDP",
                          wire::gso_batch_frames(bulk));
    way.copy = kPlaced;
    way.why = "one call moves 64 KiB";
    return way;
  }
  way.way = fmt::format("rendezvous, pulled in blocks of {} frames of {} bytes", f.pull_frames, f.pull_reply);
  if (udp) {
    way.copy = "processor";
    way.why = "OMX_UDP_BULK=0";
    return way;
  }
  if (!ring && settings.link == runtime::LinkKind::xdp) {
    way.copy = "processor, from the ring";
    way.why = "no bulk path by UDP here, and OMX_LINK=xdp receives everything by one ring";
    return way;
  }
  if (!ring) {
    const bool tries = facts.engine == "cpu" && settings.rails.empty() &&
                       settings.placement == runtime::Placement::automatic;
    way.copy = tries ? "kernel, or processor from the ring" : kPlaced;
    way.why =
        tries ? "no bulk path by UDP here: both are tried in turn, and the faster one stays (OMX_PLACEMENT)"
              : "no bulk path by UDP here: a packet socket of its own for large messages";
    return way;
  }
  const copy::Policy policy =
      runtime::copy_policy(settings, facts.calibration.value_or(copy::Calibration{}), facts.caches);
  const bool offloads =
      facts.engine != "cpu" && bytes >= policy.min_message && f.pull_reply >= policy.min_piece;
  way.copy = offloads ? facts.engine + " engine, from the ring" : "processor, from the ring";
  way.why = offloads
                ? "at least OMX_COPY_MIN_MESSAGE and OMX_COPY_MIN_PIECE; the processor copies the last frame"
            : settings.placement == runtime::Placement::ring ? "OMX_PLACEMENT=ring"
                                                             : "smaller than OMX_COPY_MIN_MESSAGE";
  return way;
}

// Says from which size on the engine is worth its submissions, or why from none on.
std::string worth_text(const copy::Calibration& measured, const std::string& engine) {
  if (measured.too_slow)
    return fmt::format("  the {} engine needs more than 1.25 times the processor's time for a piece\n",
                       engine);
  if (measured.least_piece == ~0U)
    return fmt::format("  no piece is cheaper to hand to the {} engine than to copy\n", engine);
  return fmt::format("  pieces of {} bytes and more are cheaper to hand to the {} engine than to copy\n",
                     measured.least_piece, engine);
}

std::string calibration_text(const ProtocolFacts& facts) {
  if (!facts.calibration) return "";
  std::string text = fmt::format("\nMeasured now, nanoseconds a piece:\n  {:>7}  {:>14}  {:>14}  {:>14}",
                                 "bytes", "copy in cache", "out of cache", "kernel places");
  const bool engine = facts.engine != "cpu";
  if (engine) text += fmt::format("  {:>14}  {:>14}", "hand to " + facts.engine, "until copied");
  text += "\n";
  for (const copy::Calibration::Row& row : facts.calibration->rows) {
    text += fmt::format("  {:>7}  {:>14}  {:>14}  {:>14}", row.bytes, row.memcpy_in_ns, row.memcpy_out_ns,
                        row.place_ns);
    if (engine) text += fmt::format("  {:>14}  {:>14}", row.submit_ns, row.engine_ns);
    text += "\n";
  }
  if (engine) text += worth_text(*facts.calibration, facts.engine);
  return text;
}

}  // namespace

ProtocolFacts protocol_facts_find(const runtime::Settings& settings) {
  ProtocolFacts facts;
  auto engine = copy::engine_create(settings.copy.engine, runtime::copy_options(settings));
  if (!engine) {
    facts.engine_problem = engine.error().message;
    engine = copy::engine_create(copy::EngineKind::cpu);
    if (!engine) return facts;
  }
  facts.engine = (*engine)->capabilities().name;
  facts.caches = runtime::cache_facts((*engine)->capabilities());
  facts.calibration = copy::calibrate(**engine);
  return facts;
}

std::vector<Way> ways_of(const BoardInfo& board, const runtime::Settings& settings,
                         const ProtocolFacts& facts) {
  std::vector<Way> ways;
  const std::uint32_t bulk = bulk_frame(board, settings);
  for (const std::uint64_t bytes : kSizes) {
    Way way = way_of(bytes, board.extended, bulk, board.board.udp, settings, facts);
    if (settings.protocol.checksum && way.copy.starts_with("kernel")) {
      way.copy = "processor";
      way.why += "; frames are verified before they are copied (OMX_CHECKSUM=1)";
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

std::string protocols_text(const InfoReport& report, const ProtocolFacts& facts) {
  std::string text;
  const runtime::Settings& settings = report.host.settings;
  for (const BoardInfo& board : report.boards) {
    text += fmt::format("Board {} ({}, MTU {}), to an Open-MX peer by the cable:\n", board.board.number,
                        board.board.interface.name, board.board.mtu);
    for (const Way& way : ways_of(board, settings, facts))
      text += fmt::format("  {:>9} B  {}; copied by the {}: {}\n", way.bytes, way.way, way.copy, way.why);
  }
  if (report.local.used) {
    text += fmt::format(
        "Inside this host:\n  {:>9} B  and less: at once through shared memory\n  larger:      {} ({})\n",
        report.local.threshold, report.local.one_copy ? "one copy" : "two copies", report.local.reason);
  }
  if (!facts.engine_problem.empty())
    text +=
        fmt::format("\nThe processor copies, because there is no other engine: {}\n", facts.engine_problem);
  return text + calibration_text(facts);
}

std::string protocols_json(const InfoReport& report, const ProtocolFacts& facts) {
  JsonWriter json;
  json.object([&] {
    json.field("engine", facts.engine);
    json.field("engine_problem", facts.engine_problem);
    json.array("boards", [&] {
      for (const BoardInfo& board : report.boards) {
        json.object([&] {
          json.field("number", board.board.number);
          json.array("ways", [&] {
            for (const Way& way : ways_of(board, report.host.settings, facts)) {
              json.object([&] {
                json.field("bytes", way.bytes);
                json.field("way", way.way);
                json.field("copied_by", way.copy);
                json.field("why", way.why);
              });
            }
          });
        });
      }
    });
    json.array("calibration", [&] {
      if (!facts.calibration) return;
      for (const copy::Calibration::Row& row : facts.calibration->rows) {
        json.object([&] {
          json.field("bytes", row.bytes);
          json.field("memcpy_in_cache_ns", row.memcpy_in_ns);
          json.field("memcpy_out_of_cache_ns", row.memcpy_out_ns);
          json.field("kernel_places_ns", row.place_ns);
          json.field("submit_ns", row.submit_ns);
          json.field("engine_ns", row.engine_ns);
        });
      }
    });
  });
  return json.take();
}

}  // namespace omx::tools

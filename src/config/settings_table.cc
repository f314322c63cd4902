// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings_table.h"

#include <algorithm>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/log_file.h"
#include "config/settings_copy.h"
#include "config/settings_kinds.h"
#include "config/settings_link.h"
#include "config/verbose_prefix.h"

namespace omx::runtime {

namespace {

using protocol::Config;
using S = Settings;
using Reliability = protocol::ReliabilityConfig;

constexpr std::uint64_t kUs = 1000;
constexpr std::uint64_t kMs = protocol::kMillisecond;
constexpr std::uint64_t kDayMs = 86'400'000;
constexpr std::uint64_t kGiB = 1ULL << 30;

// Open-MX 1.x sends again every half second (docs/spec/protocol.md 19.3).
constexpr std::uint64_t kResendMs = 500;

struct WireMode {
  static bool parse(std::string_view text, S& s) {
    if (text != "omx" && text != "mxoe") return false;
    s.protocol.mode = text == "omx" ? wire::Mode::omx : wire::Mode::mxoe;
    return true;
  }
  static std::string print(const S& s) { return s.protocol.mode == wire::Mode::omx ? "omx" : "mxoe"; }
  static std::string accepted() { return "omx (full frames) or mxoe (the sizes of native MX)"; }
};

struct LocalThreshold : OrAutomatic<Bytes<&IntraNodeSettings::rndv_threshold, 128, kGiB>> {
  static std::string accepted() { return Bytes::accepted() + ", or auto"; }
};

struct ContextIds {
  static bool parse(std::string_view text, S& s) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return false;
    const auto bits = number_parse(text.substr(0, comma));
    const auto shift = number_parse(text.substr(comma + 1));
    if (!bits || !shift || *bits > 16 || *shift > 64 || *bits + *shift > 64) return false;
    s.protocol.context_bits = static_cast<std::uint32_t>(*bits);
    s.protocol.context_shift = static_cast<std::uint32_t>(*shift);
    return true;
  }
  static std::string print(const S& s) {
    return std::to_string(s.protocol.context_bits) + "," + std::to_string(s.protocol.context_shift);
  }
  static std::string accepted() { return "BITS,SHIFT with BITS at most 16 and BITS + SHIFT at most 64"; }
};

struct AnyEndpoint {
  static bool parse(std::string_view text, S& s) {
    const auto value = number_parse(text);
    if (text != "any" && (!value || *value > 255)) return false;
    s.any_endpoint = text == "any" ? -1 : static_cast<std::int64_t>(*value);
    return true;
  }
  static std::string print(const S& s) { return s.any_endpoint < 0 ? "any" : std::to_string(s.any_endpoint); }
  static std::string accepted() { return "an endpoint number from 0 to 255, or any"; }
};

// A number of resends is converted into a time, because our resends are not evenly spaced.
struct ResendsMax {
  static bool parse(std::string_view text, S& s) {
    const auto value = number_parse(text);
    if (!value || *value > kDayMs / kResendMs) return false;
    s.protocol.reliability.peer_timeout = *value ? *value * kResendMs * kMs : protocol::kNever;
    return true;
  }
  static std::string print(const S& s) {
    if (s.protocol.reliability.peer_timeout == protocol::kNever) return "0";
    // 0 would mean no limit.
    return std::to_string((s.protocol.reliability.peer_timeout + kResendMs * kMs - 1) / (kResendMs * kMs));
  }
  static std::string accepted() { return number_accepted(0, kDayMs / kResendMs) + "; 0 = no limit"; }
};

struct MediumSendq {
  static bool parse(std::string_view text, S& s) {
    const auto value = boolean_parse(text);
    if (!value) return false;
    if (!*value) s.protocol.send_buffer_bytes = 0;
    if (*value && !s.protocol.send_buffer_bytes) s.protocol.send_buffer_bytes = Config().send_buffer_bytes;
    return true;
  }
  static std::string print(const S& s) { return s.protocol.send_buffer_bytes ? "1" : "0"; }
  static std::string accepted() { return "0 or 1"; }
};

// A limit of this endpoint, or a share of the host's memory for all processes together.
struct UnexpectedBytes : Bytes<&Config::buffer_bytes, 1 << 20, 1024 * kGiB> {
  static bool parse(std::string_view text, S& s) {
    s.protocol.buffer_grows = text == "auto";
    return s.protocol.buffer_grows || Bytes::parse(text, s);
  }
  static std::string print(const S& s) { return s.protocol.buffer_grows ? "auto" : Bytes::print(s); }
  static std::string accepted() {
    return "auto (a quarter of the memory of host or cgroup, for all processes together), or " +
           Bytes::accepted();
  }
};

struct Report {
  static bool parse(std::string_view text, S& s) {
    if (text != "0" && text != "1" && text != "json") return false;
    s.report = text == "0" ? ReportKind::off : text == "1" ? ReportKind::line : ReportKind::json;
    return true;
  }
  static std::string print(const S& s) {
    return s.report == ReportKind::off ? "0" : s.report == ReportKind::line ? "1" : "json";
  }
  static std::string accepted() { return "0, 1, or json"; }
};

// A board name "HOST:N" has at most 80 bytes including the NUL.
struct HostName : Text<&S::hostname> {
  static bool parse(std::string_view text, S& s) {
    const auto bad = [](char c) { return c <= ' ' || c == ':' || c == 0x7f; };
    if (text.size() > 72 || std::any_of(text.begin(), text.end(), bad)) return false;
    return Text::parse(text, s);
  }
  static std::string accepted() { return "a name of at most 72 characters without spaces and ':'"; }
};

struct Prefix : Text<&S::verbose_prefix> {
  static bool parse(std::string_view text, S& s) {
    return verbose_prefix_expand(std::string(text), {}) && Text::parse(text, s);
  }
  static std::string accepted() {
    return "1, or a text with %p (process), %e (endpoint), %b (board), %B (interface), %H (host), %B[a-b], "
           "%H[a-b]";
  }
};

struct LogFile : Text<&S::log_file> {
  static bool parse(std::string_view text, S& s) { return log_file_name(text) && Text::parse(text, s); }
  static std::string accepted() {
    return "a path, in which %h is the host, %p the process, %% a percent sign";
  }
};

struct Progress {
  static bool parse(std::string_view text, S& s) {
    if (text == "off" || text == "0")
      s.waiting.progress = ProgressMode::off;
    else if (text == "auto" || text == "1")
      s.waiting.progress = ProgressMode::automatic;
    else if (text == "always")
      s.waiting.progress = ProgressMode::always;
    else
      return false;
    return true;
  }
  static std::string print(const S& s) { return progress_name(s.waiting.progress); }
  static std::string accepted() { return "off, auto or always"; }
};

struct ModerationChoice {
  static bool parse(std::string_view text, S& s) {
    const auto strategies = Strategies::parse(text);
    if (strategies) s.waiting.moderation = *strategies;
    return strategies.has_value();
  }
  static std::string print(const S& s) { return s.waiting.moderation.print(); }
  static std::string accepted() {
    return "frame, timer, message, stream or adaptive; for some endpoints apart, each once, like "
           "adaptive,0:message";
  }
};

struct ProgressCpus : Text<&WaitSettings::progress_cpus> {
  static bool parse(std::string_view text, S& s) {
    if (text != "auto" && text != "inherit") {
      const std::vector<int> cpus = cpu_list_parse(text);
      if (cpus.empty() || *std::max_element(cpus.begin(), cpus.end()) >= processor_numbers()) return false;
    }
    return Text::parse(text, s);
  }
  static std::string accepted() {
    return "auto, inherit, or processors like 0,2-5, of which this host has 0 to " +
           std::to_string(processor_numbers() - 1);
  }
};

struct ProcessBinding {
  static bool parse(std::string_view text, S& s) {
    const auto setting = steering::binding_setting_parse(text);
    if (setting) s.binding = *setting;
    return setting.has_value();
  }
  static std::string print(const S& s) { return steering::binding_setting_text(s.binding); }
  static std::string accepted() { return steering::kBindingAccepted; }
};

template <class Kind>
constexpr Tunable row(const char* variable, const char* aliases, const char* help, bool in_file = true) {
  return {variable, aliases, help, Kind::parse, Kind::print, Kind::accepted, in_file};
}

// If two rows set the same field, the later row wins within one source.
constexpr Tunable kTunables[] = {
    // Sources of settings, and messages.
    row<Text<&S::config_file>>("OMX_CONFIG", "", "configuration file; default /etc/open-mx/open-mx.conf",
                               false),
    row<Boolean<&S::ignore_mx_env>>("OMX_IGNORE_MX_ENV", "", "1 = the MX_ variables have no effect"),
    row<Number<&S::verbose, 0, 9>>(
        "OMX_VERBOSE", "MX_VERBOSE",
        "what is printed: 0 = warnings, 1 = also a line about each process, 2 = also facts about peers"),
    row<Prefix>("OMX_VERBOSE_PREFIX", "", "text before each message; 1 = host and process"),
    row<LogFile>("OMX_LOG_FILE", "",
                 "messages go to this file, with the time; warnings and errors also go to stderr"),
    row<Report>(
        "OMX_REPORT", "",
        "1 = one line on stderr at the end of a job: links, messages by path, repeats; json = as JSON"),
    row<Boolean<&S::errors_are_fatal>>(
        "OMX_FATAL_ERRORS", "MX_ERRORS_ARE_FATAL",
        "1 = the initial error handler ends the process, 0 = it returns the code"),
    row<Number<&S::abort_sleep_s, 0, 86400>>("OMX_ABORT_SLEEPS", "",
                                             "seconds that the fatal error handler sleeps before the end"),

    // Boards, endpoints, names.
    row<Text<&S::interfaces>>(
        "OMX_INTERFACES", "",
        "interfaces to use, separated by commas: names, MAC or PCI addresses, networks (10.1.0.0/16), "
        "speed>=10g, or all; empty = every Ethernet interface that is up"),
    row<Text<&S::rails>>(
        "OMX_RAILS", "",
        "boards that an endpoint uses together, at most 4: all, or as OMX_INTERFACES; empty = one"),
    row<HostName>("OMX_HOSTNAME", "", "host part of the names of our boards"),
    row<Text<&S::peers_file>>("OMX_PEERS_FILE", "",
                              "file with names of NICs, one \"MAC NAME\" a line; default /etc/open-mx/peers"),
    row<Text<&S::peers>>("OMX_PEERS", "", "more names of NICs: MAC NAME, MAC NAME"),
    row<Number<&S::discovery_ms, 0, 600000>>(
        "OMX_DISCOVERY_MS", "", "milliseconds that a look-up may ask other hosts for a name; 0 = never ask"),
    row<Number<&S::endpoints_max, 1, 256>>("OMX_ENDPOINTS_MAX", "", "number of endpoints on each board"),
    row<Number<&S::own_sockets, 0, 256>>(
        "OMX_OWN_SOCKETS", "OMX_OWN_HOOKS",
        "endpoints of an interface with packet sockets of their own; later ones share a group; 256 = all"),
    row<AnyEndpoint>("OMX_ANY_ENDPOINT", "", "endpoint that is opened if the program asks for any"),
    row<ContextIds>("OMX_CTXIDS", "",
                    "bits of the match information that hold the context id, if the program names none"),
    row<Boolean<&S::disable_self>>(
        "OMX_DISABLE_SELF", "MX_DISABLE_SELF",
        "1 = messages of an endpoint to itself complete like those to other endpoints: short ones at once"),
    row<Boolean<&S::disable_shared>>(
        "OMX_DISABLE_SHARED", "MX_DISABLE_SHMEM MX_DISABLE_SHARED",
        "has no effect: no switch sends messages back to the host from which they came"),
    row<Boolean<&IntraNodeSettings::enabled>>(
        "OMX_LOCAL", "", "0 = frames to NICs of this host also leave by the cable (for tests)"),
    row<Boolean<&IntraNodeSettings::one_copy>>(
        "OMX_LOCAL_DIRECT", "",
        "0 = large messages inside this host always take two copies, never one from the sender's memory"),
    row<LocalThreshold>("OMX_LOCAL_RNDV_THRESHOLD", "OMX_SHARED_RNDV_THRESHOLD",
                        "larger messages inside the host go by rendezvous; auto = as measured"),

    // Packets and links.
    row<WireMode>("OMX_WIRE_MODE", "", "packet sizes: omx or mxoe; must be the same on all hosts"),
    row<Boolean<&Config::extension>>("OMX_EXTENSION", "",
                                     "1 = agree with the peer on frame sizes and features, if it can"),
    row<Boolean<&Config::checksum>>("OMX_CHECKSUM", "",
                                    "1 = CRC-32C on every frame, if the peer sets it, too"),
    row<LinkChoice>(
        "OMX_LINK", "",
        "link that carries messages: ethernet, udp, udp4, udp6, or auto = ethernet where permitted, "
        "otherwise udp; the same on all hosts; each host may choose xdp instead of ethernet"),
    row<BrokerChoice>("OMX_BROKER", "",
                      "whether the host's broker is asked for raw frames without CAP_NET_RAW: auto, off or "
                      "its path"),
    row<XdpModeChoice>("OMX_XDP_MODE", "",
                       "what AF_XDP requires of the driver: shared memory, running our program, or nothing"),
    row<XdpQueue>("OMX_XDP_QUEUE", "", "receive queue that a process uses with AF_XDP"),
    row<Boolean<&XdpSettings::multi_buffer>>(
        "OMX_XDP_MULTI_BUFFER", "",
        "AF_XDP frames: 1 = of any size where the kernel supports it, 0 = of at most 3840 bytes"),
    row<Boolean<&XdpSettings::busy_poll>>("OMX_XDP_BUSY_POLL", "",
                                          "1 = a process that polls AF_XDP makes the driver poll, too"),
    row<Number<&S::udp_port, 1024, 65024>>("OMX_UDP_PORT", "",
                                           "first of the 512 UDP ports for the endpoints of an interface, if "
                                           "messages go by UDP; must be the same on all hosts"),
    row<Boolean<&S::udp_bulk>>("OMX_UDP_BULK", "OMX_UDP_LANE",
                               "1 = large messages go by UDP in batches, if both ends are in one IP network"),
    row<Boolean<&S::gso_frames>>("OMX_GSO_FRAMES", "",
                                 "1 = large and medium messages by UDP go in frames of up to 64 KiB, if the "
                                 "network delivers batches whole"),
    row<ZerocopyChoice>(
        "OMX_ZEROCOPY", "",
        "1 = frames of 16 KiB and more of large messages by UDP leave without a copy, if the kernel can, and "
        "raw frames of 4 KiB and more by a ring; 0 = the kernel copies all"),
    row<Boolean<&Reliability::marks>>(
        "OMX_ECN", "",
        "1 = queues may mark what goes by UDP instead of dropping it (ECN), and senders then send less"),
    row<Boolean<&Config::coalesce>>("OMX_COALESCE", "OMX_PACK",
                                    "1 = short messages in a burst share frames, as do requests, reports and "
                                    "acknowledgements of large ones; only to peers that set it, too"),
    row<Bytes<&Config::rndv_threshold, 128, kGiB>>("OMX_RNDV_THRESHOLD", "",
                                                   "larger messages go by rendezvous"),
    row<Bytes<&Config::bulk_rndv_threshold, 128, kGiB>>(
        "OMX_BULK_RNDV_THRESHOLD", "OMX_LANE_RNDV_THRESHOLD",
        "larger messages go by rendezvous to peers that take frames in batches by UDP, or frames of 32 KiB "
        "and more, if this is higher"),
    row<Bytes<&Config::unscheduled_bytes, 0, 65536>>(
        "OMX_UNSCHEDULED_BYTES", "OMX_UNASKED_BYTES",
        "bytes of a large message that may leave before its receiver asks for them; 0 = none"),

    // Reliability.
    row<Number<&Config::buffered_sends_max, 0, 1000000>>(
        "OMX_ZOMBIE_SEND", "MX_ZOMBIE_SEND MX_ZOMBIE",
        "sends that may complete before they are acknowledged"),
    row<Number<&Reliability::notacked_max, 1, 8191>>(
        "OMX_NOTACKED_MAX", "MX_IMM_ACK",
        "messages after which an acknowledgement is sent at once, to peers without the extension"),
    row<Number<&Reliability::notacked_max_extended, 1, 8191>>(
        "OMX_NOTACKED_MAX_EXTENDED", "",
        "messages after which an acknowledgement is sent at once, to peers with the extension"),
    row<ResendsMax>("OMX_RESENDS_MAX", "MX_MAX_RETRIES",
                    "half seconds of silence after which a peer is given up"),
    row<Duration<&Reliability::peer_timeout, kMs, 0, kDayMs, true>>(
        "OMX_PEER_TIMEOUT_MS", "", "milliseconds of silence after which a peer is given up"),
    row<Duration<&Reliability::connect_timeout, kMs, 0, kDayMs, true>>(
        "OMX_CONNECT_TIMEOUT_MS", "", "milliseconds after which an unanswered connect ends"),
    row<Duration<&Reliability::ack_delay, kUs, 1, 10'000'000>>(
        "OMX_ACK_DELAY_US", "",
        "microseconds that an acknowledgement waits for a message, to peers without the extension"),
    row<Duration<&Reliability::ack_delay_extended, kUs, 1, 10'000'000>>(
        "OMX_ACK_DELAY_EXTENDED_US", "",
        "microseconds that an acknowledgement waits for a message, to peers with the extension"),
    row<Duration<&Reliability::resend_delay, kMs, 1, 600'000>>(
        "OMX_RESEND_DELAY_MS", "",
        "milliseconds after which a message is sent again, to peers without the extension"),
    row<Duration<&Reliability::resend_delay_extended, kMs, 1, 600'000>>(
        "OMX_RESEND_DELAY_EXTENDED_MS", "",
        "milliseconds after which a message is sent again, to peers with the extension, at first"),
    row<Duration<&Reliability::resend_delay_least, kUs, 1, 600'000'000>>(
        "OMX_RESEND_DELAY_LEAST_US", "",
        "later that delay follows the round trip, and is at least so many microseconds"),
    row<Duration<&Reliability::resend_delay_max, kMs, 1, 600'000>>(
        "OMX_RESEND_DELAY_MAX_MS", "",
        "milliseconds up to which the delay doubles when a message is sent again and again"),
    row<Duration<&Reliability::pull_delay, kMs, 1, 600'000>>(
        "OMX_PULL_DELAY_MS", "",
        "milliseconds until missing parts of a large message "
        "are requested again, peers without the extension"),
    row<Duration<&Reliability::pull_delay_extended, kMs, 1, 600'000>>(
        "OMX_PULL_DELAY_EXTENDED_MS", "",
        "milliseconds until missing parts are requested again, peers with the extension, at first"),
    row<Duration<&Reliability::keepalive_delay, kMs, 1, 600'000>>(
        "OMX_KEEPALIVE_MS", "",
        "milliseconds after which a silent peer that owes an answer is asked for a sign of life"),

    // Memory.
    row<UnexpectedBytes>(
        "OMX_UNEXP_BYTES", "",
        "memory of an endpoint for messages without a receive; the data of others stay at their senders"),
    row<Bytes<&Config::send_buffer_bytes, 0, 64 * kGiB>>(
        "OMX_SEND_BUFFER_BYTES", "", "memory for copies of medium sends, which therefore complete at once"),
    row<MediumSendq>("OMX_MEDIUM_SENDQ", "",
                     "0 = medium sends are not copied, and complete when they are acknowledged"),
    row<Number<&Config::eager_frames, 1, 65535>>(
        "OMX_EAGER_FRAMES", "", "eager frames that a peer may send us before we acknowledge them"),
    row<Number<&Config::pull_blocks, 1, 64>>("OMX_PULL_BLOCKS", "",
                                             "blocks of a large message that are in flight at the same time"),
    row<Bytes<&Config::pull_window_bytes, 65536, kGiB>>(
        "OMX_PULL_WINDOW_BYTES", "", "bytes of all large messages that may be in flight at the same time"),
    row<Boolean<&Config::pull_quiet>>(
        "OMX_PULL_QUIET", "",
        "0 = the end of every block of a large message may wake a sleeper, as by the original; "
        "1 = only ends after which the receiver has something to do"),
    row<Number<&S::ring_frames, 16, 1 << 20>>("OMX_RING_FRAMES", "", "number of frames in the receive ring"),
    row<Bytes<&S::ring_bytes, 65536, kGiB>>("OMX_RING_BYTES", "", "upper limit of the receive ring's size"),

    // Copies of arriving data.
    row<PlacementChoice>("OMX_PLACEMENT", "",
                         "what places arriving large messages: the kernel, or copies from the receive ring"),
    row<CopyEngineChoice>("OMX_COPY_ENGINE", "", "what copies large messages from the receive ring"),
    row<CopyChannels>("OMX_COPY_CHANNELS", "",
                      "helper threads or DSA queues of an endpoint; each message is copied by one of them"),
    row<CopyMinMessage>("OMX_COPY_MIN_MESSAGE", "", "a copy engine copies messages of at least this size"),
    row<Boolean<&CopySettings::medium>>(
        "OMX_COPY_MEDIUM", "",
        "1 = a copy engine copies fragments of medium messages as well, of at least OMX_COPY_MIN_PIECE"),
    row<CopyMinPiece>("OMX_COPY_MIN_PIECE", "", "a copy engine copies pieces of at least this size"),
    row<CopyMinWaited>(
        "OMX_COPY_MIN_WAITED", "",
        "inside this host, where each copy is waited for, a copy engine copies messages from this size on"),
    row<CopyWarm>("OMX_COPY_WARM", "",
                  "first bytes of each message that the processor copies itself, to have them in its cache"),

    // Waiting.
    row<Number<&WaitSettings::spin_us, 0, 10'000'000>>(
        "OMX_SPIN_US", "", "microseconds that a thread polls at most before it sleeps"),
    row<Number<&WaitSettings::slice_us, 0, 100'000>>(
        "OMX_SLICE_US", "",
        "microseconds of the time slice that a thread asks for when it first sleeps, at least 100; 0 = none"),
    row<Boolean<&WaitSettings::spin_forever>>("OMX_WAITSPIN", "", "1 = threads never sleep"),
    row<Boolean<&WaitSettings::interruptible>>("OMX_WAITINTR", "",
                                               "1 = a signal ends a wait as if it had timed out"),
    row<ModerationChoice>("OMX_MODERATION", "",
                          "what wakes a sleeping thread: every frame, a timer, or the end of a message"),
    row<Number<&WaitSettings::moderation_us, 10, 1'000'000>>(
        "OMX_MODERATION_US", "",
        "microseconds after which a sleeping thread polls a stream whose frames do not wake it"),
    row<Progress>("OMX_PROGRESS", "",
                  "progress thread for times without calls: off, auto, or always (every frame wakes it)"),
    row<ProgressCpus>(
        "OMX_PROGRESS_CPUS", "",
        "where that thread runs: as the application (inherit), also beside it (auto), or a list"),
    row<ProcessBinding>("OMX_PROCESS_BINDING", "",
                        "processor of a thread that opens an endpoint: auto = the one that receives its "
                        "frames, or a neighbour; off = not bound"),
    row<Number<&S::close_linger_ms, 0, 600'000>>(
        "OMX_CLOSE_LINGER_MS", "",
        "milliseconds that closing an endpoint waits for acknowledgements, at most"),
};

}  // namespace

std::span<const Tunable> tunables() {
  return kTunables;
}

namespace {

constexpr std::string_view kOwnPrefix = "OMX_";
constexpr std::string_view kOlder = "OMX_SHARED_RNDV_THRESHOLD";  // of Open-MX 1.x; counts like those of MX

std::vector<std::string> aliases_of(const Tunable& tunable, bool own) {
  std::vector<std::string> found;
  for (std::string_view all = tunable.aliases; !all.empty();) {
    const std::size_t space = std::min(all.find(' '), all.size());
    const std::string_view alias = all.substr(0, space);
    all.remove_prefix(std::min(space + 1, all.size()));
    if ((alias.starts_with(kOwnPrefix) && alias != kOlder) == own) found.emplace_back(alias);
  }
  return found;
}

}  // namespace

std::vector<std::string> tunable_own_names(const Tunable& tunable) {
  auto names = aliases_of(tunable, true);
  names.insert(names.begin(), tunable.variable);
  return names;
}

std::vector<std::string> tunable_mx_names(const Tunable& tunable) {
  return aliases_of(tunable, false);
}

std::string tunable_key(std::string_view variable) {
  std::string key(variable.substr(kOwnPrefix.size()));
  for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return key;
}

}  // namespace omx::runtime

// SPDX-License-Identifier: BSD-3-Clause
// Tunables: built-in defaults, then the configuration file, then the environment (OMX_* first, MX_* aliases
// unless OMX_IGNORE_MX_ENV=1). Table of names: docs/spec/protocol.md 19.1 and docs. Malformed values are
// failures that name the variable or file:line, the value, and what is accepted; unknown keys in the file
// too. Other software uses MX_ names as well: empty ones count as unset, malformed ones are warnings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "config/strategy.h"
#include "copy/engines.h"
#include "netdev/xdp_mode.h"
#include "protocol/config.h"
#include "steering/binding_setting.h"

namespace omx::runtime {

// As protocol::Config, but a peer that says nothing for five minutes is given up: a host that is stopped, or
// a switch that restarts, is back by then. One that never answered is not waited for as long.
inline protocol::Config protocol_defaults() {
  protocol::Config config;
  config.peer_timeout = 300'000 * protocol::kMillisecond;
  config.connect_timeout = 30'000 * protocol::kMillisecond;
  return config;
}

// Who looks after an endpoint while the application does not call: nobody; a thread that notices; a thread
// that every frame wakes.
enum class ProgressMode : std::uint8_t { off, automatic, always };

// What carries our frames: raw Ethernet where this process may, else UDP; or always one of them. xdp is raw
// Ethernet by other sockets.
enum class LinkKind : std::uint8_t { automatic, ethernet, xdp, udp, udp4, udp6 };

// Who puts the data of large messages into their place: the kernel, when it hands them over; or we, or a copy
// engine, from the receive ring; or whatever is cheaper.
enum class Placement : std::uint8_t { automatic, kernel, ring };

struct Settings {
  protocol::Config protocol = protocol_defaults();     // identity fields are filled when an endpoint opens
  std::string interfaces;                              // OMX_INTERFACES: see netdev/interfaces.h
  const char* interfaces_variable = "OMX_INTERFACES";  // whose value that is, for errors
  std::string rails;             // OMX_RAILS: interfaces that an endpoint uses together; "all"; empty: one
  std::string peers_file;        // OMX_PEERS_FILE; default /etc/open-mx/peers if it exists
  std::string peers;             // OMX_PEERS: "MAC NAME, MAC NAME"
  std::string hostname;          // OMX_HOSTNAME: instead of gethostname() in board names
  bool errors_are_fatal = true;  // OMX_FATAL_ERRORS
  bool disable_self = false;     // see protocol::Config::self_as_others
  bool disable_shared = false;
  bool local = true;                       // OMX_LOCAL: endpoints of this host by shared memory
  bool local_direct = true;                // OMX_LOCAL_DIRECT: their large messages by one copy
  std::uint32_t local_rndv_threshold = 0;  // OMX_LOCAL_RNDV_THRESHOLD; 0: as measured
  std::int64_t any_endpoint = -1;          // OMX_ANY_ENDPOINT
  std::uint32_t own_hooks = 4;             // OMX_OWN_HOOKS: endpoints of an interface that share none
  std::uint32_t endpoints_max = 256;       // OMX_ENDPOINTS_MAX, per board, <= 256
  std::uint32_t spin_us = 100;  // OMX_SPIN_US: busy wait before sleeping; OMX_WAITSPIN=1 never sleeps
  bool spin_forever = false;
  bool wait_intr = false;                             // OMX_WAITINTR
  Strategies moderation;                              // OMX_MODERATION: which frames wake a sleeper
  std::uint32_t moderation_us = 500;                  // OMX_MODERATION_US: so long it lets the others pass
  ProgressMode progress = ProgressMode::automatic;    // OMX_PROGRESS
  std::string progress_cpus = "auto";                 // OMX_PROGRESS_CPUS
  steering::BindingSetting binding;                   // OMX_PROCESS_BINDING
  std::uint32_t close_linger_ms = 1000;               // OMX_CLOSE_LINGER_MS: for unacknowledged sends
  LinkKind link = LinkKind::automatic;                // OMX_LINK
  link::XdpMode xdp_mode = link::XdpMode::automatic;  // OMX_XDP_MODE
  int xdp_queue = link::kAnyQueue;                    // OMX_XDP_QUEUE: of the interface
  bool xdp_multi_buffer = true;                       // OMX_XDP_MULTI_BUFFER: frames larger than a page
  bool xdp_busy_poll = false;                         // OMX_XDP_BUSY_POLL
  std::uint16_t udp_port = 27200;                     // OMX_UDP_PORT: of endpoint 0, and 511 that follow
  bool udp_lane = true;                               // OMX_UDP_LANE: large messages by UDP beside the frames
  copy::EngineKind copy_engine = copy::EngineKind::automatic;  // OMX_COPY_ENGINE
  Placement placement = Placement::automatic;                  // OMX_PLACEMENT
  std::uint32_t copy_min_message = 64U << 10;                  // OMX_COPY_MIN_MESSAGE
  std::uint32_t copy_min_piece = 0;                            // OMX_COPY_MIN_PIECE; 0: as measured
  std::uint32_t copy_min_waited = 1U << 20;                    // OMX_COPY_MIN_WAITED
  std::uint32_t copy_warm = 0;                                 // OMX_COPY_WARM
  std::uint32_t ring_frames = 1024;                            // OMX_RING_FRAMES
  std::uint32_t ring_bytes = 32U << 20;
  std::uint32_t discovery_ms = 1000;     // OMX_DISCOVERY_MS: how long a name look-up may ask the network
  int verbose = 0;                       // OMX_VERBOSE: 1 = one line a process, 2 = info lines too
  std::string verbose_prefix = "OMX: ";  // OMX_VERBOSE_PREFIX, not expanded; see verbose_prefix_expand
  std::string log_file;                  // OMX_LOG_FILE, not expanded; see base/log_file.h
  std::uint32_t abort_sleep_s = 0;  // OMX_ABORT_SLEEPS: the fatal error handler sleeps first (for a debugger)
  bool ignore_mx_env = false;       // OMX_IGNORE_MX_ENV
  std::string config_file;          // the file that was read; empty: none
  std::vector<std::string> origins;   // of each tunable: who set it last; empty: nobody
  std::vector<std::string> warnings;  // what had no effect; printed by whoever loads
};

// Which OMX_CONFIG may replace.
inline constexpr const char* kDefaultConfigFile = "/etc/open-mx/open-mx.conf";

const char* progress_name(ProgressMode mode);
const char* link_name(LinkKind kind);
const char* placement_name(Placement placement);
std::optional<LinkKind> link_parse(std::string_view text);

using GetEnv = std::function<const char*(const char*)>;

// `path` empty: OMX_CONFIG, else /etc/open-mx/open-mx.conf if it exists.
Result<Settings> settings_load(const GetEnv& getenv, const std::string& path = "");
// The same; where it fails, `settings` says what was read before.
Result<void> settings_read(const GetEnv& getenv, const std::string& path, Settings& settings);

// --- settings_environment.cc: those of this process; warns, once of each, of what has no effect ---
Result<Settings> settings_load();
Result<void> settings_read(Settings& settings);
// Whether a variable of the environment sets something of ours, well or not.
bool settings_in_environment();
// A warning for each OMX_ variable of an environment that nobody knows.
std::vector<std::string> settings_unknown(const char* const* environment);

// One row per tunable: for `omx info --settings` and the documentation check.
struct SettingRow {
  const char* variable;
  const char* alias;  // MX_ names with spaces between them, or ""
  const char* help;
  std::string value;     // as in force
  std::string key;       // in the file; empty: only the environment can set it
  std::string accepted;  // values, with their unit
  std::string
      origin;  // "default", "environment", "MX_... in the environment", "FILE:LINE", "another setting"
};
std::vector<SettingRow> settings_rows(const Settings& settings);

// What %p %e %b %B %H in the prefix of log lines stand for. Endpoint and board are those of the first
// endpoint that the process opened: nearly all programs have one.
struct PrefixFacts {
  int pid = 0;
  std::string host;
  std::string endpoint = "-", board = "-", board_name = "-";
};
// "[a-b]" behind %B or %H keeps the characters a to b (from 0). "1" stands for "OMX:%H:%p ".
// nullopt: not a prefix (an unknown % letter, a bad range).
std::optional<std::string> verbose_prefix_expand(const std::string& format, const PrefixFacts& facts);

}  // namespace omx::runtime

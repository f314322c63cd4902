// SPDX-License-Identifier: BSD-3-Clause
// The settings of a process, with the built-in defaults. Their names are in settings_table.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/setting_enums.h"
#include "config/strategy.h"
#include "copy/engines.h"
#include "netdev/xdp_mode.h"
#include "netdev/zerocopy_mode.h"
#include "protocol/config.h"
#include "steering/binding_setting.h"

namespace omx::runtime {

// Returns the defaults of protocol::Config, except that a peer is given up after five silent minutes. A host
// that is stopped, or a switch that restarts, is back by then. A peer that never answered is given up
// sooner.
inline protocol::Config protocol_defaults() {
  protocol::Config config;
  config.reliability.peer_timeout = 300'000 * protocol::kMillisecond;
  config.reliability.connect_timeout = 30'000 * protocol::kMillisecond;
  return config;
}

// Messages between endpoints of this host.
struct IntraNodeSettings {
  bool enabled = true;               // OMX_LOCAL: by shared memory
  bool one_copy = true;              // OMX_LOCAL_DIRECT: large messages by one copy
  std::uint32_t rndv_threshold = 0;  // OMX_LOCAL_RNDV_THRESHOLD; 0: as measured
};

// How threads wait, and what goes on while none does.
struct WaitSettings {
  std::uint32_t spin_us = 100;                      // OMX_SPIN_US: busy wait before sleeping
  std::uint32_t slice_us = 0;                       // OMX_SLICE_US: of threads that sleep; 0: as it is
  bool spin_forever = false;                        // OMX_WAITSPIN: never sleep
  bool interruptible = false;                       // OMX_WAITINTR: a signal ends a wait
  Strategies moderation;                            // OMX_MODERATION: which frames wake a sleeping thread
  std::uint32_t moderation_us = 500;                // OMX_MODERATION_US: how long other frames may wait
  ProgressMode progress = ProgressMode::automatic;  // OMX_PROGRESS
  std::string progress_cpus = "auto";               // OMX_PROGRESS_CPUS
};

struct XdpSettings {
  link::XdpMode mode = link::XdpMode::automatic;  // OMX_XDP_MODE
  int queue = link::kAnyQueue;                    // OMX_XDP_QUEUE: of the interface
  bool multi_buffer = true;                       // OMX_XDP_MULTI_BUFFER: frames larger than a page
  bool busy_poll = false;                         // OMX_XDP_BUSY_POLL
};

// Which pieces a copy engine gets.
struct CopySettings {
  copy::EngineKind engine = copy::EngineKind::automatic;  // OMX_COPY_ENGINE
  static constexpr std::uint32_t kAutomatic = ~0U;
  std::uint32_t min_message = kAutomatic;  // OMX_COPY_MIN_MESSAGE
  std::uint32_t min_piece = 0;             // OMX_COPY_MIN_PIECE; 0: as measured
  std::uint32_t min_waited = kAutomatic;   // OMX_COPY_MIN_WAITED
  std::uint32_t warm = kAutomatic;         // OMX_COPY_WARM
  bool medium = false;                     // OMX_COPY_MEDIUM
  std::uint32_t channels = 0;              // OMX_COPY_CHANNELS; 0: automatic
};

struct Settings {
  protocol::Config protocol = protocol_defaults();     // identity fields are filled when an endpoint opens
  std::string interfaces;                              // OMX_INTERFACES: see netdev/interfaces.h
  const char* interfaces_variable = "OMX_INTERFACES";  // the variable that set `interfaces`, for errors
  std::string rails;             // OMX_RAILS: interfaces that an endpoint uses together; "all"; empty: one
  std::string peers_file;        // OMX_PEERS_FILE; default /etc/open-mx/peers if it exists
  std::string peers;             // OMX_PEERS: "MAC NAME, MAC NAME"
  std::string hostname;          // OMX_HOSTNAME: instead of gethostname() in board names
  bool errors_are_fatal = true;  // OMX_FATAL_ERRORS
  bool disable_self = false;     // see protocol::Config::self_as_others
  bool disable_shared = false;
  IntraNodeSettings intra_node;
  std::int64_t any_endpoint = -1;  // OMX_ANY_ENDPOINT
  std::uint32_t own_sockets =
      4;  // OMX_OWN_SOCKETS: endpoints of an interface that are in no packet fanout group
  std::uint32_t endpoints_max = 256;  // OMX_ENDPOINTS_MAX, per board, <= 256
  WaitSettings waiting;
  steering::BindingSetting binding;      // OMX_PROCESS_BINDING
  std::uint32_t close_linger_ms = 1000;  // OMX_CLOSE_LINGER_MS: how long to wait for acknowledgements
  LinkKind link = LinkKind::automatic;   // OMX_LINK
  std::string broker = "auto";           // OMX_BROKER: auto, off or a path
  XdpSettings xdp;
  std::uint16_t udp_port = 27200;  // OMX_UDP_PORT: of endpoint 0; the next 511 follow
  bool udp_bulk = true;            // OMX_UDP_BULK: large messages by UDP beside the frames
  bool gso_frames = true;          // OMX_GSO_FRAMES: of such batches only the first datagram has a header
  link::ZerocopyMode zerocopy = link::ZerocopyMode::automatic;  // OMX_ZEROCOPY
  CopySettings copy;
  Placement placement = Placement::automatic;  // OMX_PLACEMENT
  std::uint32_t ring_frames = 1024;            // OMX_RING_FRAMES
  std::uint32_t ring_bytes = 32U << 20;        // OMX_RING_BYTES
  std::uint32_t discovery_ms = 1000;     // OMX_DISCOVERY_MS: how long a name look-up may ask the network
  int verbose = 0;                       // OMX_VERBOSE: 1 = one line for each process, 2 = info lines too
  std::string verbose_prefix = "OMX: ";  // OMX_VERBOSE_PREFIX, not expanded; see verbose_prefix.h
  std::string log_file;                  // OMX_LOG_FILE, not expanded; see base/log_file.h
  ReportKind report = ReportKind::off;   // OMX_REPORT
  std::uint32_t abort_sleep_s = 0;  // OMX_ABORT_SLEEPS: the fatal error handler sleeps first (for a debugger)
  bool ignore_mx_env = false;       // OMX_IGNORE_MX_ENV
  std::string config_file;          // the file that was read; empty: none
  std::vector<std::string> origins;   // of each tunable: what set it last; empty: default
  std::vector<std::string> warnings;  // settings that had no effect; printed by settings_environment.h
};

// Read unless OMX_CONFIG names another file.
inline constexpr const char* kDefaultConfigFile = "/etc/open-mx/open-mx.conf";

}  // namespace omx::runtime

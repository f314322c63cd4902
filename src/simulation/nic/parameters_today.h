// SPDX-License-Identifier: BSD-3-Clause
// The same numbers for hosts of today, for docs/performance/beyond-the-papers.md: servers of 2023 with PCI
// Express 5. The design is still that of the papers, a driver in the kernel that is interrupted. A number is
//
//   published  by the named source (a manual, a paper, a kernel's table),
//   derived    from published numbers, as described,
//   measured   by this project (docs/performance/notebook.md),
//   papers     as in the papers' set, because it counts what the design does and not what hosts need for it,
//   assumed    for the reason given.
#pragma once

#include <algorithm>
#include <iterator>

#include "simulation/nic/parameters.h"

namespace omx::simulation::nic {

// name, value, kind, source
#define OMX_NIC_PARAMETERS_TODAY(X)                                                                          \
  X(link_bits, 100e9, "published", "IEEE 802.3; 10, 40, 100 and 400 Gb/s in the experiments")                \
  X(hardware_ns, 850, "published",                                                                           \
    "half a round trip of 32 bytes by verbs without the software of this model, 0.82 us (ib_send_lat, RC; "  \
    "D. Potter's thesis), and a little for the interrupt vector")                                            \
  X(dma_latency_ns, 400, "assumed",                                                                          \
    "part of hardware_ns; a DMA's round trip took 0.5 to 1 us on PCIe 3.0 (pcie-bench, SIGCOMM 2018), a "    \
    "write needs one way")                                                                                   \
  X(switch_ns, 300, "assumed", "what vendors state for one switch of 100 to 400 Gb/s, from port to port")    \
  X(dma_rate, 55e9, "derived", "PCIe 5.0, 16 lanes: 63 GB/s, less 12 % for headers of 256 bytes' packets")   \
  X(ring_frames, 1024, "published", "default of the mlx5 driver (MLX5E_PARAMS_DEFAULT_LOG_RQ_SIZE, 10)")     \
  X(flow_control, 1, "assumed", "lossless Ethernet: what finds no descriptor waits")                         \
  X(timeout_ns, 16000, "published",                                                                          \
    "default of the mlx5 driver without its adaptive mode (MLX5E_PARAMS_DEFAULT_RX_CQ_MODERATION_USEC, 16)") \
  X(timeout_frames, 32, "published", "the same driver (..._RX_CQ_MODERATION_PKTS)")                          \
  X(adaptive_step_ns, 1000, "assumed", "a sixteenth of the delay, as in the papers' set")                    \
  X(off_frames, 64, "published", "weight of a NAPI handler")                                                 \
  X(multiqueue_ns, 0, "assumed", "hashing is done at line rate")                                             \
  X(poll_on, 1, "published", "NAPI: the handler goes on until it finds nothing")                             \
  X(irq_delivery_ns, 600, "assumed", "message-signalled, to the first instruction of the handler")           \
  X(irq_ns, 500, "assumed",                                                                                  \
    "entry and exit with mitigations, which a system call of 350 to 450 ns has as well, and the soft "       \
    "interrupt")                                                                                             \
  X(frame_ns, 208, "published",                                                                              \
    "one core dropped 4.8 million frames a second behind driver and socket buffer at 3.6 GHz (XDP, CoNEXT "  \
    "2018: raw table)")                                                                                      \
  X(handler_ns, 200, "derived",                                                                              \
    "of the measured 550 ns of our library from a frame to its answer, what is not library_ns")              \
  X(reply_ns, 200, "derived", "as handler_ns")                                                               \
  X(wake_ns, 2000, "published", "C1E of Sapphire Rapids (Linux intel_idle: C1 1 us, C1E 2, C6 290)")         \
  X(sleep_after_ns, 10000, "papers", "as in the papers' set")                                                \
  X(resume_ns, 300, "assumed", "as much less than in 2008 as an interrupt")                                  \
  X(line_shared_ns, 25, "assumed", "cores of one part of the last-level cache (EPYC: a core complex)")       \
  X(line_far_ns, 130, "assumed", "core to core over sockets of Xeons and EPYCs: 110 to 200 ns")              \
  X(line_socket_ns, 60, "assumed", "core to core within a Xeon of 2023: 50 to 80 ns")                        \
  X(event_lines, 10, "papers", "as in the papers' set")                                                      \
  X(state_lines, 12, "papers", "as in the papers' set")                                                      \
  X(memcpy_rate, 14e9, "measured", "omx_copy_bench, pieces of 4 to 9 KB out of cache: 14 to 20 GB/s")        \
  X(memcpy_cached_rate, 90e9, "measured", "omx_copy_bench, pieces of 4 to 9 KB in cache: 91 to 96 GB/s")     \
  X(bus_rate, 307e9, "published", "eight channels of DDR5-4800 of a socket of Sapphire Rapids")              \
  X(cache_bytes, 2097152, "published", "L2 of a core of Sapphire Rapids")                                    \
  X(local_shared_rate, 40e9, "assumed", "half of a copy in cache: the source is in another core's")          \
  X(local_far_rate, 14e9, "measured", "as memcpy_rate")                                                      \
  X(engine_submit_ns, 64, "measured",                                                                        \
    "omx_copy_bench: to hand a piece to a helper thread; a descriptor of a DSA is one 64-byte store, too")   \
  X(engine_rate, 30e9, "assumed", "DSA, one device: about what its paper of ASPLOS 2024 reports")            \
  X(engine_chunk, 2097152, "published", "max_transfer_size of a DSA's work queue as accel-config sets it")   \
  X(engine_split, 0, "derived", "virtual addresses: a frame is one descriptor")                              \
  X(engine_latency_ns, 1000, "assumed", "until the record that tells of the last copy is seen")              \
  X(engine_frame_least, 1024, "papers", "as in the papers' set")                                             \
  X(syscall_ns, 350, "published",                                                                            \
    "getpid with mitigations, 350 to 450 ns, 70 to 90 without (blog.i0.pm, 2023)")                           \
  X(transmit_ns, 250, "assumed", "of a frame; 4 million a second, half of what pktgen reaches with clones")  \
  X(transmit_data_ns, 300, "assumed", "the same and a reference to the sender's pages")                      \
  X(transmit_reply_ns, 300, "assumed", "as transmit_data_ns")                                                \
  X(transmit_lock_ns, 0, "published", "a queue to send for each core: drivers of today have them")           \
  X(transmit_queues, 8, "published", "one for each core")                                                    \
  X(library_ns, 175, "measured",                                                                             \
    "half of what is not handler_ns of 550 ns (docs/performance/notebook.md, a lone "                        \
    "message)")                                                                                              \
  X(mpi_ns, 150, "measured", "each side; 0.3 us of provider and Open MPI (docs/performance/notebook.md)")    \
  X(key_ns, 25, "papers", "not used")

inline Parameters parameters_today() {
  Parameters p;
#define X(name, value, kind, source) p.name = value;
  OMX_NIC_PARAMETERS_TODAY(X)
#undef X
  return p;
}

inline constexpr ParameterText kParameterTextsToday[] = {
#define X(name, value, kind, source) {#name, value, {}, kind, source},
    OMX_NIC_PARAMETERS_TODAY(X)
#undef X
};

// Returns the unit, which is that of the papers' set.
inline std::string_view unit_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kParameterTexts), std::end(kParameterTexts),
                                   [name](const ParameterText& p) { return p.name == name; });
  return found == std::end(kParameterTexts) ? std::string_view{} : found->unit;
}

}  // namespace omx::simulation::nic

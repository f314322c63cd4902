// SPDX-License-Identifier: BSD-3-Clause
// Every number of the model of NIC and host, with its unit and its source. docs/performance/evaluation.md
// prints this table. Papers: [C] interrupt coalescing, [Q] multiqueue (journal), [I] I/OAT copy offload, [J]
// Open-MX journal. A number is
//
//   given    by a paper's text,
//   derived  from numbers in a paper's text, as described,
//   fitted   so that one named figure comes out; that figure then proves nothing about the model,
//   assumed  because no paper gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace omx::simulation::nic {

// Two tables, one of cable, switch and NIC, one of the host: name, value, unit, kind, source.
#define OMX_NIC_DEVICE_PARAMETERS(X)                                                                         \
  X(link_bits, 9.953e9, "bit/s", "given",                                                                    \
    "[I] footnote 2: the actual data rate; two hosts without a switch, [J] 5.1")                             \
  X(hardware_ns, 2000, "ns", "derived", "[J] 3.2: latency of native MX, 2 us, is all hardware and firmware") \
  X(dma_latency_ns, 1500, "ns", "assumed",                                                                   \
    "part of hardware_ns, from a frame's descriptor to the end of its DMA; [C] IV-C4's 3 or 4 frames would " \
    "need about 4 us at line rate, more than all of hardware_ns")                                            \
  X(switch_ns, 300, "ns", "assumed", "through a switch, if there is one; the papers had none")               \
  X(dma_rate, 1.6e9, "B/s", "assumed", "PCI Express of eight lanes, first generation")                       \
  X(ring_frames, 1024, "frames", "assumed", "receive descriptors of a queue")                                \
  X(flow_control, 1, "0 or 1", "assumed",                                                                    \
    "1: a frame that finds no descriptor waits on the cable (Ethernet pause); 0: it is lost")                \
  X(timeout_ns, 75000, "ns", "given", "[C] IV-B1: default coalescing delay of Myri-10G")                     \
  X(timeout_frames, 0, "frames", "assumed", "that raise an interrupt before the delay is over; 0: none do")  \
  X(adaptive_step_ns, 5000, "ns", "assumed", "[C] VI names adaptive coalescing without figures")             \
  X(off_frames, 1, "frames", "assumed",                                                                      \
    "that one interrupt hands over while coalescing is off; [C] IV-B2 and Table V read as an interrupt a "   \
    "frame; Table II (92.4 for 162 frames) speaks against it")                                               \
  X(multiqueue_ns, 760, "ns", "fitted",                                                                      \
    "that several queues add to a frame in firmware, as latency; to [Q] Table I, S$: 10.10 - 9.34 us")       \
  X(poll_on, 0, "0 or 1", "fitted",                                                                          \
    "1: a handler goes on until it finds no frame; chosen by [C] Table III, degrees 1 and 3: a fragment "    \
    "that came after the interrupt waited for the next one")

#define OMX_NIC_HOST_PARAMETERS(X)                                                                           \
  X(irq_delivery_ns, 890, "ns", "fitted",                                                                    \
    "from the end of the DMA to the first instruction of the handler, unless that is still at work; to [Q] " \
    "Table I, 9.34 us on S$")                                                                                \
  X(irq_ns, 196, "ns", "derived", "[C] IV-B2: 965 ns a frame with an interrupt each, 774 ns without")        \
  X(frame_ns, 769, "ns", "derived", "[C] IV-B2: the same, without its share of the interrupts; the driver")  \
  X(handler_ns, 1200, "ns", "fitted",                                                                        \
    "Open-MX receive handler of short and medium messages and of requests; with transmit_ns to [C] Table "   \
    "I, 0 B, default: it keeps up with 490k/s")                                                              \
  X(reply_ns, 240, "ns", "fitted",                                                                           \
    "the same of a reply with data of a large message, without its copy; to the four figures of [I] Fig. 9 " \
    "(least squares of logarithms, in steps of 20 ns)")                                                      \
  X(wake_ns, 6500, "ns", "fitted", "to [Q] 4.3: idle processors raise 11 us to 15-20 us; the middle")        \
  X(sleep_after_ns, 10000, "ns", "assumed", "[C] IV-B1 says quickly")                                        \
  X(resume_ns, 1600, "ns", "fitted",                                                                         \
    "until an interrupted process runs on; to [Q] Table I: SC minus S$, 10.96 - 9.34 us")                    \
  X(line_shared_ns, 6, "ns", "assumed", "cache line from the other core of a shared cache: 14 cycles")       \
  X(line_far_ns, 98, "ns", "fitted",                                                                         \
    "cache line from any other core, by the front side bus; ten of them, event_lines, to [Q] Table I: SP "   \
    "minus S$, 10.32 - 9.34 us")                                                                             \
  X(line_socket_ns, 98, "ns", "fitted",                                                                      \
    "cache line from the other cache of the socket: the same bus, and the same difference")                  \
  X(event_lines, 10, "lines", "assumed",                                                                     \
    "from handler to library with each event; only its product with line_far_ns is fitted")                  \
  X(state_lines, 12, "lines", "fitted",                                                                      \
    "of endpoint and pull that follow the handler to another core; with line_far_ns to [Q] Table I: round "  \
    "robin, 11.4 us, minus the mean of the bound ones weighted by cores, 10.24 us")                          \
  X(memcpy_rate, 1.6106e9, "B/s", "given",                                                                   \
    "[I] IV-A: 1.5 GiB/s by chunks of a page (beside it 1.6 GiB/s; [J] 5.3: 1.5 GB/s)")                      \
  X(memcpy_cached_rate, 12.885e9, "B/s", "given", "[I] IV-A: 12 GiB/s in the cache")                         \
  X(bus_rate, 6.44e9, "B/s", "derived",                                                                      \
    "of the memory bus: [J] 5.6: contention in it costs up to a factor of 4; taken as that of eight cores "  \
    "that copy, which read and write 2 x 8 x memcpy_rate")                                                   \
  X(cache_bytes, 4194304, "B", "assumed", "L2 that two cores of a Xeon E5345 share")                         \
  X(local_shared_rate, 6.4425e9, "B/s", "given", "[I] IV-C: 6 GiB/s between processes of a shared cache")    \
  X(local_far_rate, 1.2885e9, "B/s", "given", "[I] IV-C: 1.2 GiB/s without one")                             \
  X(engine_submit_ns, 350, "ns", "given", "[I] IV-A: one descriptor")                                        \
  X(engine_rate, 2.577e9, "B/s", "given", "[I] IV-A: 2.4 GiB/s by chunks of 4 kB ([J] 5.3: 2.5 GB/s)")       \
  X(engine_chunk, 4096, "B", "given", "[I] IV-A: pages")                                                     \
  X(engine_split, 0.5, "chunks", "derived",                                                                  \
    "[I] IV-A: most copies consist of one or two chunks per page, so half a chunk more on average")          \
  X(engine_latency_ns, 0, "ns", "given", "[I] IV-A: to see that copies are done is negligible")              \
  X(engine_frame_least, 1024, "B", "given", "[I] IV-A: smaller ones are copied by the processor")            \
  X(syscall_ns, 100, "ns", "given", "[I] II-A, [J] 3.2: close to 100 ns")                                    \
  X(transmit_ns, 1020, "ns", "fitted",                                                                       \
    "of a frame; to [C] Table I, 0 B, default: 490k/s, less library, syscall and acknowledgements")          \
  X(transmit_data_ns, 3090, "ns", "fitted",                                                                  \
    "of a fragment of a medium message, with pages of the sender; between [C] Table III, correct order, "    \
    "156 us, and Table I, 32 "                                                                               \
    "KiB, 14507/s")                                                                                          \
  X(transmit_reply_ns, 1280, "ns", "fitted",                                                                 \
    "of a reply; to [C] Table V, is.C, default: handlers that keep up with 22.3 frames in 75 us have 3.36 "  \
    "us for each, less frame_ns, reply_ns, the copy of 1468 B, and shares of interrupt and request")         \
  X(transmit_lock_ns, 510, "ns", "assumed",                                                                  \
    "the part of each of these three that holds the lock of the host's only queue to send ([Q] Euro-Par 6 "  \
    "has one); half of transmit_ns")                                                                         \
  X(transmit_queues, 1, "queues", "given", "[Q] Euro-Par 6: cores share them in turn")                       \
  X(library_ns, 500, "ns", "assumed", "one event, or one send, in the library")                              \
  X(mpi_ns, 1000, "ns", "derived", "each side; [Q] 4.1: 8 us without MPI, close to 10 us with it")           \
  X(key_ns, 25, "ns", "fitted",                                                                              \
    "to rank a key of IS; to [J] Table 3: is.C.16 with MX, 4.57 s, less its transfers")

#define OMX_NIC_PARAMETERS(X)  \
  OMX_NIC_DEVICE_PARAMETERS(X) \
  OMX_NIC_HOST_PARAMETERS(X)

#define X(name, value, unit, kind, source) double name = value;
struct DeviceParameters {
  OMX_NIC_DEVICE_PARAMETERS(X)
};
struct HostParameters {
  OMX_NIC_HOST_PARAMETERS(X)
};
#undef X

struct Parameters : DeviceParameters, HostParameters {
  // Returns the parameter of that name, or nullptr if there is none.
  double* find(std::string_view wanted) {
#define X(name, value, unit, kind, source) \
  if (wanted == #name) return &name;
    OMX_NIC_PARAMETERS(X)
#undef X
    return nullptr;
  }
};

// The range of a value. Outside of it the model means nothing, or does not end.
struct Range {
  double least, most;
};
Range range_of(std::string_view name);

// Returns a sentence about a value that is out of its range, or about two that contradict each other. Returns
// an empty text if all are right.
std::string parameters_wrong(const Parameters& parameters);

struct ParameterText {
  std::string_view name;
  double value;
  std::string_view unit, kind, source;
};
inline constexpr ParameterText kParameterTexts[] = {
#define X(name, value, unit, kind, source) {#name, value, unit, kind, source},
    OMX_NIC_PARAMETERS(X)
#undef X
};

}  // namespace omx::simulation::nic

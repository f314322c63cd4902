// SPDX-License-Identifier: BSD-3-Clause
// Counters of one endpoint. Only its engine writes them; others read them (omx counters, MX counter keys).
// One table holds names and labels, and ids are positions in it. Counters are never reset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace omx::protocol {

// X(identifier, label). The first labels are the reference's (docs/spec/tools-and-tests.md 2) where they
// apply.
#define OMX_COUNTERS(X)                                            \
  X(send_tiny, "Send Tiny")                                        \
  X(send_small, "Send Small")                                      \
  X(send_medium_frag, "Send Medium Frag")                          \
  X(send_rndv, "Send Rndv")                                        \
  X(send_notify, "Send Notify")                                    \
  X(send_connect_request, "Send Connect Request")                  \
  X(send_connect_reply, "Send Connect Reply")                      \
  X(send_lib_ack, "Send LibAck")                                   \
  X(send_nack_lib, "Send Nack Lib")                                \
  X(send_nack_mcp, "Send Nack MCP")                                \
  X(send_pull_request, "Send Pull Request")                        \
  X(send_pull_reply, "Send Pull Reply")                            \
  X(send_pull_reply_bulk, "Send Pull Reply by UDP")                \
  X(send_unscheduled, "Send Unscheduled Data")                     \
  X(send_parked, "Send Kept until Received")                       \
  X(send_probe, "Send MTU Probe")                                  \
  X(send_rail_probe, "Send Rail Probe")                            \
  X(send_announcement, "Send UDP Bulk Announcement")               \
  X(send_coalesced, "Send Coalesced Frame")                        \
  X(send_coalesced_packets, "Send Coalesced Packets")              \
  X(recv_tiny, "Recv Tiny")                                        \
  X(recv_small, "Recv Small")                                      \
  X(recv_medium_frag, "Recv Medium Frag")                          \
  X(recv_rndv, "Recv Rndv")                                        \
  X(recv_notify, "Recv Notify")                                    \
  X(recv_connect_request, "Recv Connect Request")                  \
  X(recv_connect_reply, "Recv Connect Reply")                      \
  X(recv_lib_ack, "Recv LibAck")                                   \
  X(recv_nack_lib, "Recv Nack Lib")                                \
  X(recv_nack_mcp, "Recv Nack MCP")                                \
  X(recv_pull_request, "Recv Pull Request")                        \
  X(recv_pull_reply, "Recv Pull Reply")                            \
  X(recv_unscheduled, "Recv Unscheduled Data")                     \
  X(recv_probe, "Recv MTU Probe")                                  \
  X(recv_announcement, "Recv UDP Bulk Announcement")               \
  X(recv_coalesced, "Recv Coalesced Frame")                        \
  X(recv_coalesced_packets, "Recv Coalesced Packets")              \
  X(messages_sent, "Messages Sent")                                \
  X(messages_received, "Messages Received")                        \
  X(bytes_sent, "Bytes Sent")                                      \
  X(bytes_received, "Bytes Received")                              \
  X(messages_sent_local, "Messages Sent inside the Host")          \
  X(messages_received_local, "Messages Received inside the Host")  \
  X(bytes_sent_local, "Bytes Sent inside the Host")                \
  X(bytes_received_local, "Bytes Received inside the Host")        \
  X(messages_sent_bulk, "Messages Sent by UDP Bulk Path")          \
  X(messages_received_bulk, "Messages Received by UDP Bulk Path")  \
  X(bytes_sent_bulk, "Bytes Sent by UDP Bulk Path")                \
  X(bytes_received_bulk, "Bytes Received by UDP Bulk Path")        \
  X(unexpected, "Messages Arrived Unexpected")                     \
  X(resend_timeout, "Resend after Timeout")                        \
  X(resend_tail, "Resend of the Last")                             \
  X(resend_sack, "Resend after Selective Ack")                     \
  X(duplicate, "Recv Duplicate")                                   \
  X(early, "Recv Early, Kept")                                     \
  X(early_dropped, "Recv Early, Dropped")                          \
  X(recv_parked, "Recv without Data, Sender Keeps Them")           \
  X(back_pressure, "Refused for lack of Memory, Sender Holds It")  \
  X(throttled, "Send Waited for Window")                           \
  X(eager_window, "Congestion Window Began")                       \
  X(eager_deferred, "Send Left for its Receiver to Ask")           \
  X(recv_marked, "Recv Marked by a Queue")                         \
  X(marks_told, "Told that a Queue Marked Frames")                 \
  X(pull_copy_offloaded, "Pull Reply Copied by an Engine")         \
  X(medium_copy_offloaded, "Medium Fragment Copied by an Engine")  \
  X(pull_rerequest_gap, "Pull Re-request after Gap")               \
  X(pull_rerequest_timer, "Pull Re-request after Silence")         \
  X(pull_rerequest_rail, "Pull Re-request by Another Rail")        \
  X(pull_timeout, "Pull Given Up")                                 \
  X(peer_lost, "Peer Given Up")                                    \
  X(peer_restarted, "Peer Restarted")                              \
  X(mtu_fallback, "MTU Fallback")                                  \
  X(bulk_fallback, "UDP Bulk Path Given Up")                       \
  X(batches_refused, "UDP Segmentation Given Up")                  \
  X(gso_frames_cut, "UDP GSO Frames Cut")                          \
  X(rail_suspected, "Rail Suspected")                              \
  X(rail_proven, "Rail Proven")                                    \
  X(rail_refused, "Rails of a Peer Refused")                       \
  X(drop_malformed, "Drop Malformed Frame")                        \
  X(drop_bad_checksum, "Drop Bad Checksum")                        \
  X(drop_unknown_type, "Drop Unknown Packet Type")                 \
  X(drop_wrong_nic, "Drop Frame for Another NIC")                  \
  X(drop_bad_endpoint, "Drop Bad Endpoint")                        \
  X(drop_bad_session, "Drop Bad Session")                          \
  X(drop_unknown_peer, "Drop Unknown Peer")                        \
  X(drop_bad_source, "Drop Wrong Source Endpoint")                 \
  X(drop_bad_seqnum, "Drop Bad Sequence Number")                   \
  X(drop_pull_bad_region, "Drop Pull Bad Region")                  \
  X(drop_pull_bad_range, "Drop Pull Bad Offset or Length")         \
  X(drop_pull_repeated, "Drop Pull Repeated before its Answer")    \
  X(drop_pull_reply_bad_handle, "Drop Pull Reply Bad Wire Handle") \
  X(drop_pull_reply_bad_frame, "Drop Pull Reply Bad Frame")        \
  X(drop_pull_reply_duplicate, "Drop Pull Reply Duplicate")

enum class Counter : std::uint16_t {
#define OMX_COUNTER_ID(id, label) id,
  OMX_COUNTERS(OMX_COUNTER_ID)
#undef OMX_COUNTER_ID
      count
};

inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(Counter::count);

inline constexpr std::array<const char*, kCounterCount> kCounterLabels = {
#define OMX_COUNTER_LABEL(id, label) label,
    OMX_COUNTERS(OMX_COUNTER_LABEL)
#undef OMX_COUNTER_LABEL
};

// May be in shared memory. All zero at the start.
struct Counters {
  std::array<std::uint64_t, kCounterCount> values{};
  std::uint64_t& operator[](Counter id) { return values[static_cast<std::size_t>(id)]; }
  std::uint64_t operator[](Counter id) const { return values[static_cast<std::size_t>(id)]; }
};

}  // namespace omx::protocol

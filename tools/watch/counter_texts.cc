// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/counter_texts.h"

#include <algorithm>
#include <iterator>

namespace omx::tools {

namespace {

// Says what a growing counter means for the traffic and, where that is a sign of trouble, what to examine.
constexpr CounterText kTexts[] = {
    // Packets that the engine sent, by type (docs/reference/wire.md).
    {"Send Tiny", "packets", "messages of up to 32 bytes in one packet each, including repetitions"},
    {"Send Small", "packets", "messages of up to 128 bytes in one packet each, including repetitions"},
    {"Send Medium Frag", "packets", "pieces of messages that are sent at once (up to OMX_RNDV_THRESHOLD)"},
    {"Send Rndv", "packets", "announcements of large and synchronous messages, which the receiver pulls"},
    {"Send Notify", "packets", "reports to a sender that its large message has arrived completely"},
    {"Send Connect Request", "packets",
     "connects, and questions to silent peers; if it grows much, peers do not answer"},
    {"Send Connect Reply", "packets", "answers to connects"},
    {"Send LibAck", "packets", "acknowledgements that could not travel with a message"},
    {"Send Nack Lib", "packets", "refused messages of an earlier session; a few are normal after a restart"},
    {"Send Nack MCP", "packets",
     "refused pull requests: of an earlier session, or for a message that is not being sent"},
    {"Send Pull Request", "packets", "requests for blocks of large messages that this endpoint receives"},
    {"Send Pull Reply", "packets", "pieces of large messages that this endpoint sends"},
    {"Send Pull Reply by UDP", "packets", "pieces of large messages that went by UDP, many in one call"},
    {"Send Coalesced Frame", "packets",
     "frames that carried a burst of short messages (OMX_COALESCE), one count for each frame"},
    {"Send Coalesced Packets", "frames",
     "frames that carried several requests, reports, acknowledgements or announcements"},
    {"Send Unscheduled Data", "messages",
     "large messages whose first frames left unscheduled, before the receiver asked (OMX_UNSCHEDULED_BYTES)"},
    {"Send Kept until Received", "messages",
     "sent without data, because the peer had no room: it fetches the data when a receive matches"},
    {"Send MTU Probe", "packets", "padded probes that prove a frame size, a few for each peer"},
    {"Send Rail Probe", "packets",
     "probes of paths between boards of endpoints that use several boards (OMX_RAILS)"},
    // Packets that the engine received, by type.
    {"Recv Tiny", "packets", "messages of up to 32 bytes from peers, including repetitions"},
    {"Recv Small", "packets", "messages of up to 128 bytes from peers, including repetitions"},
    {"Recv Medium Frag", "packets", "pieces of messages that peers sent at once"},
    {"Recv Rndv", "packets", "announcements of large and synchronous messages by peers"},
    {"Recv Notify", "packets", "reports by peers that a large message has arrived completely"},
    {"Recv Connect Request", "packets", "connects by peers, and their questions after silence"},
    {"Recv Connect Reply", "packets", "answers of peers to our connects"},
    {"Recv LibAck", "packets", "acknowledgements by peers that did not travel with a message"},
    {"Recv Nack Lib", "packets", "a peer is closed or has restarted, so messages to it fail"},
    {"Recv Nack MCP", "packets",
     "a peer no longer sends the large message that we pull, because it restarted or cancelled"},
    {"Recv Pull Request", "packets",
     "requests by peers for blocks of large messages that this endpoint sends"},
    {"Recv Pull Reply", "packets",
     "pieces of large messages from peers; with one copy inside a host there are none"},
    {"Recv Unscheduled Data", "messages",
     "large messages from peers of which unscheduled data could be used"},
    {"Recv MTU Probe", "packets", "padded probes of peers that prove a frame size"},
    {"Recv Coalesced Frame", "packets", "frames of peers that carried a burst of short messages"},
    {"Recv Coalesced Packets", "frames",
     "frames of peers that carried several requests, reports, acknowledgements or announcements"},
    // Messages.
    {"Messages Sent", "messages", "sends that the application posted to peers"},
    {"Messages Received", "messages", "receives that a message completed"},
    {"Bytes Sent", "bytes", "bytes of the messages sent, without headers and repetitions"},
    {"Bytes Received", "bytes", "bytes of the messages received, as far as they fitted the receives"},
    {"Messages Arrived Unexpected", "messages",
     "arrived before their receive: up to the rendezvous threshold this costs another copy; post receives "
     "earlier"},
    // Reliability.
    {"Resend after Timeout", "packets",
     "sent again because no acknowledgement came: frames are lost, or the peer does not call the library"},
    {"Resend of the Last", "messages",
     "the last message was sent again after milliseconds of silence: a loss, or the peer does not run"},
    {"Resend after Selective Ack", "packets",
     "sent again because the peer reported them missing: frames are lost"},
    {"Recv Duplicate", "packets", "arrived twice: the peer repeated them, or our acknowledgements are lost"},
    {"Recv Early, Kept", "packets", "overtook missing packets and wait for them: loss or reordering"},
    {"Recv Early, Dropped", "packets",
     "overtook missing packets and could not be kept, so they are sent again: heavy loss, or no memory"},
    {"Recv without Data, Sender Keeps Them", "messages",
     "OMX_UNEXP_BYTES is used up, so data wait at the sender: post receives earlier, or raise it"},
    {"Refused for lack of Memory, Sender Holds It", "packets",
     "OMX_UNEXP_BYTES is used up, so the peer sends the message without its data, or again later"},
    {"Send Waited for Window", "messages",
     "a peer had OMX_EAGER_FRAMES unacknowledged frames: it is slower than this host"},
    {"Pull Reply Copied by an Engine", "copies",
     "pieces of large messages that the copy engine copied beside the processor (OMX_COPY_ENGINE)"},
    {"Pull Re-request after Gap", "packets", "later pieces came, so missing ones were requested again: loss"},
    {"Pull Re-request after Silence", "packets",
     "no piece came for several round trips: a loss, or the sender computes without progress"},
    {"Pull Re-request by Another Rail", "packets",
     "blocks requested again by another board, because none came by the first"},
    {"Pull Given Up", "messages", "large messages that failed because their sender was silent too long"},
    {"Peer Given Up", "peers", "silent for OMX_PEER_TIMEOUT_MS: host, cable or process has failed"},
    {"Peer Restarted", "peers",
     "came back as another process, or ended inside this host: pending operations failed"},
    {"UDP Segmentation Given Up", "times",
     "datagrams cut by the NIC did not arrive: ethtool -K INTERFACE tx-udp-segmentation off"},
    {"UDP Bulk Path Given Up", "times",
     "UDP did not arrive and rests for a while: a firewall, or a full socket (net.core.rmem_max)"},
    {"Rail Suspected", "times",
     "a path between two boards failed and rests until a probe returns: cable, switch, or peer"},
    {"Rail Proven", "times", "a probe returned by a path that was not in use"},
    {"Rails of a Peer Refused", "packets", "connects of peers that announced boards of other hosts"},
    {"MTU Fallback", "peers",
     "a frame size was not proven, so smaller frames are used: a switch has a smaller MTU"},
    // Frames that were dropped. Most come from a misconfigured or hostile host and do no harm.
    {"Drop Malformed Frame", "frames", "shorter than their headers say, or with impossible fields"},
    {"Drop Bad Checksum", "frames",
     "damaged on the way (found only with OMX_CHECKSUM=1 on both hosts): check the cable"},
    {"Drop Unknown Packet Type", "frames", "of a type that this version does not know"},
    {"Drop Frame for Another NIC", "frames",
     "not for the MAC address by which peers know this endpoint; many: the interface's address was changed"},
    {"Drop Bad Endpoint", "frames", "for another endpoint"},
    {"Drop Bad Session", "frames",
     "of an earlier session of the peer or of this endpoint; some are normal after a restart"},
    {"Drop Unknown Peer", "frames", "of a peer that is not connected, not yet or no longer"},
    {"Drop Bad Sequence Number", "frames",
     "acknowledgements overtaken by newer ones, or packets of an earlier session"},
    {"Drop Pull Bad Region", "frames", "requests for a large message that is not being sent, or no longer"},
    {"Drop Pull Bad Offset or Length", "frames", "requests for bytes that the message does not have"},
    {"Drop Pull Repeated before its Answer", "frames",
     "requests that came again just after they had been answered"},
    {"Drop Pull Reply Bad Wire Handle", "frames",
     "pieces of a large message that is complete or was cancelled"},
    {"Drop Pull Reply Bad Frame", "frames",
     "pieces that were not requested, or came late, after a repetition"},
    {"Drop Pull Reply Duplicate", "frames",
     "pieces that had arrived already: requested again too early, or duplicated"},
    // The packet sockets.
    {"Link Frames Sent", "frames", "frames of all kinds that were handed to the kernel"},
    {"Link Bytes Sent", "bytes", "bytes of the frames sent, including Ethernet headers"},
    {"Link Send Calls", "calls",
     "system calls that sent frames; frames divided by calls shows how well sending is batched"},
    {"Link Send Errors", "frames",
     "refused by the kernel: interface down, or MTU lowered; the engine sends them again"},
    {"Link Frames Received", "frames", "frames of all kinds that were taken from the kernel"},
    {"Link Bytes Received", "bytes", "bytes of the frames received, including Ethernet headers"},
    {"Link Receive Batches", "batches",
     "polls that found frames; frames divided by batches shows how well receiving is batched"},
    {"Link UDP Batches Sent", "batches",
     "GSO batches: frames of large messages that the kernel took by UDP in one call"},
    {"Link UDP Batches Received", "batches",
     "GSO batches: frames of large messages that the kernel handed over in one call"},
    {"Link Bulk Frames Placed", "frames",
     "pieces of large messages that the kernel copied directly into their place"},
    {"Link Bulk Frames Moved", "frames",
     "pieces copied once more: out of order, with checksum, or from several senders at once"},
    {"Link Frames Dropped, Ring Full", "frames",
     "came while the receive ring was full: call the library more often, or raise OMX_RING_FRAMES"},
    {"Link Frames by AF_XDP", "frames",
     "received by AF_XDP (OMX_LINK=xdp); other frames came by packet sockets"},
    {"Link UDP Frames of One Peer Alone", "frames",
     "received by the connected socket of the peer that sends most, which is faster"},
    {"Link Frames Misdirected", "frames",
     "for another endpoint of a fanout group; a few when one opens; more: the group is broken"},
    {"Link Frames Ignored, Too Long", "frames",
     "longer than the MTU at opening: the MTU was raised while the endpoint was open"},
    // Waiting.
    {"Sleeps Ended", "sleeps",
     "a waiting thread that slept in the kernel was woken; the next counters say by what"},
    {"Sleeps Ended by a Frame", "sleeps", "by any frame"},
    {"Sleeps Ended by a Solicited Frame", "sleeps",
     "in a stream, by a frame that its sender marked as urgent"},
    {"Sleeps Ended by Announced Data", "sleeps",
     "in a stream, by UDP data that a marked frame had announced"},
    {"Sleeps Ended by the Moderation Timer", "sleeps",
     "in a stream, by OMX_MODERATION_US: the sender marks no frames, or a marked frame was lost"},
    {"Sleeps with Solicited Frames Masked", "sleeps",
     "ignored marked frames for some microseconds, because messages came close together "
     "(OMX_MODERATION=stream)"},
    {"Progress Thread Took Over", "times",
     "the application did not call the library while there was work (OMX_PROGRESS)"},
    // Inside the host.
    {"Local Frames Sent", "frames", "to endpoints of this host, through shared memory"},
    {"Local Frames Received", "frames", "from endpoints of this host, through shared memory"},
    {"Local Frames Delayed, Ring Full", "frames",
     "waited for room, because the peer does not call the library often enough"},
    {"Local Frames Dropped, Nobody There", "frames",
     "for an endpoint that is closed, or that belongs to another user (a warning says so)"},
    {"Local One-Copy Reads", "calls", "parts of large messages read directly from the sender's memory"},
    {"Local One-Copy Bytes", "bytes",
     "bytes of these reads; large messages without them took two copies (omx info says why)"},
    {"Local Peers Woken", "times", "a sleeping peer on this host was woken for a frame"},
};

struct Renamed {
  std::string_view label;
  const char* former;
};
constexpr Renamed kRenamed[] = {
    {"Send Pull Reply by UDP", "Send Pull Reply by UDP Lane"},
    {"Send Coalesced Frame", "Send Shared Frame"},
    {"Send Coalesced Packets", "Send Gathered Packets"},
    {"Send Unscheduled Data", "Send Data Unasked"},
    {"Recv Unscheduled Data", "Recv Data Unasked"},
    {"Recv Coalesced Frame", "Recv Shared Frame"},
    {"Recv Coalesced Packets", "Recv Gathered Packets"},
    {"Peer Given Up", "Partner Given Up"},
    {"Peer Restarted", "Partner Restarted"},
    {"UDP Bulk Path Given Up", "UDP Lane Given Up"},
    {"Drop Unknown Peer", "Drop Unknown Partner"},
    {"Link UDP Batches Sent", "Link UDP Trains Sent"},
    {"Link UDP Batches Received", "Link UDP Trains Received"},
    {"Sleeps Ended by a Solicited Frame", "Sleeps Ended by a Marked Frame"},
    {"Sleeps with Solicited Frames Masked", "Sleeps Deaf to Marked Frames"},
    {"Sleeps Ended by Announced Data", "Sleeps Ended by an Announced Lane"},
};

}  // namespace

std::vector<CounterValue> counter_values(const runtime::SharedCounters& counters) {
  std::vector<CounterValue> values;
  for (std::size_t i = 0; i < protocol::kCounterCount; i++)
    values.emplace_back(protocol::kCounterLabels[i], counters.engine.values[i]);
  const link::LinkCounters& l = counters.link;
  values.insert(values.end(), {{"Link Frames Sent", l.frames_sent},
                               {"Link Bytes Sent", l.bytes_sent},
                               {"Link Send Calls", l.send_calls},
                               {"Link Send Errors", l.send_errors},
                               {"Link Frames Received", l.frames_received},
                               {"Link Bytes Received", l.bytes_received},
                               {"Link Receive Batches", l.receive_batches},
                               {"Link UDP Batches Sent", l.gso_batches_sent},
                               {"Link UDP Batches Received", l.gso_batches_received},
                               {"Link Bulk Frames Placed", l.bulk_placed},
                               {"Link Bulk Frames Moved", l.bulk_moved},
                               {"Link Frames Dropped, Ring Full", l.ring_drops},
                               {"Link Frames Ignored, Too Long", l.frames_ignored},
                               {"Link Frames Misdirected", l.frames_misdirected},
                               {"Link Frames by AF_XDP", l.frames_by_xdp},
                               {"Link UDP Frames of One Peer Alone", l.frames_alone},
                               {"Sleeps Ended", counters.wakeups},
                               {"Sleeps Ended by a Frame", counters.wakeups_frame},
                               {"Sleeps Ended by a Solicited Frame", counters.wakeups_solicited},
                               {"Sleeps Ended by Announced Data", counters.wakeups_announced},
                               {"Sleeps Ended by the Moderation Timer", counters.wakeups_moderated},
                               {"Sleeps with Solicited Frames Masked", counters.deferred},
                               {"Progress Thread Took Over", counters.takeovers}});
  const local::HubCounters& h = counters.local;
  values.insert(values.end(), {{"Local Frames Sent", h.frames_sent},
                               {"Local Frames Received", h.frames_received},
                               {"Local Frames Delayed, Ring Full", h.frames_delayed},
                               {"Local Frames Dropped, Nobody There", h.frames_dropped},
                               {"Local One-Copy Reads", h.direct_reads},
                               {"Local One-Copy Bytes", h.direct_bytes},
                               {"Local Peers Woken", h.notifies}});
  return values;
}

const CounterText* counter_text(std::string_view label) {
  const auto* const found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                         [label](const CounterText& text) { return text.label == label; });
  return found == std::end(kTexts) ? nullptr : found;
}

const char* counter_former_label(std::string_view label) {
  const auto* const found = std::find_if(std::begin(kRenamed), std::end(kRenamed),
                                         [&](const Renamed& r) { return r.label == label; });
  return found == std::end(kRenamed) ? nullptr : found->former;
}

std::size_t counter_text_count() {
  return std::size(kTexts);
}

std::size_t counter_renamed_count() {
  return std::size(kRenamed);
}

}  // namespace omx::tools

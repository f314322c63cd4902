// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/counter_texts.h"

#include <algorithm>
#include <iterator>

namespace omx::tools {

namespace {

// Says what a growing counter means for the traffic and, where that is a sign of trouble, what to examine.
constexpr CounterText kTexts[] = {
    // Packets that the engine sent, by type (docs/reference/wire.md).
    {"Send Tiny", "packets", "messages of up to 32 bytes, one packet each, repetitions included"},
    {"Send Small", "packets", "messages of up to 128 bytes, one packet each, repetitions included"},
    {"Send Medium Frag", "packets", "pieces of messages that are sent at once (up to OMX_RNDV_THRESHOLD)"},
    {"Send Rndv", "packets", "announcements of large and synchronous messages, which the receiver pulls"},
    {"Send Notify", "packets", "words to a sender that all of its large message has arrived"},
    {"Send Connect Request", "packets",
     "connects, and questions to silent peers; many: peers that do not answer"},
    {"Send Connect Reply", "packets", "answers to connects"},
    {"Send LibAck", "packets", "acknowledgements that found no message to travel with"},
    {"Send Nack Lib", "packets", "refusals of messages of an earlier session; a few after each restart"},
    {"Send Nack MCP", "packets",
     "refusals of pull requests: of an earlier session, or for a message that is not being sent"},
    {"Send Pull Request", "packets", "requests for blocks of large messages that this endpoint receives"},
    {"Send Pull Reply", "packets", "pieces of large messages that this endpoint sends"},
    {"Send Pull Reply by UDP Lane", "packets", "those of them that went by UDP, many in one call"},
    {"Send Shared Frame", "packets",
     "bursts of short messages that went together (OMX_PACK), counted once for all of them"},
    {"Send Gathered Packets", "frames",
     "requests, reports and acknowledgements of one turn, or announcements, that left together"},
    {"Send Data Unasked", "messages",
     "large messages whose first frames left before they were asked for (docs/reference/wire.md 17)"},
    {"Send Kept until Received", "messages",
     "sent without their data, as the peer had no room: it fetches them when a receive matches"},
    {"Send MTU Probe", "packets", "padded probes that prove a frame size, a few per peer"},
    {"Send Rail Probe", "packets",
     "probes of ways between boards of endpoints that have several (docs/explanation/rails.md)"},
    // Packets that the engine received, by type.
    {"Recv Tiny", "packets", "as Send Tiny, of the peers"},
    {"Recv Small", "packets", "as Send Small, of the peers"},
    {"Recv Medium Frag", "packets", "as Send Medium Frag, of the peers"},
    {"Recv Rndv", "packets", "as Send Rndv, of the peers"},
    {"Recv Notify", "packets", "as Send Notify, of the peers"},
    {"Recv Connect Request", "packets", "as Send Connect Request, of the peers"},
    {"Recv Connect Reply", "packets", "as Send Connect Reply, of the peers"},
    {"Recv LibAck", "packets", "as Send LibAck, of the peers"},
    {"Recv Nack Lib", "packets", "a peer is closed or was restarted: what was sent to it fails"},
    {"Recv Nack MCP", "packets",
     "a peer does not send the large message any more that we pull: it was restarted, or cancelled"},
    {"Recv Pull Request", "packets", "as Send Pull Request, of the peers"},
    {"Recv Pull Reply", "packets",
     "as Send Pull Reply, of the peers; inside a host with one copy there are none"},
    {"Recv Data Unasked", "messages", "as Send Data Unasked, of the peers, where they were of use"},
    {"Recv MTU Probe", "packets", "as Send MTU Probe, of the peers"},
    {"Recv Shared Frame", "packets", "as Send Shared Frame, of the peers"},
    {"Recv Gathered Packets", "frames", "as Send Gathered Packets, of the peers"},
    // Messages.
    {"Messages Sent", "messages", "sends that the application posted to peers"},
    {"Messages Received", "messages", "receives that a message completed"},
    {"Bytes Sent", "bytes", "of the messages sent, without headers and repetitions"},
    {"Bytes Received", "bytes", "of these, what fitted the receives"},
    {"Messages Arrived Unexpected", "messages",
     "arrived before their receive was posted: up to the rendezvous threshold they are copied once more; "
     "post earlier"},
    // Reliability.
    {"Resend after Timeout", "packets",
     "repeated as no acknowledgement came: frames are lost, or the peer does not call the library"},
    {"Resend of the Last", "messages",
     "nothing was heard for some milliseconds: the last of several was lost, or its acknowledgement, or the "
     "peer does not run"},
    {"Resend after Selective Ack", "packets",
     "repeated as the peer said that they are missing: frames are lost"},
    {"Recv Duplicate", "packets", "came twice: the peer repeated them, or our acknowledgements are lost"},
    {"Recv Early, Kept", "packets",
     "overtook others that are missing, and wait for them: loss or reordering"},
    {"Recv Early, Dropped", "packets",
     "overtook others and could not be kept, so that they are sent again: heavy loss, or no memory"},
    {"Recv without Data, Sender Keeps Them", "messages",
     "unexpected messages fill OMX_UNEXP_BYTES, so these are fetched when a receive matches: post them "
     "earlier, or raise it"},
    {"Refused for lack of Memory, Sender Holds It", "packets",
     "unexpected messages fill OMX_UNEXP_BYTES: what came is asked for without its data, or again later"},
    {"Send Waited for Window", "messages",
     "a peer had as many unacknowledged frames as it accepts (OMX_EAGER_FRAMES): it is slower than we are"},
    {"Pull Reply Copied by an Engine", "copies",
     "given to the copy engine, which copied beside us (OMX_COPY_ENGINE)"},
    {"Pull Re-request after Gap", "packets", "later pieces came, so the missing ones were asked for: loss"},
    {"Pull Re-request after Silence", "packets",
     "nothing came for OMX_PULL_DELAY_MS: the end of a block was lost, or the sender computes without "
     "progress"},
    {"Pull Re-request by Another Rail", "packets",
     "blocks asked for again by another board, as nothing came by the first"},
    {"Pull Given Up", "messages", "large messages that failed as their sender was silent for too long"},
    {"Partner Given Up", "peers", "silent for OMX_PEER_TIMEOUT_MS: host, cable or process gone"},
    {"Partner Restarted", "peers",
     "came back as another process, or ended inside this host: what was under way failed"},
    {"UDP Segmentation Given Up", "times",
     "datagrams that the NIC should make did not arrive: ethtool -K INTERFACE tx-udp-segmentation off"},
    {"UDP Lane Given Up", "times",
     "what went by UDP did not arrive, so it goes by the link for a while: a firewall, or a full socket "
     "(net.core.rmem_max)"},
    {"Rail Suspected", "times",
     "a way between two boards was given up until a probe comes back: cable, switch, or peer"},
    {"Rail Proven", "times", "a probe came back by a way that was not in use"},
    {"Rails of a Peer Refused", "packets", "connects of peers that announced boards which others have"},
    {"MTU Fallback", "peers",
     "a frame size was not proven, so smaller frames are used: a switch with a smaller MTU"},
    // Frames that were dropped. Most come from a misconfigured or hostile host and do no harm.
    {"Drop Malformed Frame", "frames", "shorter than their headers say, or with fields that cannot be"},
    {"Drop Bad Checksum", "frames",
     "damaged on the way (only seen with OMX_CHECKSUM=1 on both hosts): look at the cable"},
    {"Drop Unknown Packet Type", "frames", "of a type that this version does not know"},
    {"Drop Frame for Another NIC", "frames",
     "for another address than that of the interface which this endpoint is known by; many: the address was "
     "changed"},
    {"Drop Bad Endpoint", "frames", "for another endpoint than this one"},
    {"Drop Bad Session", "frames",
     "of an earlier life of the peer or of this endpoint; some after each restart"},
    {"Drop Unknown Partner", "frames", "of somebody who is not connected (yet, or any more)"},
    {"Drop Bad Sequence Number", "frames",
     "acknowledgements that newer ones overtook; packets of an earlier session"},
    {"Drop Pull Bad Region", "frames", "requests for a large message that is not, or no longer, being sent"},
    {"Drop Pull Bad Offset or Length", "frames", "requests for bytes that the message does not have"},
    {"Drop Pull Repeated before its Answer", "frames",
     "requests that came again just after they were answered"},
    {"Drop Pull Reply Bad Wire Handle", "frames",
     "answers for a large message that is complete or was cancelled"},
    {"Drop Pull Reply Bad Frame", "frames",
     "answers that were not asked for, or came late, after a repetition"},
    {"Drop Pull Reply Duplicate", "frames",
     "pieces that were here already: asked for again too early, or duplicated"},
    // The packet sockets.
    {"Link Frames Sent", "frames", "handed to the kernel, of all kinds"},
    {"Link Bytes Sent", "bytes", "of these, Ethernet headers included"},
    {"Link Send Calls", "calls", "system calls for them: frames by calls is how well sending is batched"},
    {"Link Send Errors", "frames",
     "the kernel did not take: interface down, MTU lowered; the engine sends them again"},
    {"Link Frames Received", "frames", "taken from the kernel, of all kinds"},
    {"Link Bytes Received", "bytes", "of these, Ethernet headers included"},
    {"Link Receive Batches", "batches",
     "looks that found frames: frames by batches is how well receiving is batched"},
    {"Link UDP Trains Sent", "trains", "frames of large messages that the kernel took by UDP in one call"},
    {"Link UDP Trains Received", "trains", "those that it handed over in one call"},
    {"Link Bulk Frames Placed", "frames",
     "pieces of large messages that the kernel copied straight to where they belong"},
    {"Link Bulk Frames Moved", "frames",
     "those that were copied once more: in another order than asked for, checksummed, or of several senders "
     "at once"},
    {"Link Frames Dropped, Ring Full", "frames",
     "came while the receive ring was full: call the library more often, or raise OMX_RING_FRAMES"},
    {"Link Frames by AF_XDP", "frames",
     "received by AF_XDP (OMX_LINK=xdp); the others came by packet sockets (docs/explanation/af-xdp.md)"},
    {"Link UDP Frames of One Peer Alone", "frames",
     "received by a socket connected to who mostly talks with this endpoint, which is faster"},
    {"Link Frames Misdirected", "frames",
     "for another endpoint, where endpoints share a hook; a few when one opens, more when the group is "
     "broken"},
    {"Link Frames Ignored, Too Long", "frames",
     "longer than the MTU that this endpoint knew: it was raised while the endpoint was open"},
    // Waiting.
    {"Sleeps Ended", "sleeps", "a waiting thread that slept in the kernel was woken; of these:"},
    {"Sleeps Ended by a Frame", "sleeps", "by any frame"},
    {"Sleeps Ended by a Marked Frame", "sleeps", "in a stream, by a frame that its sender marked as urgent"},
    {"Sleeps Ended by an Announced Lane", "sleeps",
     "in a stream, by the rest of what such a frame announced"},
    {"Sleeps Ended by the Moderation Timer", "sleeps",
     "in a stream, by OMX_MODERATION_US: a stream of a sender that marks nothing, or that lost a marked "
     "frame"},
    {"Sleeps Deaf to Marked Frames", "sleeps",
     "for some microseconds, as messages followed each other closely (OMX_MODERATION=stream)"},
    {"Progress Thread Took Over", "times",
     "the application did not call while there was something to do (OMX_PROGRESS)"},
    // Inside the host.
    {"Local Frames Sent", "frames", "to endpoints of this host, through shared memory"},
    {"Local Frames Received", "frames", "from endpoints of this host, through shared memory"},
    {"Local Frames Delayed, Ring Full", "frames",
     "waited for room: the peer does not call the library often enough"},
    {"Local Frames Dropped, Nobody There", "frames",
     "for an endpoint that is closed, or of a process of another user (a warning says so)"},
    {"Local One-Copy Reads", "calls", "parts of large messages read straight from the sender's memory"},
    {"Local One-Copy Bytes", "bytes",
     "of these; large messages without them took two copies (omx info says why)"},
    {"Local Peers Woken", "times", "a peer of this host slept when something was there for it"},
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
                               {"Link UDP Trains Sent", l.trains_sent},
                               {"Link UDP Trains Received", l.trains_received},
                               {"Link Bulk Frames Placed", l.bulk_placed},
                               {"Link Bulk Frames Moved", l.bulk_moved},
                               {"Link Frames Dropped, Ring Full", l.ring_drops},
                               {"Link Frames Ignored, Too Long", l.frames_ignored},
                               {"Link Frames Misdirected", l.frames_misdirected},
                               {"Link Frames by AF_XDP", l.frames_by_xdp},
                               {"Link UDP Frames of One Peer Alone", l.frames_alone},
                               {"Sleeps Ended", counters.wakeups},
                               {"Sleeps Ended by a Frame", counters.wakeups_frame},
                               {"Sleeps Ended by a Marked Frame", counters.wakeups_bell},
                               {"Sleeps Ended by an Announced Lane", counters.wakeups_lane},
                               {"Sleeps Ended by the Moderation Timer", counters.wakeups_moderated},
                               {"Sleeps Deaf to Marked Frames", counters.deferred},
                               {"Progress Thread Took Over", counters.takeovers}});
  const local::HubCounters& h = counters.local;
  values.insert(values.end(), {{"Local Frames Sent", h.frames_sent},
                               {"Local Frames Received", h.frames_received},
                               {"Local Frames Delayed, Ring Full", h.frames_delayed},
                               {"Local Frames Dropped, Nobody There", h.frames_dropped},
                               {"Local One-Copy Reads", h.direct_reads},
                               {"Local One-Copy Bytes", h.direct_bytes},
                               {"Local Peers Woken", h.bells}});
  return values;
}

const CounterText* counter_text(std::string_view label) {
  const auto* const found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                         [label](const CounterText& text) { return text.label == label; });
  return found == std::end(kTexts) ? nullptr : found;
}

std::size_t counter_text_count() {
  return std::size(kTexts);
}

}  // namespace omx::tools

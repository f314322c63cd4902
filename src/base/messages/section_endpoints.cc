// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {201, "the endpoint is held by another", "Another endpoint of this host has this number on this board.",
     "A former run of the program still lives, or two programs use the same number.",
     "\"omx info\" names the process. End it, or take another number (MX_ANY_ENDPOINT finds a free one).",
     "endpoint {} is held by {}\n"
     "{}; a second server needs another endpoint (--endpoint N), which its clients name with --peer-endpoint "
     "N\n"
     "another endpoint answers for the board\n"
     "{} is held by process {} of user {}\n"},
    {202, "all endpoints are in use", "The board has no free endpoint number.",
     "Each open endpoint of the host takes one number on each board.",
     "Close some, or raise OMX_ENDPOINTS_MAX (at most 256).",
     "all {} endpoints are in use; close some, or raise OMX_ENDPOINTS_MAX (at most 256)\n"},
    {203, "the endpoint number is too large", "The number is not below OMX_ENDPOINTS_MAX, or above 255.",
     "The program was written for more endpoints, or the number is wrong.",
     "Take a smaller number, or raise OMX_ENDPOINTS_MAX.",
     "endpoint {} is beyond the last one, {} (OMX_ENDPOINTS_MAX={})\n"
     "endpoint id {} is above {}\n"},
    {204, "the process has too many endpoints", "The process has as many endpoints open as one process may.",
     "The program does not close endpoints.", "Close some.",
     "this process has {} endpoints open, which is the limit\n"},
    {205, "no memory for an endpoint", "The memory of an endpoint could not be had.",
     "The limit of the process, of its cgroup or of the host is reached.",
     "Close other endpoints, or lower OMX_RING_FRAMES or OMX_UNEXP_BYTES.",
     "no memory for an endpoint; close others, or lower OMX_RING_FRAMES or OMX_UNEXP_BYTES\n"
     "no memory for the counters of an endpoint\n"},
    {206, "no memory for a receive ring", "The kernel gave no memory for the ring in which frames arrive.",
     "The memory of the host or of the cgroup is used up, or locked memory is limited (AF_XDP).",
     "Lower OMX_RING_FRAMES, close other endpoints, or raise the limit that the message names.",
     "{}: no memory for a receive ring of {} frames: {}; lower OMX_RING_FRAMES or close other endpoints\n"
     "{}: no memory for a receive ring for MTU {}: {}; nothing is received until it can be had: lower "
     "OMX_RING_FRAMES, or close other endpoints\n"
     "{}: no memory for {} frames of AF_XDP: {}; lower OMX_RING_FRAMES, or raise the limit of locked memory "
     "(ulimit -l)\n"
     "{} receives nothing: there is no memory for its receive ring; lower OMX_RING_FRAMES, or close other "
     "endpoints\n"},
    {207, "an endpoint number cannot be claimed",
     "The Unix socket that stands for the endpoint could not be made.",
     "No descriptor is left, or a filter of system calls forbids Unix sockets.",
     "Follow the system's reason at the end of the message.",
     "no socket for claim {}: {}\n"
     "cannot bind claim {}: {}\n"
     "cannot listen on claim {}: {}\n"},
    {208, "no random number", "The system gave no random number for the session of an endpoint.",
     "A filter of system calls forbids getrandom().",
     "Allow getrandom() in the profile of the container or service.", "no random session number: {}\n"},
    {209, "OMX_RAILS is not possible here",
     "Several boards for one endpoint need raw frames and the extended wire format.",
     "Messages go by UDP, or OMX_WIRE_MODE or OMX_EXTENSION is not as it must be.",
     "Leave OMX_RAILS empty, or give the program CAP_NET_RAW and set what the message names.",
     "several boards for one endpoint (OMX_RAILS) need raw frames, OMX_WIRE_MODE=omx and OMX_EXTENSION=1; "
     "leave OMX_RAILS empty, or give the program CAP_NET_RAW and set these\n"},
    {210, "a rail is left out",
     "One of the boards of OMX_RAILS could not be opened. The endpoint goes on with the others.",
     "The message ends with the reason.", "Remove the cause, or leave that board out of OMX_RAILS.",
     "{} endpoint {}: {} is left out: an endpoint uses {} boards at most (OMX_RAILS)\n"
     "{} endpoint {}: {} is left out: {}\n"},
    {211, "the MTUs of rails differ",
     "Boards of one endpoint have different MTUs, so all frames have the size of the smaller one.",
     "One interface was given a larger MTU than another.",
     "Give all boards of OMX_RAILS the same MTU (ip link set dev NAME mtu N).",
     "{} has MTU {} and {} has {}: messages by both use frames that either carries\n"},
    {212, "the context id does not fit",
     "The bits that were asked for as context id do not fit into the match information.",
     "The parameters of mx_open_endpoint, or OMX_CTXIDS, are out of range.",
     "Ask for at most 16 bits within 64.",
     "a context id of {} bits at bit {} does not fit: at most 16 bits, within 64\n"
     "context id of {} bits at {}: at most {} bits, inside 64\n"},
    {213, "no progress thread", "The endpoint has no thread of its own, so messages move during calls only.",
     "The limit of threads or of open files is reached.",
     "Raise \"ulimit -u\" or \"ulimit -n\". OMX_PROGRESS=off does without and is silent.",
     "{} endpoint {}: no progress thread (limit of threads or open files): messages move during calls "
     "only\n"},
    {214, "other processes of this host cannot connect yet",
     "The endpoint came back after an outage, and its number is held meanwhile.",
     "Another process opened the number while the interface was away.",
     "End the process that the message names.",
     "{} endpoint {}: other processes of this host cannot connect yet: {}; it is tried again each second\n"
     "meanwhile; end that one\n"},
    {215, "no raw packets here", "mx_raw endpoints need raw frames, and this process has none.",
     "The board is reached by UDP, or by a broker, which grants no raw packets.",
     "Give the program CAP_NET_RAW and set OMX_LINK=ethernet.",
     "{} is reached by UDP, which carries no raw packets: they need CAP_NET_RAW and OMX_LINK=ethernet\n"
     "the broker grants no raw packets on {}: they need CAP_NET_RAW (setcap cap_net_raw+ep PROGRAM)\n"
     "raw endpoint: no event descriptors: {}\n"},
    {216, "internal error", "Something failed that should not fail. The message ends with what is known.",
     "A fault of Open-MX, or memory that was damaged.",
     "Write a report: \"omx bugreport\" collects what it needs.",
     "internal error while opening an endpoint: {}\n"
     "internal error: {}\n"
     "internal error: {}; please report it\n"},
};
}  // namespace

constinit const Section kSectionEndpoints{"An endpoint cannot be opened", kEntries};

}  // namespace omx::messages

// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {601, "messages without a receive fill their memory",
     "Messages arrived for which no receive was posted. Data of further ones stay with their senders. "
     "Nothing is lost.",
     "Receives are posted late, or many senders are ahead of one receiver.",
     "Post receives earlier, or raise OMX_UNEXP_BYTES.",
     "{} endpoint {}: messages that no receive was posted for fill {} MiB; data of more, now from {}, stay "
     "with their senders until receives match; post receives earlier, or set OMX_UNEXP_BYTES higher\n"},
    {602, "even headers of messages fill the memory",
     "So many messages wait for receives that no further one is taken in. Nothing is lost.",
     "Receives are posted much later than messages are sent.",
     "Post receives earlier, or give the host or its cgroup more memory.",
     "{} endpoint {}: even without data, messages that no receive was posted for fill {} MiB; more, now from "
     "{}, wait until some are received; post receives earlier, or give the host or its cgroup more memory\n"},
    {603, "copies of sent messages fill their memory",
     "Sends wait for memory, as many messages were sent that the receiver has not received.",
     "The receiver is slow, or posts receives late.",
     "Post receives earlier there, or raise OMX_SEND_BUFFER_BYTES.",
     "{} endpoint {}: copies of messages that were not received yet fill {} MiB; sends to {} and others wait "
     "for memory; post receives earlier there, or set OMX_SEND_BUFFER_BYTES higher\n"},
    {610, "the interface went down", "The interface of an open endpoint is down. Messages wait for it.",
     "An administrator or a network manager took it down.",
     "Run \"ip link set dev NAME up\". Peers are given up after OMX_PEER_TIMEOUT_MS.",
     "{} is down; {}: ip link set dev {} up\n"
     "messages wait for it until their peers are given up (OMX_PEER_TIMEOUT_MS)\n"},
    {611, "the interface lost its carrier",
     "The cable of an open endpoint carries no signal. Messages wait for it.",
     "The cable is out, or the other end is down.",
     "Look at the cable and at the port of the switch (\"ethtool NAME\").",
     "{} has no carrier: check the cable and the other end\n"
     "{} has no carrier; {}: look at the cable and at its other end\n"},
    {612, "the interface is gone", "The interface of an open endpoint was removed.",
     "A driver was unloaded, a virtual interface deleted, or a device unplugged.",
     "Bring it back under the same name with the same address. With AF_XDP, restart the program.",
     "{} is gone; {}; it is found again when it is back under this name, with {}\n"
     "{} is gone, and is not found again when it is back: restart the program then\n"},
    {613, "the interface has another address",
     "The interface of an open endpoint has another MAC or IP address than peers know. Nothing comes.",
     "The interface was made again, or its address was changed.",
     "Run the command that the message names, or restart the program.",
     "{} is another interface now, with the MAC address {}; peers know this program by {}: ip link set dev "
     "{} address {}, or restart the program\n"
     "the MAC address of {} is {} now; peers know this program by {}, so nothing comes: ip link set dev {} "
     "address {}, or restart the program\n"
     "{} was made again without the address {}, by which peers know this program: ip address add {}/BITS dev "
     "{}, or restart the program\n"},
    {614, "the interface is up again", "The interface works again. Messages go on.",
     "The cause of the outage has gone.", "Nothing is to be done.", "{} is up again\n"},
    {615, "the interface is back, and the endpoint does not go on",
     "The interface came back, and the endpoint could not be opened on it again.",
     "The message ends with the reason.", "Remove the cause, or restart the program.",
     "{} is back, but this program does not go on with it: {}\n"},
    {616, "the MTU changed", "The MTU of an interface was changed while an endpoint was open.",
     "An administrator or a network manager set it.",
     "Give all hosts the same MTU. Peers agree on the size of frames again with the next connect.",
     "{}: the MTU changed from {} to {}\n"},
    {617, "the broker withdrew the endpoint",
     "The broker of this host took the raw frames of this endpoint back. Nothing leaves or comes any more.",
     "The policy changed, the broker ended with --clean, or its NIC has another address.",
     "Ask the administrator (broker.conf), and restart the program.",
     "the broker of this host has withdrawn this endpoint of {}, so nothing leaves or comes any more: ask "
     "the administrator (broker.conf), and restart the program\n"},
    {618, "a rail failed", "One of the boards of an endpoint with OMX_RAILS failed. The others go on.",
     "The text behind it says what happened to the interface.",
     "Repair that interface. It is used again when it is back.",
     "{} endpoint {}: its rail {}{}\n"
     "(the others go on without it)\n"},
};
}  // namespace

constinit const Section kSectionMemory{"Memory runs short, an interface fails", kEntries};

}  // namespace omx::messages

// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {301, "the host name is not known", "No table, resolver or host of the network knows the name.",
     "The name is mistyped, the host is down, or the network was not asked (OMX_DISCOVERY_MS=0).",
     "Give the MAC address, name the host in OMX_PEERS or /etc/hosts, and see \"omx peers\" for the hosts "
     "that answer.",
     "\"{}\" is not in the table of peers, the resolver knows no address of it, and {}; give its MAC address "
     "instead, or name it in OMX_PEERS=\"MAC NAME\"\n"
     "{} is not in the table of peers, and {}\n"
     "the network could not be asked: {}\n"
     "the network was not asked (OMX_DISCOVERY_MS=0)\n"
     "no host answered within {} ms (OMX_DISCOVERY_MS)\n"
     "\"{}\" has no {} address that the resolver knows; add it to /etc/hosts, or give the address instead\n"},
    {302, "no host answered for the address",
     "No host has this IP address on the networks of this host's boards.",
     "The host is down or on another network, or its interface has no carrier.",
     "See whether \"ping\" reaches it, and raise OMX_DISCOVERY_MS if it answers slowly.",
     "no host answered for \"{}\" on {} within {} ms (OMX_DISCOVERY_MS): it is down, or not on that "
     "network\n"},
    {303, "the address is behind a router",
     "Raw frames pass no router, and no board of this host is in the network of the address.",
     "The host is in another network.",
     "Give its MAC address if it is on the same segment, or set OMX_LINK=udp on all hosts.",
     "\"{}\" is in no network of this host's boards ({}), and raw frames pass no router; give its MAC "
     "address, or let messages go by UDP (OMX_LINK=udp)\n"
     "they have no address\n"},
    {304, "an address of this host that is no board",
     "The address belongs to an interface of this host that this process does not use.",
     "OMX_INTERFACES leaves the interface out.",
     "Name the interface in OMX_INTERFACES, or give another address.",
     "\"{}\" is an address of {} of this host, which is no board of this process; name it in OMX_INTERFACES, "
     "or give another address\n"},
    {305, "the MAC address is not known",
     "The kernel has no MAC address for this IP address, and Open-MX may not ask the network.",
     "OMX_DISCOVERY_MS=0 forbids asking.", "Give the MAC address, or set OMX_DISCOVERY_MS higher.",
     "the kernel does not know the MAC address of \"{}\", and the network was not asked "
     "(OMX_DISCOVERY_MS=0); give its MAC address instead\n"},
    {306, "by UDP no host is asked for its name",
     "Names of hosts come from the resolver alone when messages go by UDP.",
     "The name is neither in /etc/hosts nor in DNS.",
     "Add the name to /etc/hosts or DNS, or give the address.",
     "by UDP no host is asked for its name; add the name to /etc/hosts or DNS\n"},
    {307, "two addresses make the same NIC id",
     "A NIC id of IPv6 is a checksum, and these two addresses have the same.", "Chance.",
     "Give one of these hosts another address.",
     "{} and {} make the same NIC id, {}; give one of these hosts another address\n"},
    {308, "the address is of the other IP family",
     "The address is IPv6 and messages go by IPv4, or the other way round.",
     "OMX_LINK or the addresses of the interfaces choose one family for the process.",
     "Give the name of the host or an address of the right family, or set OMX_LINK=udp4 or udp6 on all "
     "hosts.",
     "{} is an {} address, but messages go by UDP over {} here; give the host's name or {} address, or see "
     "OMX_LINK\n"},
    {309, "the host name is unusable", "The name that the program gave is missing or too long.",
     "A fault of the program.", "Give a name of the form HOST or HOST:BOARD.",
     "the name has more than {} characters\n"
     "hostname is NULL\n"},
    {310, "no answer from a peer",
     "Nothing has been heard from the peer at all. By UDP the message names the ports that must pass.",
     "The host is down, a firewall drops the datagrams, or the program there uses another OMX_LINK or "
     "OMX_UDP_PORT.",
     "See \"omx peers\" and \"ping\". Open UDP ports 27200 to 27711 on both hosts.",
     "no answer from {}\n"
     "{}: no answer from {}; {}\n"
     "unless that host is down:\n"
     "let UDP ports {} to {} pass in all firewalls, and set OMX_LINK=udp and the same OMX_UDP_PORT on both "
     "hosts\n"},
    {311, "no such endpoint on this host", "The peer is on this host, and no process has that endpoint open.",
     "The program was not started, has ended, or has another endpoint. By the broker, it may also be in a "
     "container with a network of its own.",
     "Start the program, or give its endpoint (\"omx info\" lists them).",
     "no process of this host has endpoint {} open; start the program, or give its endpoint\n"
     "no process of this network namespace has endpoint {} open; start the program, or give its endpoint, or "
     "let the containers of this host share a network namespace\n"},
    {312, "the endpoint belongs to another user",
     "Processes of two users of one host share no memory, so no message passes between them.",
     "The two programs run as different users.",
     "Run both as the same user, or both with OMX_LINK=udp OMX_LOCAL=0.",
     "endpoint {} of this host belongs to {} of user {}, and this process to user {}; run both as the same "
     "user, or both with OMX_LINK=udp OMX_LOCAL=0\n"
     "endpoint {} of this host belongs to process {} of user {}, and this one to user {}: no message reaches "
     "it; run both as the same user, or both with OMX_LINK=udp OMX_LOCAL=0\n"
     "process {} of user {} is not let in, as endpoint {} of this host belongs to user {}: its messages are "
     "not received; run both as the same user, or both with OMX_LINK=udp OMX_LOCAL=0\n"},
    {313, "a process of this host does not answer",
     "The peer is on this host, has the endpoint open and does not answer, or did not have it open when it "
     "was asked.",
     "It is stopped, computes without calling the library, or has other settings of OMX_LINK, OMX_LOCAL or "
     "OMX_INTERFACES. If it refused, it may have opened the endpoint just afterwards.",
     "\"omx dump PID\" shows what it waits for. If it refused, try again.",
     "endpoint {} of this host belongs to {}, which does not answer: it may be stopped, or have another "
     "OMX_LINK, OMX_LOCAL or OMX_INTERFACES\n"
     "endpoint {} of this host belongs to {} now, but this process was refused: the endpoint may have been "
     "opened later, so try again, or its process has another OMX_LINK, OMX_LOCAL or OMX_INTERFACES\n"
     "a process that is not visible from here\n"},
    {314, "one side goes by raw frames, the other by UDP",
     "The two processes use different links, so nothing passes between them.",
     "One has CAP_NET_RAW or a broker and the other has not, or OMX_LINK differs.",
     "Give both the same OMX_LINK, or both CAP_NET_RAW or a broker. \"omx info\" shows the link of each "
     "host.",
     "programs there go by raw frames, and this process by UDP (OMX_LINK={}); {}\n"
     "set OMX_LINK=udp on both, or give both CAP_NET_RAW or a broker (omx info)\n"
     "give both the same OMX_LINK\n"
     "{}: the address {} is of a process that sends {}, and this process sends {}: nothing passes between "
     "them; set OMX_LINK=udp for all processes of the job, or give all of them CAP_NET_RAW or a broker (omx "
     "info)\n"},
    {315, "the UDP port of the peer is closed",
     "The host answered that no program has the UDP port of that endpoint.",
     "The program does not run, has another endpoint, goes by raw frames, or a firewall refuses the port.",
     "Start the program, or open UDP ports 27200 to 27711.",
     "nothing there has UDP port {} open: the program does not run, has another endpoint, goes by raw frames "
     "({}), or a firewall there refuses the port\n"},
    {316, "the peer's endpoint does not answer",
     "Programs on that host answer by raw frames, but this endpoint does not.",
     "Its process is stopped, or the number of the endpoint is wrong.",
     "Look at that host with \"omx info\" and \"omx dump PID\".",
     "programs there have raw frames and answer, but endpoint {} does not; its process may be stopped\n"},
    {317, "no program with Open-MX runs there",
     "The host is up, and no program answers, by raw frames or by UDP.",
     "The program was not started there, or has ended.", "Start it there.",
     "{} is up, but no program with Open-MX answers there, by raw frames or by UDP; start it there\n"},
    {318, "no program answers by raw frames", "Nothing answers by raw frames.",
     "The host is down, is on another network or VLAN, or its programs go by UDP.",
     "See \"omx peers\", and \"omx info\" on that host.",
     "{} {} no program there answers by raw frames; UDP port {} there is not closed, so one may run that "
     "goes by UDP: {}\n"
     "may be down, or is up and\n"
     "no program there answers by raw frames; see whether {} is up and on this network, and whether the "
     "program runs there and goes by raw frames, too ({})\n"},
    {319, "not a NIC id", "The number that the program gave is the id of no NIC.",
     "A fault of the program, or an id that was damaged on its way to it.",
     "Get the id from mx_hostname_to_nic_id.", "{} is not the id of a NIC\n"},
    {320, "this host does not send there", "The kernel of this host refuses to send datagrams to the peer.",
     "There is no route, or a firewall of this host forbids it.",
     "Look at \"ip route get ADDRESS\" and at the firewall.", "this host does not send there: {}\n"},
};
}  // namespace

constinit const Section kSectionConnect{"A name leads nowhere, a connect fails", kEntries};

}  // namespace omx::messages

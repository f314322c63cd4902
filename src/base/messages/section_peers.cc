// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {401, "a peer is silent", "A peer owes something and has said nothing for 10 s. Messages to it wait.",
     "Its process is stopped or in a debugger, its host or cable is down, or the network drops frames.",
     "Look at that process (\"omx dump PID\" on its host), its host and the cable. Nothing is lost yet.",
     "{}: {} has been silent for {}; {}\n"
     "it is waited for without a limit (OMX_PEER_TIMEOUT_MS)\n"
     "it is given up after {} (OMX_PEER_TIMEOUT_MS)\n"},
    {402, "a peer is back", "A peer that was silent answers again. Nothing was lost.",
     "The cause of the silence has gone.", "Nothing is to be done.", "{}: {} is back after {}\n"},
    {403, "a silent peer is given up",
     "The peer was silent for OMX_PEER_TIMEOUT_MS. All operations with it end with an error.",
     "The process is dead or stopped, its host is down, or the network is cut.",
     "See whether its process, its host and the network are well. Raise OMX_PEER_TIMEOUT_MS if it may be "
     "silent for longer.",
     "{}: {} has been silent for {} (OMX_PEER_TIMEOUT_MS) and is given up{}; see whether its process, its "
     "host and the network are well\n"
     "; {} operation{} with it ha{} failed\n"
     "; {} message{} that {} sent to it may not have arrived\n"},
    {404, "a peer is given up for want of memory",
     "This process cannot keep what it needs to go on with the peer. Operations with it end with an error.",
     "Memory is used up.", "Free memory on this host, or lower OMX_UNEXP_BYTES.",
     "{}: {} is given up, as this process cannot go on exchanging messages with it{}\n"},
    {405, "a peer has given this process up",
     "The peer heard nothing from this process for its OMX_PEER_TIMEOUT_MS. Operations with it end with an "
     "error.",
     "This process was stopped, or its frames were lost, for that long.",
     "Look for what stopped this process or cut its network. Raise OMX_PEER_TIMEOUT_MS on the peer.",
     "{}: {} has given this process up, as it heard nothing from it for its OMX_PEER_TIMEOUT_MS{}\n"},
    {406, "a peer has ended",
     "The endpoint of the peer is closed, or its process has ended. Operations with it end as closed.",
     "The program ended, crashed or was killed.",
     "If it should still run, look at its output and at the kernel's log (dmesg) on its host.",
     "{}: the program at {} has ended{}\n"},
    {407, "two wire modes",
     "The peer has another OMX_WIRE_MODE, so messages have the sizes of native MX, which is slower.",
     "The setting differs between the two.", "Give both the same OMX_WIRE_MODE.",
     "{}: {} has OMX_WIRE_MODE={}, and this process {}: messages between the two have the sizes of native "
     "MX, which is slower; give both the same OMX_WIRE_MODE\n"},
    {408, "UDP segmentation loses datagrams",
     "Single datagrams arrive, and those that the NIC makes out of a larger one do not.",
     "The NIC, its driver or something on the way breaks UDP segmentation offload.",
     "Run \"ethtool -K NAME tx-udp-segmentation off\" on the sender.",
     "{}: {} gets single datagrams, but not those that the NIC should make out of a larger one (UDP "
     "segmentation), so large messages go {}; ethtool -K {} tx-udp-segmentation off lets the kernel make "
     "them\n"
     "by single ones, slowly\n"
     "by frames instead\n"},
    {409, "another version of Open-MX on this host",
     "Two processes of this host use versions that share no memory format. No message passes between them.",
     "The programs were linked with different libraries.", "Start both with the same library.",
     "process {} of this host has another version of Open-MX (rings of version {}, here {}): no message "
     "passes between the two; start both with the same library\n"},
    {410, "no way to an endpoint of this host",
     "This process could not connect to another of the same host, or let it in.",
     "No descriptor or no memory was left for 10 s.",
     "Raise the limit of open files (ulimit -n), or free memory.",
     "{} endpoint {}: no way to endpoint {} of this host for {} s ({}): what waits for it fails; raise the "
     "limit of open files (ulimit -n), or free memory\n"
     "no connection to endpoint {} of this host: {}; {}\n"
     "another endpoint of this host cannot be let in, its messages are not received: {}; {}\n"},
    {411, "large messages take two copies",
     "The memory of the other process cannot be read, so messages inside the host are copied twice. They "
     "arrive all the same.",
     "ptrace restrictions, another PID namespace, or a filter of system calls forbid process_vm_readv.",
     "Do what the message names: the same user, kernel.yama.ptrace_scope=0, --cap-add SYS_PTRACE or "
     "--pid=host.",
     "large messages from process {} of this host take two copies, as its memory cannot be read ({}): {}\n"
     "run both as the same user with the same capabilities (setcap), and with sysctl "
     "kernel.yama.ptrace_scope=0; containers with --cap-add SYS_PTRACE\n"
     "this kernel has no process_vm_readv (CONFIG_CROSS_MEMORY_ATTACH), or a filter of system calls hides "
     "it; containers need --cap-add SYS_PTRACE or another seccomp profile\n"
     "a filter of system calls forbids process_vm_readv; containers need --cap-add SYS_PTRACE or another "
     "seccomp profile\n"
     "it has no number in our PID namespace; start containers with --pid=host, or all in one\n"},
};
}  // namespace

constinit const Section kSectionPeers{"A peer is lost", kEntries};

}  // namespace omx::messages

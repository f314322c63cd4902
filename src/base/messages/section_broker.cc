// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {801, "no broker answers", "The broker omxd could not be asked for raw frames.",
     "It does not run, or the user may not use its socket.",
     "Start it (systemctl start omxd.socket), join its group, or set OMX_BROKER=off. Messages can go by UDP.",
     "no broker at {}: {}; {}\n"
     "your user is not in the broker's group (SocketGroup of omxd.socket, usually open-mx)\n"
     "start it with \"systemctl start omxd.socket\", or set OMX_BROKER=off\n"},
    {802, "the broker does not answer",
     "The broker accepted the connection or has it in its queue, and gave no answer.",
     "It is overloaded, was stopped, or ended the connection.", "Look at its log: journalctl -u omxd.",
     "the broker at {} does not accept connections: its queue is full; see its log (journalctl -u omxd)\n"
     "it ended the connection; see its log (journalctl -u omxd)\n"
     "it does not answer\n"
     "it takes no request\n"
     "no answer in time; see its log (journalctl -u omxd)\n"
     "the broker takes no request; see its log (journalctl -u omxd)\n"},
    {803, "library and broker differ", "The library does not understand what the broker granted.",
     "open-mx and open-mx-broker are of different versions.",
     "Install the same version of both, and restart omxd.",
     "the broker granted {}; install the same version of open-mx and open-mx-broker\n"
     "an endpoint without sockets\n"
     "something that is no packet socket\n"
     "a ring that cannot be: {} blocks of {} bytes with {} slots of {} bytes\n"
     "this is no message of Open-MX\n"
     "library and broker differ: one speaks version {}, the other {}; install the same version of open-mx "
     "and open-mx-broker\n"},
    {804, "a malformed request to the broker",
     "Broker or library got a request or an answer that is not as it must be.",
     "Another program talks to the socket, or the versions differ.",
     "Install the same version of open-mx and open-mx-broker.",
     "a request is cut off\n"
     "a request has {} bytes instead of {}\n"
     "there is no request of kind {}\n"
     "the request names no interface\n"
     "there is no endpoint {}; the last one is 255\n"
     "its answer is cut off\n"
     "it answers another question\n"
     "its answer has a wrong length\n"
     "this connection holds another endpoint; use one connection for each\n"
     "this connection has no endpoint open; open one first\n"
     "there is no socket of kind {}\n"
     "this endpoint has such a socket already; close it first\n"
     "this process has no such grant; open the endpoint again\n"
     "sent descriptors, which no library does\n"},
    {805, "the policy gives the user no raw frames", "The broker refused the user.",
     "broker.conf does not name the user, its groups or the board, or gives no endpoints.",
     "The administrator adds the user as the message says, and runs \"systemctl reload omxd\".",
     "the broker at {} grants this user no board; ask the administrator for it (broker.conf)\n"
     "the administrator adds the user to \"users\" there\n"
     "the administrator adds the user to the group ({}usermod -aG {} NAME), and the user logs in again\n"
     "user {} may have no raw frames on {}: {}\n"
     "it is no board of the broker ({})\n"
     "the board is in trusted mode, so {} must name the user or a group, and \"users = *\" does not; {}\n"
     "{} gives the user no endpoints; the administrator raises \"endpoints\" there\n"},
    {806, "what the broker granted cannot be mapped", "The memory of a granted socket could not be mapped.",
     "The limit of memory is reached.", "Raise the limit (ulimit -v).",
     "cannot map the classes of a granted socket: {}; raise the limit of memory (ulimit -v)\n"
     "{}: cannot map the granted receive ring: {}; raise the limit of memory (ulimit -v)\n"},
    {807, "a quota of the broker is used up",
     "The user, or all users together, hold as much as the policy allows.",
     "Many endpoints, rings or connections are open.",
     "Do what the message names, or let the administrator raise the quota in broker.conf.",
     "and asks for {} more\n"
     "user {} holds {} of {} {}{}; {}, or the administrator raises it in {} (user {} {} = ...)\n"
     "all users of the broker together hold {} of {} {}{}, and user {} holds {} of them; {}, or the "
     "administrator lowers \"{}\" of other users in {}\n"
     "close endpoints or make rings smaller (OMX_RING_BYTES)\n"
     "connections to the broker\n"},
    {808, "too many users have a rate", "The broker can hold back no further user.",
     "More users with a rate have programs open than the broker has room for.",
     "End some programs, or give fewer users a rate.",
     "{} users have a rate, and the broker can hold no more back; let some users end their programs, or give "
     "fewer a rate\n"},
    {809, "the broker serves no such board", "The broker does not serve the interface that was asked for.",
     "broker.conf does not name it, or it is not there now.",
     "Name it in broker.conf (\"boards\"), and run \"systemctl reload omxd\".",
     "the broker of this host serves no board; see its log (journalctl -u omxd)\n"
     "the broker of this host serves no board {}\n"},
    {810, "the broker has no place left", "The broker has as many endpoints open as it can.",
     "Other users have them all.", "Close endpoints on this host (\"omxd --grants\" shows them).",
     "the broker has no slot left; close endpoints on this host\n"},
    {820, "omxd needs rights", "The broker or its command needs root.",
     "It was started by an ordinary user, or its service lacks a capability.",
     "Start it with \"systemctl start omxd.socket\", or use sudo.",
     "{} needs root: sudo omxd {}\n"
     "the broker needs root, or the capabilities of omxd.service; start it with \"systemctl start "
     "omxd.socket\"\n"
     "; the broker needs CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN and CAP_BPF: run it as root\n"},
    {821, "the policy of the broker is wrong",
     "broker.conf cannot be read or has a line that is not understood.",
     "A key, name or value is mistyped, or the file could be changed by others than root.",
     "Correct the line that the message names. \"omxd --check\" tests the file.",
     "this host has no {} \"{}\"; correct the name, or create it ({} NAME)\n"
     "groups takes no \"*\"; write \"users = *\" for all users\n"
     "unknown key \"{}\"; keys are {}\n"
     "{} cannot be set for a {}; write {}\n"
     "\"{}\" is no key; write \"key = value\", or \"user NAME\", \"group NAME\" or \"board NAME\" before the "
     "key\n"
     "\"{}\" is not user, group or board; write one of these before the name\n"
     "\"{}\" is no name of an interface; ip link lists the names\n"
     "it must be a regular file of root that no other user may write; chown root and chmod 644\n"
     "; correct the path (omxd --config FILE) or the file\n"},
    {822, "the socket of the broker cannot be made", "The path where users reach the broker cannot be used.",
     "Its folder is missing, another file is there, or rights are missing.",
     "Choose another path (--socket, or \"socket\" in broker.conf).",
     "cannot {} {}: {}; choose another path (--socket, or \"socket\" in broker.conf)\n"
     "{} is not a socket, and is left alone; choose another path (--socket, or \"socket\" in broker.conf), "
     "or remove it\n"
     "give the group of the policy to\n"
     "set the permissions of\n"},
    {823, "another broker runs", "Only one broker can serve this socket.",
     "omxd runs already, perhaps started by systemd.",
     "End it first: systemctl stop omxd.socket omxd.service.",
     "another broker listens at {}; end it first (systemctl stop omxd.socket omxd.service)\n"
     "a broker listens at {}; end it first (systemctl stop omxd.socket omxd.service), then call omxd --clean "
     "again\n"},
    {824, "the kernel refused a step of the broker",
     "A call that the broker needs failed. The message ends with the kernel's reason.",
     "Rights, memory or descriptors are missing, or the kernel lacks a feature.",
     "Follow the reason. The broker needs the capabilities of omxd.service.",
     "{} the macvlan of {}\n"
     "end: process {} endpoint {}: {}\n"
     "the socket of the board's voice\n"
     "load the program {}\n"
     "this kernel refuses the program {} ({}); Linux 5.12 or later with CONFIG_BPF_SYSCALL is needed: {}\n"
     "make the BPF map {}\n"
     "add the broker's filter to the egress of {}\n"
     "make a clsact on {}\n"
     "read the egress filters of {}\n"
     "remove the broker's filter from {}\n"
     "remove the clsact of {}\n"
     "add the broker's program to the egress of {}\n"
     "remove the former program of the broker from {}\n"
     "remove the broker's program from {}\n"
     "read the facts of the egress program\n"
     "open a map of the egress program\n"
     "; raise the limit of open files (ulimit -n, LimitNOFILE=)\n"
     "enter the network of\n"
     "set the MTU of\n"
     "make a network namespace\n"
     "make the file\n"
     "mount a network namespace at\n"
     "open the network namespace\n"
     "open the network namespace of this process\n"
     "remove the file\n"
     "; sealed sockets also need CONFIG_CGROUP_BPF\n"
     "open the cgroup\n"
     "attach the sealing program to the cgroup\n"
     "draw a random number\n"
     "make the cgroup\n"
     "(below a systemd unit that takes Delegate=yes)\n"
     "move this process into the cgroup\n"
     "move this process back into the cgroup\n"
     "remove the cgroup\n"
     "open a packet socket in the private network\n"
     "give a packet socket its ring\n"
     "read the cookie of a socket\n"
     "attach the receive program\n"
     "tie a sealed socket to its interface\n"
     "the kernel does not tell the number of a BPF map\n"
     "a BPF map cannot be cleared: {}\n"
     "a grant cannot be written: {}\n"
     "the grant of process {} cannot be revoked: {}\n"
     "read the state of\n"
     "note the trusted mode of\n"
     "list packet sockets (CONFIG_PACKET_DIAG)\n"
     "the broker's loop\n"},
    {825, "the kernel lacks a module that the broker needs",
     "A module or a file system that confines users is missing.",
     "The kernel was built without it, or it is not loaded or mounted.",
     "Load or mount what the message names, or use the trusted mode.",
     "this kernel has no clsact: load the module sch_ingress (CONFIG_NET_SCH_INGRESS)\n"
     "this kernel has no macvlan: load the module macvlan (CONFIG_MACVLAN)\n"
     "sealed sockets need cgroup v2, and no mounted one shows this process: mount -t cgroup2 none "
     "/sys/fs/cgroup/unified, or let the broker trust its users (trusted mode)\n"},
    {826, "something else is where the broker must be",
     "A filter, a program or an interface of another owner is in the broker's place.",
     "Another broker, a former version, or another user of the interface is there.",
     "Do what the message names.",
     "cannot add the broker's filter to {}: another kind of filter has the egress priority {}; move it to "
     "another priority (tc filter show dev {} egress)\n"
     "the egress program in force is of another version, as its map {} differs; remove it when no job uses "
     "it: omxd --clean\n"
     "{} cannot have a macvlan ({}): another interface uses it, as a bridge, bond or passthru macvlan does; "
     "let the broker trust its users there (trusted mode)\n"
     "the address of the macvlan of {} is taken, as by another broker, which you may end, or by jobs of a "
     "former one: wait until they end\n"},
    {827, "the private network of the broker is not as it must be",
     "A network namespace or a macvlan of the broker is missing or left over.",
     "A former broker was killed, or it was removed by hand.",
     "Run \"omxd --clean\" when no job runs, and start the broker again.",
     "the macvlan of {} went away; is the NIC there?\n"
     "a network namespace is mounted at {} already: umount {}\n"
     "no network namespace is mounted at {}\n"},
    {828, "the seal of sockets does not hold",
     "The broker is no longer in its cgroup, so sockets cannot be confined. No socket is given out.",
     "Another broker or an administrator moved or removed the cgroup.", "Restart omxd.",
     "another broker removed the cgroup\n"
     "; start this one again\n"
     "a socket without a locked receive program is not sealed\n"
     "the seal of a socket does not hold, so it is not given to the user: the broker has left its cgroup; "
     "restart it\n"},
    {829, "the broker ended a grant",
     "An endpoint of a user has ended. The message says why and what was sent, and what was refused.",
     "The process ended, the policy changed, or the program sent frames that are not allowed.",
     "Frames that are not allowed mean a faulty or hostile program: look at the user's program.",
     "end: process {} endpoint {} of {}: {}\n"
     "the policy names others\n"
     "the policy has this board no more\n"
     "the policy changed the mode of this board\n"
     "the policy changed \"passthru\" of this board\n"
     "its NIC has another MAC address\n"
     "its process does not read\n"
     "end: user {} process {} {}: {}; {} frames sent, {} not allowed, {} too fast\n"
     "the policy allows it no more\n"
     "is no board of the broker any more\n"},
    {830, "the broker's program was removed",
     "The program that holds users to their own frames was taken off an interface.",
     "An administrator or another program removed it.",
     "Find out who did. The message says whether it is there again.",
     "the broker's egress program was removed from {}, so its users could send more than their own frames; "
     "{}\n"
     "it is there again\n"},
    {831, "a NIC of the broker is gone or changed", "Endpoints on this interface are silent.",
     "The interface was removed, or has another MAC address.",
     "Bring it back, or run \"systemctl reload omxd\" to serve the new address.",
     "{}; it is served once it is there\n"
     "{} is gone\n"
     "is gone; its sockets are silent, and endpoints can be opened when it is back\n"
     "{} has the MAC address {} now, so its endpoints, which have the former one, are silent; \"systemctl "
     "reload omxd\" ends them and serves the new one\n"},
    {832, "the broker accepts no connection", "The broker cannot accept further users.",
     "Its limit of open files is reached.", "Raise LimitNOFILE of omxd.service.",
     "no connection can be accepted: {}; raise LimitNOFILE of omxd.service\n"},
    {833, "a new policy was not taken",
     "The policy was read again and is wrong. The former one stays in force.",
     "The text before it names the line.", "Correct the file, and run \"systemctl reload omxd\".",
     "{}; the boards stay as they are\n"
     "{}; the former policy stays in force\n"},
    {834, "no board can be served", "The broker found no interface that it can serve.",
     "broker.conf names none that is there, or each failed as the messages above say.",
     "Name interfaces in broker.conf (boards = NAME).",
     "no board can be served; name interfaces in broker.conf (boards = NAME), or see above what is "
     "missing\n"},
    {835, "the broker's program stays",
     "omxd --clean leaves its program where sockets of trusted users may be open.",
     "Processes with such sockets still run.",
     "End them (ss --packet --processes shows them), and call omxd --clean again.",
     "the broker's program stays at {}, because sockets of its trusted mode may be open, which it keeps "
     "silent; end their processes (ss --packet --processes shows them), then call omxd --clean again\n"},
    {836, "open endpoints go silent", "The broker could not take up the endpoints of its predecessor.",
     "The state in the kernel is missing or of another version.", "Restart the programs that are open now.",
     "no broker has served this host since it started\n"
     "{}; endpoints that are open now go silent\n"},
    {837, "no thread to make rings ahead", "The broker works, and opening an endpoint takes longer.",
     "The limit of threads is reached.", "Raise TasksMax of omxd.service.",
     "no thread to make rings ahead: {}; opening an endpoint takes longer\n"},
};
}  // namespace

constinit const Section kSectionBroker{"The broker", kEntries};

}  // namespace omx::messages

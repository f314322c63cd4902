// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {101, "no usable interface", "No interface of this host can carry messages.",
     "No Ethernet interface is up, OMX_INTERFACES names none that is usable, or messages go by UDP and no "
     "interface has an IP address.",
     "Look at \"omx info\", which names each interface that is not used and why. Bring one up (ip link set "
     "dev NAME up), give it an address, or name one in OMX_INTERFACES.",
     "no usable Ethernet interface; bring one up with \"ip link set dev NAME up\" or name one in "
     "OMX_INTERFACES ({})\n"
     "no IPv4 address, by which messages go here (OMX_LINK)\n"
     "no IPv6 address but a link-local one, and others have more\n"
     "no IPv6 address, which OMX_LINK=udp6 needs\n"
     "no IP address, which OMX_LINK=udp needs\n"
     "no interface is up ({}); bring one up with \"ip link set dev NAME up\"\n"
     "down (ip link set {} up)\n"
     "port of {}, which gets its frames\n"
     "{}: only taken when named in {}\n"
     "{} beside a physical interface: only taken when named in {}\n"
     "loopback, only taken by its name\n"},
    {102, "no right to send raw frames",
     "The process may not open a packet socket, and OMX_LINK asks for raw frames.",
     "The program has no CAP_NET_RAW, and no broker grants it raw frames.",
     "Give the program the capability (setcap cap_net_raw+ep PROGRAM, or --cap-add NET_RAW for a container), "
     "ask the administrator for the broker omxd, or set OMX_LINK=udp on all hosts.",
     "this process may not open packet sockets, so it can open no endpoint: run as root, or give the program "
     "the capability (setcap cap_net_raw+ep PROGRAM), or the container (docker run --cap-add NET_RAW), or "
     "start the broker (systemctl start omxd.socket), {}\n"
     "or give an interface an IP address, so that messages go by UDP\n"
     "or let messages go by UDP (OMX_LINK=udp, on all hosts)\n"
     "opening a packet socket on {} needs CAP_NET_RAW: run as root, or give the program the capability "
     "(setcap cap_net_raw+ep PROGRAM), or the container (docker run --cap-add NET_RAW), or start the broker "
     "(systemctl start omxd.socket)\n"
     "no permission to send Ethernet frames: run as root or give the program CAP_NET_RAW (setcap "
     "cap_net_raw+ep PROGRAM, or --cap-add NET_RAW for a container), or start the broker (systemctl start "
     "omxd.socket), or set OMX_LINK=udp\n"},
    {103, "the kernel has no packet sockets",
     "Raw frames need packet sockets, which this kernel does not offer.",
     "The module af_packet is not loaded, or the kernel was built without CONFIG_PACKET.",
     "Run \"modprobe af_packet\", or set OMX_LINK=udp on all hosts.",
     "this kernel has no packet sockets: it needs CONFIG_PACKET (modprobe af_packet)\n"},
    {104, "a packet socket cannot be used",
     "The kernel refused a step of opening a packet socket. The message ends with its reason.",
     "Descriptors or memory ran out, the interface went away, or a filter of system calls forbids it.",
     "Follow the reason. \"omx info\" shows whether raw frames work here. OMX_LINK=udp works without packet "
     "sockets.",
     "a packet socket on\n"
     "{}: cannot make a packet socket ready (filter, TPACKET_V2): {}\n"
     "cannot bind to {}: {}\n"},
    {105, "not an Ethernet interface", "The named interface carries no Ethernet frames.",
     "OMX_INTERFACES or --interface names a tunnel, an InfiniBand port or the like.",
     "Name an Ethernet interface. \"omx info\" lists them.",
     "{} is not an Ethernet interface (hardware type {}): choose another with OMX_INTERFACES\n"
     "{} is not an Ethernet interface\n"},
    {106, "no such interface",
     "The named interface does not exist in this network namespace. The message lists those that do.",
     "A name was mistyped, the interface was renamed, or the container does not have it.",
     "Give one of the names in the message.",
     "no interface {}; there are: {}\n"
     "there is no interface {}; there are: {}\n"
     "there is no interface \"{}\"; there are: {}\n"
     "there is no interface {} here; there are: {}\n"},
    {107, "OMX_INTERFACES or OMX_RAILS names nothing here",
     "A word of the setting fits no interface of this host.",
     "The word is mistyped, another host has this address or this speed, or the interface is not usable.",
     "Compare the setting with \"omx info\". Write a name, a MAC address, a network, a PCI address or a "
     "speed.",
     "{} names {}, which does not exist; {}\n"
     "{} holds {}; write a name, a MAC address, a network (10.1.0.0/16), a PCI address (0000:3b:00.0) or a "
     "speed (speed>=10g)\n"
     "{} asks for {}, which is {}: {}\n"
     "{} asks for the MAC address {}, which no interface has; {}\n"
     "{} asks for an address in {}, which no interface has; {}\n"
     "{} asks for the PCI address {}, which no interface has; {}\n"
     "{} asks for {}, {}; {}\n"
     "which no interface has (omx info shows their speeds)\n"
     "but no interface here tells its speed: write names instead\n"
     "OMX_RAILS names {}, the loopback, by which no other host is reached; leave it out\n"
     "OMX_RAILS names {}, which is no board here; omx info shows the boards, and why others are none\n"
     "{} cannot carry Open-MX: {}; omx info shows what can\n"},
    {108, "the state of an interface cannot be read", "The kernel did not tell the state of an interface.",
     "The interface was removed at that moment, or descriptors ran out.",
     "Look whether the interface is there (\"ip link show\"), and try again.",
     "cannot read the state of {}: {}\n"},
    {109, "no IP address for UDP",
     "Messages go by UDP, and the interface has no IP address of the family that OMX_LINK asks for.",
     "The interface was never given an address, or OMX_LINK names the other family.",
     "Give it an address (ip address add ADDRESS/BITS dev NAME), or set OMX_LINK=udp.",
     "{} has no {} address, which Open-MX by UDP needs: ip address add ADDRESS/BITS dev {}\n"},
    {110, "the UDP port is taken", "The UDP port of an endpoint cannot be bound.",
     "Another program has the port: OMX_UDP_PORT plus the number of the endpoint.",
     "Find the owner with \"ss -ulpn\". Set OMX_UDP_PORT to another number, the same on all hosts.",
     "UDP port {} of {} is in use by another program: set OMX_UDP_PORT to another number, the same on all "
     "hosts\n"
     "UDP port {} on {}\n"},
    {111, "this build has no AF_XDP", "OMX_LINK=xdp was asked for, and Open-MX was built without it.",
     "The packages that AF_XDP needs were missing when Open-MX was built.",
     "Set OMX_LINK=ethernet, or install the packages that the message names and build again.",
     "this build has no AF_XDP: install the packages clang, bpftool, libbpf-dev and libxdp-dev and build "
     "Open-MX again, beginning with cmake, or set OMX_LINK=ethernet\n"
     "this build has no AF_XDP\n"},
    {112, "the kernel has no AF_XDP", "OMX_LINK=xdp was asked for, and this kernel does not offer it.",
     "The kernel is older than Linux 5.18, or has no CONFIG_XDP_SOCKETS.",
     "Set OMX_LINK=ethernet, which uses packet sockets.",
     "this kernel has no AF_XDP: it needs CONFIG_XDP_SOCKETS; set OMX_LINK=ethernet\n"
     "(it takes Linux 5.18 or newer with CONFIG_XDP_SOCKETS)\n"},
    {113, "AF_XDP needs more rights", "The process may not load an XDP program or open an AF_XDP socket.",
     "The program runs neither as root nor with the capabilities that the message names.",
     "Run as root, or set OMX_LINK=ethernet.",
     "{} on {} takes root (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN outside of user "
     "namespaces): {}; run as root, or set OMX_LINK=ethernet\n"
     "opening an AF_XDP socket on {} needs CAP_NET_RAW: run as root, or set OMX_LINK=auto\n"},
    {114, "the kernel refused a step of AF_XDP",
     "A program or a socket of AF_XDP could not be set up. The message ends with the kernel's reason.",
     "The driver does not support it, or memory or descriptors ran out.",
     "Set OMX_LINK=ethernet, or follow the reason.",
     "{} on {} was refused by the kernel: {}{}; OMX_LINK=ethernet works without\n"
     "asking for the XDP program\n"
     "loading the XDP program\n"
     "attaching the XDP program\n"
     "looking at the XDP program\n"
     "an AF_XDP socket on\n"
     "an AF_XDP socket on queue {} of {}\n"},
    {115, "another XDP program is there",
     "An interface takes one XDP program, and another one is attached or was attached in another mode.",
     "Another system (a firewall, a monitor), omx steer, or a process with another OMX_XDP_MODE uses it.",
     "Give all processes the same OMX_XDP_MODE, take the other program off if it may go, or set "
     "OMX_LINK=ethernet.",
     "{} has another XDP program, \"{}\" (id {}), and an interface takes one; if it may go: {}, else set "
     "OMX_LINK=ethernet\n"
     "ip link set dev {} xdp{} off\n"
     "other processes use {} with AF_XDP in {} mode, and OMX_XDP_MODE={} asks for another; give all the "
     "same\n"
     "XDP programs come and go on {}; try again\n"},
    {116, "the driver does not support this mode of AF_XDP",
     "OMX_XDP_MODE asks for a mode that the driver of the NIC does not have.",
     "Native mode and zero-copy need support in the driver.",
     "Set OMX_XDP_MODE=auto. \"omx check\" names the driver.",
     "{} takes no XDP program in its driver: {}; set OMX_XDP_MODE to auto or generic\n"
     "the driver of {} does not share memory with programs (AF_XDP zero-copy): {}; set OMX_XDP_MODE to auto "
     "or copy\n"},
    {117, "no receive queue for AF_XDP",
     "The endpoint found no free receive queue, or OMX_XDP_QUEUE names none.",
     "Each queue serves one process, and others have them all.",
     "Set OMX_XDP_QUEUE=auto, raise the number of queues (\"ethtool -L NAME combined N\"), or use "
     "OMX_LINK=ethernet. Messages go by packet sockets meanwhile.",
     "{} endpoint {}: {}; its frames go by a packet socket instead of AF_XDP\n"
     "; messages go by packet sockets until one is free\n"
     "{} has no receive queue {}: set OMX_XDP_QUEUE to auto or to a lower number\n"
     "other processes have all of its receive queues\n"
     "another process has its receive queue {}\n"},
    {118, "no such board", "A board was asked for by a number or an address that this host does not have.",
     "The program was written for a host with more interfaces, or OMX_INTERFACES leaves one out.",
     "\"omx info\" lists the boards with their numbers.",
     "there is no board {}; there are {} (omx info)\n"
     "there is no board {}; omx info shows those there are, and --interface names any interface\n"
     "there is no board {}; this host has {} (omx info shows them)\n"
     "{} is not a board of this host\n"},
    {119, "another version of the MX interface",
     "The program was compiled against headers of a version that this library does not serve.",
     "The program was built for another major version of the MX API.",
     "Build the program again with the headers of this library.",
     "the program wants version {} of the interface, this is {}\n"},
    {120, "a forked process cannot use its parent's endpoints",
     "The process is a child that was forked after the library was initialised.",
     "Endpoints, their sockets and their memory belong to the parent.",
     "Call mx_finalize and mx_init in the child, or call exec.",
     "this process was forked from one that uses Open-MX; initialise it again here (mx_finalize, mx_init) or "
     "call exec\n"
     "the endpoint was opened before this process was forked; call mx_finalize and mx_init here, or exec\n"},
    {121, "no file descriptor is left", "The kernel refused another file descriptor.",
     "The limit of open files is reached. An endpoint takes 8 descriptors, each peer on its own host 2 more.",
     "Raise the limit (\"ulimit -n 4096\", LimitNOFILE= of a service), or the one of the host that the "
     "message names (sysctl).",
     "raise the limit of open files (ulimit -n)\n"
     "no descriptor is left; raise the limit of open files (ulimit -n)\n"
     "; raise the limit of open files (ulimit -n)\n"
     "raise sysctl fs.file-max\n"
     "raise sysctl fs.epoll.max_user_watches\n"
     "cannot open {}: {}{}\n"
     "no epoll descriptor for the endpoints of this host; raise the limit of open files (ulimit -n)\n"
     "an eventfd of an endpoint\n"},
    {122, "the MTU is too small for native MX",
     "OMX_WIRE_MODE=mxoe sends frames as native MX does, and the MTU does not hold them.",
     "The interface has the usual MTU of 1500.",
     "Raise the MTU on all hosts and switches (ip link set dev NAME mtu 9000).",
     "{}: MTU {} is less than the {} that native MX needs; from its hosts messages of more than about {} "
     "bytes will not arrive (ip link set dev {} mtu 9000, on all hosts and switches)\n"},
    {123, "the interface is down", "Nothing can be sent or received by this interface.",
     "It was never brought up, or was taken down.", "Run \"ip link set dev NAME up\" as root.",
     "{} is down, nothing can be sent or received: ip link set {} up\n"
     "{} is down: ip link set dev {} up\n"
     "{} is DOWN: ip link set dev {} up\n"},
    {124, "the MTU is invalid", "The interface has an MTU with which Open-MX cannot work.",
     "The MTU was set below the least or above the largest frame.", "Run the command that the message names.",
     "{} has an MTU of {}, less than Ethernet's {}: ip link set dev {} mtu {}\n"
     "{} has an invalid MTU of {}: ip link set dev {} mtu {}\n"},
    {130, "the configuration file cannot be read",
     "The file that OMX_CONFIG names, or the usual one, cannot be read.",
     "The file is missing, is no regular file, or its permissions forbid it.",
     "Correct OMX_CONFIG or the permissions of the file. \"omx info --settings\" shows what is in force.",
     "cannot read the configuration file {}: {}; correct OMX_CONFIG or its permissions\n"
     "it is not a regular file\n"},
    {131, "a line of a configuration file is wrong",
     "A line of the configuration file or of broker.conf is not understood. The message names file and line.",
     "A key is mistyped, given twice, or has a value that is not accepted.",
     "Correct the line. \"omx info --settings\" lists the keys and what they accept.",
     "unknown key \"{}\"; write \"{}\"\n"
     "unknown key \"{}\"; did you mean \"{}\"?\n"
     "unknown key \"{}\"; keys are the variables that \"omx info --settings\" lists, without OMX_ and in "
     "lower case\n"
     "no '=' in \"{}\"; write \"key = value\"\n"
     "\"{}\" was set in line {} already; remove one of the two\n"
     "{} = \"{}\" is not accepted; give {}\n"},
    {132, "a setting in the environment is not accepted",
     "A setting has a value that is not accepted, or two settings do not fit each other.",
     "A value is mistyped, or belongs to another setting.",
     "Give what the message says, or unset the variable. \"omx info --settings\" lists what is accepted.",
     "{}=\"{}\" in the environment has no effect; give {}\n"
     "{}=\"{}\" in the environment is not accepted; give {}, or unset it\n"
     "board {}: these settings cannot work; omx info --settings shows them\n"},
    {133, "an environment variable is no setting",
     "A variable begins with OMX_, and no setting has that name. It has no effect.",
     "The name is mistyped, or belongs to another version.",
     "Correct or unset it. \"omx info --settings\" lists the names.",
     "{} is not a setting; omx info --settings lists them\n"
     "{} is not a setting; did you mean {}{}?\n"},
    {134, "no effect in a privileged program",
     "A setting that names a file is ignored, because the program has privileges of its own.",
     "The program is setuid or has file capabilities, so its caller must not choose files.",
     "Use the files in /etc/open-mx.",
     "{} has no effect in a program with privileges of its own (setuid, setcap); use the files in "
     "/etc/open-mx\n"},
    {135, "the peers file cannot be read",
     "The file that OMX_PEERS_FILE names, or the usual one, cannot be read.",
     "The file is missing, or its permissions forbid it.",
     "Correct OMX_PEERS_FILE or the permissions of the file.",
     "cannot read the peers file {}: {}; correct OMX_PEERS_FILE or its permissions\n"},
    {136, "a line of a peers file is wrong",
     "A line of the table of peers is not \"MAC NAME\". The message names file and line.",
     "The address or the name is malformed, or stands in another line already.",
     "Correct the line, for example: 02:00:00:00:00:01 node1:0.",
     "{}:{}: {}; write \"MAC NAME\", for example \"02:00:00:00:00:01 node1:0\"\n"
     "\"{}\" is not a MAC address\n"
     "the name \"{}\" has more than {} characters\n"
     "the name \"{}\" has control characters\n"
     "{} was named in line {} already\n"
     "\"{}\" names another NIC in line {}\n"},
    {137, "the log file cannot be written",
     "The file of OMX_LOG_FILE cannot be written. Messages go to stderr instead.",
     "Its folder is missing, permissions forbid it, the disk is full, or no descriptor is left.",
     "Name a file that this process may write. %h and %p make one for each host and process.",
     "cannot write the log file {}: {}; {}; messages go to stderr\n"
     "name a file in OMX_LOG_FILE that this process may write\n"},
    {138, "a thread was not moved",
     "OMX_PROCESS_BINDING asks for a processor that the thread cannot have. The thread stays where it is.",
     "The process is confined to other processors (taskset, a cgroup, MPI's binding), or other endpoints "
     "have them.",
     "Give processors that \"taskset -cp PID\" shows, or set OMX_PROCESS_BINDING=off.",
     "{}: this thread stays on processor {}, where it has another endpoint\n"
     "{}: this thread stays where it is, as OMX_PROCESS_BINDING={} cannot be done: {}\n"
     "{}: this thread stays where it is (OMX_PROCESS_BINDING={}): {}\n"
     "{}: this thread cannot be moved to processor {} (OMX_PROCESS_BINDING={}): {}\n"
     "of processor {}, where {} brings its frames\n"
     "none of the processors that it may use ({}) is known to share a cache {}\n"
     "other endpoints have the processors that share the cache {}\n"
     "which share the cache {}; other endpoints have each of them\n"
     "where {} brings its frames\n"
     "which shares a cache with processor {}, where {} brings its frames and {}\n"
     "it may not run\n"
     "it is bound to processor{} {} already\n"
     "the kernel does not tell where it may run\n"
     "it may run on processor {} only\n"
     "messages by UDP arrive in all receive queues, not in one of them, where no flow rule says in which "
     "(omx steer --flows)\n"
     "which processor handles the frames of {} is not known\n"
     "processor {} is not one that this process may use ({}); give others, or off\n"
     "{} gives it processors ({}) that this process may not use ({})\n"
     ": which processors handle its frames is not known\n"},
    {139, "the binding file cannot be used",
     "The file of OMX_PROCESS_BINDING=file is missing, malformed or could have been changed by others.",
     "It was never written, belongs to another user, or the interfaces of the host have changed.",
     "Write it again: omx prepare-binding FILE.",
     "{}:{} is not \"board MAC ep NUMBER irq NUMBER mask HEXADECIMAL\"; omx prepare-binding writes such "
     "files\n"
     "{} is not a file that only root or this user may change; rm {} (as its owner, or root) && omx "
     "prepare-binding {}\n"
     "; omx prepare-binding\n"
     "writes it\n"
     "{} has no line for board {} ep {}; omx prepare-binding writes it again\n"},
    {140, "which processors share caches is not known",
     "Endpoints are placed without knowing which processors share caches.",
     "hwloc is missing, is another version, or finds nothing here.",
     "Install libhwloc15, or ignore it: only the placement of threads is affected.",
     "another libhwloc than the one that is loaded\n"
     "programs with privileges of their own (setuid, setcap) do not use hwloc\n"
     "there is no libhwloc.so.15 (apt-get install libhwloc15)\n"
     "hwloc cannot be started\n"
     "hwloc does not find out which processors share caches here\n"
     "Open-MX was built without hwloc (apt-get install libhwloc-dev, and build it again)\n"
     "which processors share caches is not known: {}\n"},
    {141, "the processors of the progress thread cannot be used",
     "OMX_PROGRESS_CPUS names processors that this process may not use.",
     "The process is confined to other processors.",
     "Give processors that \"taskset -cp PID\" shows, or OMX_PROGRESS_CPUS=inherit.",
     "OMX_PROGRESS_CPUS={}: this process may use none of these processors, so its progress thread runs where "
     "the application does; give others, or inherit\n"},
    {142, "how frames are steered cannot be seen",
     "An XDP program is attached, and this process cannot read its table.",
     "Reading it needs root, or another version of Open-MX attached it.",
     "As root, run \"omx prepare-binding FILE\", or \"omx steer NAME\" again.",
     "{} has an XDP program, and whether it hands frames to other processors (omx steer) is not to be seen "
     "by this process ({}); as root, omx prepare-binding FILE writes it down for "
     "OMX_PROCESS_BINDING=file:FILE\n"
     "{} is steered by another version of Open-MX, whose table cannot be read; omx steer {} replaces it\n"},
    {143, "the report of a job has no file", "With OMX_REPORT this process prints a line of its own.",
     "The folder for shared memory is full, or is not writable.",
     "Make room in /dev/shm, or let this user write there.",
     "OMX_REPORT: this process reports for itself, as it cannot use a file in {}: {}\n"},
};
}  // namespace

constinit const Section kSectionStart{"A program cannot begin", kEntries};

}  // namespace omx::messages

// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {901, "wrong usage", "The command line is not understood.",
     "A command or an option is mistyped or missing.", "\"omx help COMMAND\" shows what is accepted.",
     "name a program: omx run -- PROGRAM...\n"
     "{}; omx help lists them\n"
     "{}; omx help{} shows what is accepted\n"
     "{}; omxd --help shows what is accepted\n"
     "there is no message E{}; omx explain lists all\n"
     "no message has the words \"{}\"; give fewer, or omx explain lists all\n"
     "--markdown writes all messages; leave out \"{}\"\n"
     "{} needs --hosts or --job\n"
     "--output needs --openmetrics or --prometheus\n"
     "there is no command \"{}\"{}\n"
     "(did you mean \"{}\"?)\n"},
    {902, "a file cannot be read or written",
     "A file that a command reads or writes, or its standard output, cannot be used. The message names the "
     "reason.",
     "Its folder is missing, permissions forbid it, or the disk is full.",
     "Name another file, correct the permissions, or free space.",
     "cannot write {}: {}; name another file, or - for the standard output\n"
     "cannot write {}: {}; the part written so far can be read\n"
     "{} is not a regular file; give - for the standard output\n"
     "cannot read {}: {}\n"
     "cannot read {}: {}{}\n"
     "{} is not a regular file\n"
     "cannot write {}: {}; become root, or name another file in OMX_PEERS_FILE, which programs must find in "
     "their environment, too\n"
     "cannot write {}: {}; name a new file, or - for the standard output\n"
     "cannot write {}: {}; name a file with --output in a folder that this user may write\n"
     "cannot write {}: {}\n"
     "cannot write: {}\n"
     "cannot write: a part of the output is lost\n"
     "{} is not a file; name a file with --output\n"
     "{} is empty; write a secret word into it\n"},
    {903, "omx capture cannot listen", "The command could not open or keep its packet socket.",
     "CAP_NET_RAW is missing, the interface went away, or the output is a terminal.",
     "Run it as root, and write to a file (-w FILE).",
     "a capture cannot be shown on a terminal: give -w FILE, or pipe it into a program (omx capture | tshark "
     "-r -)\n"
     "cannot listen to {}: {}{}\n"
     "; it needs CAP_NET_RAW: run it as root, or setcap cap_net_raw+ep on the omx command\n"
     "cannot listen to {}: {}\n"
     "{} is gone: {}\n"},
    {904, "omx run cannot start the program",
     "The capability could not be passed on, or the program not be started.",
     "The omx command has no CAP_NET_RAW to give, or the program does not exist.",
     "As root: setcap cap_net_raw+ep on the omx command. Correct the name of the program.",
     "this process may not pass CAP_NET_RAW on; as root, give the command the capability (setcap "
     "cap_net_raw+ep), and let only trusted users run it\n"
     "CAP_NET_RAW cannot be passed on: {}\n"
     "cannot start {}: {}\n"},
    {905, "omx perf: the other side is missing",
     "Client and server of omx perf or omx_perf do not understand or reach each other.",
     "The server does not run, serves another client, has ended, or is another version.",
     "Start \"omx perf\" on the other host, with the same version and endpoint.",
     "nothing happened for {} s\n"
     "nothing was sent or received for {} s\n"
     "its omx perf speaks dialogue {} only, this one {} and older: install the same Open-MX on both\n"
     "the omx perf of {} speaks dialogue {} and refuses that of this one, {}: install the same Open-MX on "
     "both\n"
     "the omx perf of {} speaks dialogue {}, this one dialogue {}, and {} needs dialogue {}: install the "
     "same "
     "Open-MX on both\n"
     "{} does not reach endpoint {} of {}\n"
     "the peer was silent for {} s\n"
     "the first message was not one of omx_perf\n"
     "the server on {} does not answer: it may be serving another client\n"
     "{}; is \"omx perf\" running there?\n"
     "a message with {} failed: {}\n"
     "the peer {} has gone: its \"omx perf\" has ended\n"
     "endpoint {} of {} belongs to another program, not to \"omx perf\"\n"
     "nothing is open on endpoint {} of {}: {}\n"
     "no answer from {} within {} s: {}\n"
     "start \"omx perf\" there, or give its endpoint with --peer-endpoint\n"
     "is the host up, on this network, and is \"omx perf\" running there?\n"},
    {906, "omx perf: a message arrived damaged", "The content or length of a message is not what was sent.",
     "Hardware or a driver damages data, or Open-MX has a fault.",
     "Repeat it with OMX_CHECKSUM=1 and another cable. Then write a report (\"omx bugreport\").",
     "message {} of {} bytes arrived damaged at {}: {}\n"
     "message {} of {} bytes arrived with {} bytes\n"
     "bytes behind its buffer were overwritten\n"},
    {907, "omx perf: the test is not possible", "An option asks for what cannot be done.",
     "A size, a processor or an endpoint is out of range, or memory is missing.",
     "Correct the option that the message names.",
     "no memory for messages of {} bytes\n"
     "the sender requests an impossible test:\n"
     "--sizes {} is not a list of sizes or ranges below 4G, such as 0:4M or 8,64K\n"
     "cannot run on core {}: {}; this process may run on {}\n"
     "cannot run on core {}\n"
     "--pattern {} measures --test stream or rate, not {}\n"
     "the pattern pairs has one peer, not {}: choose --pattern incast or all-pairs for several\n"
     "--percentiles and --histogram are of round trips, which --test {} does not have: use pingpong\n"
     "{} threads need endpoints beyond 255: choose a lower --endpoint or --peer-endpoint\n"
     "endpoint {} of {} is named twice\n"
     "a group of {} is too large: at most {} members take part\n"
     "{} has no memory for {} messages of {} bytes at a time with each member\n"
     "the system gives no random number\n"
     "{} has no memory for {} messages of {} bytes at a time\n"
     "endpoint {} is this command's own: give it another with --endpoint\n"},
    {908, "the endpoint or its counters cannot be seen",
     "The command finds no open endpoint, or no counters of it.",
     "The program has ended, belongs to another user or PID namespace, or has another version.",
     "\"omx info\" lists the open endpoints. Run the command as the same user or as root.",
     "process {} ({}) has endpoint {} but publishes no counters (memfd_create was refused there)\n"
     "endpoint {} is not open\n"
     "endpoint {} is open in a process that is not visible from here\n"
     "process {} ({}) has endpoint {} open with another version of Open-MX\n"
     "endpoint {} was closed just now\n"
     "endpoint {} is not open on this host\n"
     "process {} has no {} open; omx info lists the open endpoints and their processes\n"},
    {909, "the network cannot be asked", "A query to all hosts could not be sent.",
     "Raw frames are not permitted, or the interface is down.", "The message ends with the reason.",
     "the network was not asked:\n"
     "the network cannot be asked: {}\n"},
    {910, "omx tune and omx steer need root", "Settings of NICs and the host may be changed by root only.",
     "The command was called by an ordinary user.", "Use sudo.",
     "only root may change settings of NICs and host: sudo omx tune\n"
     "flow rules of NICs are set by root only: sudo omx steer\n"},
    {911, "former values cannot be kept or restored",
     "omx tune keeps former values in a file, which cannot be used as it must be.",
     "Rights are missing, the file is damaged, or others could have written it.",
     "Do what the message names. \"omx tune --undo\" can be repeated.",
     "cannot {} {}, where former values are kept: {}{}\n"
     "; --state-dir names another folder\n"
     "{} may have been written by others, so its values are not used: look at it and remove it\n"
     "{} is not a file of omx tune: look at it and remove it\n"
     "line {} of {} is damaged: give back by hand what the file says, and remove it\n"
     "{} has a value that cannot be kept in a line, so it stays as it is\n"
     "{}; omx tune --undo restores the former values\n"
     "{} of the former values could not be restored and stay in {}; repeat omx tune --undo\n"},
    {912, "a setting was refused",
     "The driver or the kernel did not take a value, or the thing that had it is gone.",
     "The driver does not support it, or the interface changed since.",
     "See \"omx check\" for what is in force now.",
     "stays {}: {} is accepted but not taken over\n"
     "the interface is gone, and its settings with it\n"
     "the queue is gone, and its settings with it\n"
     "the interface has other interrupts now\n"
     "/sys shows another network namespace: mount the one of this namespace there\n"
     "it is {} all the same\n"
     "{} cannot be given back its value {}: {}\n"},
    {913, "another omx tune is at work", "Only one command may change settings at a time.",
     "Another omx tune or omx steer runs.", "Try again when it has finished.",
     "another omx tune or omx steer is at work; try again when it has finished\n"},
    {914, "omx bugreport does not run as a setuid program",
     "The report starts other programs, such as fi_info, that the caller's PATH finds.",
     "The omx command is setuid or setgid, so the caller would get its owner's rights for any program.",
     "Run a copy of omx without these rights.",
     "it starts other programs, which must not get the rights of a setuid program; run a copy of omx without "
     "them\n"},
    {915, "a result of omx perf cannot be compared",
     "omx perf was given a file that is no result of it, or results of two different tests.",
     "The file was written by another program, or without --output.",
     "Write both files with omx perf --output FILE and the same options.",
     "is no JSON document\n"
     "is no result of omx perf: write one with --output FILE\n"
     "has a result without size or {}\n"
     "has no results\n"
     "the first file is of {}, the second of {}: measure the same test twice\n"},
    {916, "a plot cannot be drawn", "omx perf --plot calls gnuplot, which did not draw the plot.",
     "gnuplot is missing or failed, or memory is missing.",
     "Install gnuplot-nox, or follow the message of gnuplot.",
     "gnuplot cannot be started: {}\n"
     "gnuplot could not draw the plot, for the reason above\n"
     "--plot needs gnuplot, which is missing; as root: apt-get install gnuplot-nox\n"
     "no memory for the plot: {}\n"
     "no memory for the plot\n"},
    {917, "a host of omx check is missing",
     "The examination of a cluster has no agent on a host, or its agent does not answer.",
     "The launcher (ssh, mpirun) does not reach the host, omx is missing there, or the agent was ended.",
     "Call the launcher with that host by hand. --program names the path of omx there.",
     "a pipe cannot be opened: {}; raise the limit (ulimit -n)\n"
     "{} cannot be started: {}; raise the limit (ulimit -u)\n"
     "its agent ended{}\n"
     "its agent does not answer{}\n"
     "its agent does not answer\n"
     "rank {} on {}: {}\n"},
    {918, "omx check cannot begin", "The hosts or the links to examine are not known.",
     "--hosts or --links is mistyped, or --job runs without a launcher or a folder that all hosts share.",
     "Follow the message. \"man omx-check\" shows the forms of the command.",
     "--links: there is no link \"{}\"; give some of raw,udp,xdp\n"
     "--links: names no link; give some of raw,udp,xdp\n"
     "--hosts: \"{}\" {}; give h1,h2 or h[1-16] or a file\n"
     "--hosts: {}: {}; give a file with a host in each line\n"
     "--hosts: more than {} hosts; give fewer\n"
     "--job: no launcher started this process; start it as mpirun -n N omx check --job, or use --hosts\n"
     "--job: the launcher does not say which job this is; use --hosts\n"
     "--job: the job has one rank; start one on each host\n"
     "--job: all ranks are on one host; start one on each host\n"
     "--meet: {} cannot be made: {}; name another folder that all hosts share\n"
     "--meet: rank 0 is not seen in {}; name a folder that all hosts share\n"},
    {919, "omx check cannot measure a link", "An agent was asked for a link or a board that it cannot use.",
     "The hosts have different versions of Open-MX, other boards, or no free endpoint.",
     "Install the same version on all hosts. \"omx info\" on that host shows boards and endpoints.",
     "there is no link \"{}\"\n"
     "there is no board {}; omx info shows the boards\n"
     "all endpoint ids of {} are in use; end a program (omx info)\n"},
    {920, "omx steer is refused", "The XDP program of omx steer could not be attached, read or taken off.",
     "Rights are missing, the kernel is older than Linux 5.18, or another XDP program is there.",
     "Run it as root. \"omx steer NAME --show\" shows what is there, and --mode generic works with each "
     "driver.",
     "{} has another XDP program, \"{}\" (id {}, {}), and an interface takes one; if it may go: ip link set "
     "dev {} xdp{} off\n"
     "{} was given another XDP program just now, or holds one by a link of its owner; omx steer {} --show "
     "shows what is there\n"
     "asking for the XDP program of {}\n"
     "{} is steered in {} mode, and changes to {} only when nothing is attached: omx steer {} --off\n"
     "{} takes no XDP program in native mode: {}{}; omx steer {} --mode generic\n"
     "attaching in {} mode to {}\n"
     "taking the program off {}\n"
     "{} takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN outside of user namespaces ({}): sudo omx "
     "steer\n"
     "{} was refused by the kernel: {}{}{}\n"
     "; steering needs Linux 5.18 or newer with CONFIG_BPF_SYSCALL\n"
     "preparing the XDP program\n"
     "writing the table of the XDP program\n"
     "keeping the XDP program\n"
     "looking at XDP programs\n"
     "the attached program is of another version of Open-MX, so its tables cannot be read; omx steer --off "
     "takes it away\n"
     "reading the tables of the XDP program\n"
     "counting processors\n"},
    {921, "this build cannot steer", "Open-MX was built without the XDP program of omx steer.",
     "The packages were missing when Open-MX was built.",
     "Install the packages that the message names, and build again.",
     "this build has no XDP program: install the packages clang, bpftool and libbpf-dev, and build Open-MX "
     "again, beginning with cmake\n"},
    {922, "the table of omx steer is wrong",
     "--map or --cpus is not understood, or names a processor that is not there.", "A mistyped option.",
     "Write it as the message shows.",
     "there is no processor {} that is switched on; there are: {}\n"
     "--map \"{}\" is not ENDPOINT:PROCESSOR, as in 0:1,4-7:0, with endpoints from 0 to {}\n"
     "--map gives endpoint {} to processor {} and to processor {}; leave out one of the two\n"
     "--cpus \"{}\" is not a list of processors, as in 0,2-5\n"},
    {923, "flow rules cannot be set", "The NIC does not take the flow rules that steer datagrams.",
     "The driver has none or too few, they are switched off, or others hold the places.",
     "Do what the message names. Without flow rules, datagrams go where the NIC's hash sends them.",
     "{} has a flow rule of somebody else's for UDP port {}, into queue {}; if nobody needs it: ethtool -N "
     "{} delete {}\n"
     "{} has {} places for flow rules, of which {} are free, and {} more are needed: {}\n"
     "{}; omx steer {} --off tries again\n"
     "the driver of {} refuses the {} ({})\n"
     "; ethtool -n {} shows it, and ethtool -N {} delete takes it away\n"
     "{} does not show the flow rule for UDP port {} that it took{}\n"
     "{}; no flow rules of omx steer are on {} now\n"
     "which processors the receive queues of {} bring frames to is not known; omx tune {} binds their "
     "interrupts\n"
     "no receive queue of {} brings frames to processor {}, only to {}: use --cpus {}, or bind an interrupt "
     "of {} to it (omx check {})\n"
     "the driver {} of {} takes flow rules by Ethernet type and address only, none by UDP port, so datagrams "
     "go where its hash sends them; frames that are no datagrams are steered by omx steer {}\n"
     "the driver {} of {} takes flow rules for UDP over IPv4 only, so endpoints must be reached by it: "
     "OMX_LINK=udp4, on all hosts\n"
     "{} takes no flow rules (driver: {}), so datagrams go where its hash sends them; frames that are no "
     "datagrams are steered by omx steer {}\n"
     "the flow rules of {} cannot be read: {}\n"
     "flow rules of {} are switched off: ethtool -K {} ntuple on\n"
     "{} is above {}, whose queues receive its frames: omx steer {} --flows\n"
     "{}; omx steer --off tries again, because {} remembers it\n"},
    {924, "arrivals cannot be watched", "omx steer --watch cannot open its sockets.",
     "CAP_NET_RAW is missing, or the host has too many processors.", "Run it as root, or leave out --watch.",
     "{} processors are too many to watch; {} are possible\n"
     "{} need the capability CAP_NET_RAW: run as root, or leave out --watch\n"},
    {925, "RPS moves steered frames",
     "Receive packet steering of the kernel moves frames away from where omx steer puts them.",
     "RPS is on for a receive queue.", "Switch it off with the command in the message.",
     "{}: RPS is on for receive queue{} {} and moves steered frames to other processors: echo 0 | "
     "tee /sys/class/net/{}/queues/rx-*/rps_cpus\n"},
    {926, "no lines for an interface in the binding file",
     "omx prepare-binding does not know which processors handle the frames of an interface.",
     "The driver shows no interrupts, and RPS is off.", "Set OMX_PROCESS_BINDING to processors by hand.",
     "{}: the interrupts of its receive queues are not known, and RPS is off, so the file has no "
     "lines for it\n"},
    {930, "omx_check found a fault", "A message of the self test was not delivered as it must be.",
     "A fault of Open-MX, or memory that is damaged.",
     "Write a report: \"omx bugreport\" collects what it needs.",
     "a message of {} bytes arrived damaged\n"
     "a probe for other match information finds a message\n"
     "a probe with a mask finds no message\n"
     "a message that came before its receive was not received well\n"
     "a receive for half of {} bytes does not end as truncated\n"
     "half of {} bytes arrived damaged\n"
     "a receive could not be cancelled\n"
     "a cancelled receive does not end as cancelled\n"
     "a new address has a context\n"
     "an address does not keep its context\n"
     "segments arrived damaged\n"},
    {931, "omxoed has nothing to do",
     "The program announces boards to hosts of Open-MX 1.x, and cannot here.",
     "Messages go by UDP, raw frames are not permitted, or no interface is usable.",
     "It is not needed between hosts of this version. For others, run it as root.",
     "hosts that use UDP need no announcements, and raw frames are not allowed here: they need CAP_NET_RAW\n"
     "No NICs found\n"},
    {932, "an option of a 1.x program is wrong",
     "An option is unknown, or its value is missing, out of range, or has no meaning here.",
     "A script was written for another program.", "Call the program with -h.",
     "counters are not cleared: they are an endpoint's own, and begin at zero when it opens\n"
     "-n takes a name, such as node1:0\n"
     "-{} takes a whole number from 0 to {}, not \"{}\"\n"
     "-{} is not an option of this program\n"
     "-{} needs a value\n"
     "without iterations there is nothing to measure\n"
     "messages have at most {} bytes\n"
     "no length from {} is below {}\n"
     "multiplier or increment is too large\n"
     "lengths do not grow by this multiplier and increment\n"},
    {933, "a step of a 1.x program failed",
     "A program with a name of Open-MX 1.x could not go on. The message names the step, and ends with the "
     "library's error.",
     "The other side is missing, an interface or a right is missing, or the library reports a fault.",
     "Look the error up in the table of return codes (docs/reference/errors.md). omx perf and omx info say "
     "more.",
     "cannot initialise the library\n"
     "cannot open an endpoint\n"
     "cannot open the endpoint\n"
     "cannot find \"{}\"\n"
     "cannot connect to \"{}\"\n"
     "cannot connect back\n"
     "cannot send\n"
     "cannot receive\n"
     "cannot connect\n"
     "waiting failed\n"
     "a message failed\n"},
};
}  // namespace

constinit const Section kSectionCommands{"Commands", kEntries};

}  // namespace omx::messages

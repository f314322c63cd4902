// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {701, "libfabric's provider offers nothing for the request",
     "What the program asks for in its hints is not what this provider has.",
     "The hints name another interface, an unsupported capability or an address of no board.",
     "\"fi_info -p omx -v\" shows what there is. FI_LOG_LEVEL=info names each hint that does not fit.",
     "offers nothing for this request:\n"
     "offers nothing for these hints, as it cannot meet {}; \"fi_info -p omx -v\" shows what it has\n"
     "domain_attr->name (the domain of all interfaces must be named)\n"
     "domain_attr->name (it shares no IP network with the first one; name it, or set FI_OMX_IFACE)\n"
     "addr_format (no such IP address of this interface carries messages)\n"
     "addr_format (no IP address of dest_addr is known)\n"
     "not offered: ep_attr->type (FI_EP_RDM is)\n"},
    {702, "the program asks for a newer libfabric",
     "The program was built for a newer interface of libfabric than the provider knows.",
     "The program or the MPI library is newer than Open-MX.",
     "Use a newer Open-MX, or a program that asks for less.",
     "the program asks for libfabric's interface {}.{}, of which this provider knows {}.{} and older; use a "
     "newer Open-MX, or a program that asks for less\n"},
    {703, "the wire mode has no room for libfabric",
     "Tags and data of libfabric need the extended wire format.",
     "OMX_WIRE_MODE=mxoe or OMX_EXTENSION=0 is set.",
     "Unset it for programs that use libfabric, or use the MX API.",
     "OMX_WIRE_MODE=mxoe has no room for libfabric's tags and data; unset it, or use the MX API\n"
     "the extension of the wire format is off; libfabric's messages need it\n"},
    {704, "a parameter of the provider is not accepted",
     "A variable FI_OMX_... has a value that is not accepted.", "The value is mistyped.",
     "Give what the message names. \"fi_info -e\" lists the variables.",
     "FI_OMX_LINK={} is none of auto, ethernet, xdp, udp, udp4 and udp6\n"
     "{}=\"{}\" is not accepted; give a number from 1 to {}\n"},
    {705, "no connection to a peer",
     "An operation needs a peer that was not reached. The rest of the message is the cause.",
     "The peer has ended, is another program, or is not on the same network.",
     "\"omx explain\" with the words of the cause says more.", "{}: no connection from {} to {}: {}\n"},
    {706, "a peer of libfabric never answered",
     "Nothing was heard from the peer within FI_OMX_CONNECT_TIMEOUT.",
     "Its process has ended, its host is down, or the two interfaces are not on one network.",
     "Name interfaces of one network with FI_OMX_IFACE, and see E310.",
     "no answer within {} ms (FI_OMX_CONNECT_TIMEOUT): its process has ended, its host is down, or the two "
     "interfaces are not on one network (name others with FI_OMX_IFACE)\n"
     "no answer within {} ms (FI_OMX_CONNECT_TIMEOUT); unless that host is down: {}\n"},
    {707, "the conversation has ended", "The peer was lost before, so its address leads nowhere any more.",
     "The peer was given up, ended or was restarted.", "Insert its address again (fi_av_insert).",
     "its conversation with this process has ended; insert its address again (fi_av_insert) to begin another "
     "one\n"},
    {708, "the peer's endpoint is not usable",
     "The peer's host answered, and the endpoint cannot take messages of libfabric.",
     "Its process has ended, is an MX program, or has no room for another peer.",
     "Restart the job. With an MX program, use the MX API on both sides.",
     "no such endpoint is open there any more, as its process has ended or closed it\n"
     "it is open, but not by a program that uses libfabric\n"
     "it has no room for another peer\n"},
    {709, "the port is in use", "Two servers of one host ask for the same endpoint.",
     "A port of libfabric stands for the number of an endpoint.",
     "Start the program with another port, or without one.",
     "; start the program with another port (a port stands for an endpoint), or without one\n"},
    {710, "a peer does not end its access to memory",
     "A region of memory was closed, and a peer still uses it. The conversation with the peer ends.",
     "The peer is stopped or cut off in the middle of a read or write.",
     "See whether its process, its host and the network are well.",
     "{}: {} does not end its access to memory that fi_close() takes back, so messages with it end here\n"},
    {711, "not an address of this provider", "An address that was inserted names no host or board here.",
     "The address came from another provider, or was damaged.",
     "Exchange addresses that fi_getname() returned.",
     "is no address of a board of this process\n"
     "it is no address of this provider\n"},
    {712, "a call of libfabric is refused",
     "The arguments of a call do not fit. Calls give their reason at FI_LOG_LEVEL=warn.",
     "A fault of the program, or something that the provider does not have.",
     "See the documents on libfabric for what the provider has.",
     "fi_enable: the endpoint may send, read or write, and neither a completion queue (FI_TRANSMIT) nor a "
     "counter is bound\n"
     "a descriptor to wait for needs the progress thread; unset OMX_PROGRESS\n"},
    {751, "the DSA is switched off",
     "The copy engine failed, and the processor copies from now on. Messages go on.",
     "The device failed, refused work, or met page faults that cannot be repaired.",
     "Look at the kernel's log and at \"accel-config list\".",
     "copy engine dsa ({}) is switched off: {}; from now on the processor copies\n"
     "its device refused work: {}\n"
     "no completion of {} bytes came within {} ms\n"
     "{} page faults that cannot be repaired, the last with status 0x{}\n"
     "this process was forked from the one that opened the device\n"},
    {752, "the DSA cannot be used", "No work queue of an Intel Data Streaming Accelerator can be used.",
     "The driver is not loaded, no queue is enabled for users, or permissions forbid it.",
     "Run the command that the message names.",
     "{} has no shared virtual memory (pasid_enabled is not 1): boot with intel_iommu=on,sm_on\n"
     "{} is {}, not for users: accel-config config-wq {}/{} --type=user --mode=shared\n"
     "{} has the unknown mode {}\n"
     "{} does not show its size and max_transfer_size\n"
     "{} is not there, so the driver idxd is not loaded: modprobe idxd, on a machine with an Intel Data "
     "Streaming Accelerator (Xeon of the 4th generation or later)\n"
     "the driver idxd found no Data Streaming Accelerator\n"
     "no accelerator has a work queue: accel-config config-wq dsa0/wq0.0 --type=user --mode=shared\n"
     "{}: chmod or chgrp it, in containers also pass the device in\n"
     "{}: it is {}; accel-config config-wq {}/{} --mode=shared lets many use it\n"
     "dedicated and another process has it\n"
     "{}: pass the device into this container, or see udev\n"
     "{} does not answer: a no-op by {} did not come back within {} ms\n"
     "{} accepts no work by {} ({}): give the program CAP_SYS_RAWIO, with which it can map the portal, or "
     "boot a kernel whose idxd driver takes write()\n"},
    {753, "no memory for a copy engine", "The copy engine could not be set up.", "Memory is used up.",
     "Free memory. The processor copies instead.",
     "copy engine: no memory left for its channels\n"
     "copy engine dsa: no memory left for its records\n"
     "copy engine thread: no memory left for its queue\n"},
    {754, "no helper thread for copies", "The copy engine \"thread\" cannot work here.",
     "The limit of threads is reached, the process has one processor, or it was forked.",
     "Raise \"ulimit -u\", bind the process to two processors or more, or set OMX_COPY_ENGINE=none.",
     "a helper thread would only take turns with the application, as this process may use one processor "
     "only: bind it to two or more\n"
     "copy engine thread: the system gives no thread ({}); see ulimit -u\n"
     "this process was forked from the one that has the helper thread\n"},
    {755, "the processor copies instead",
     "The copy engine that OMX_COPY_ENGINE asks for is not there. Messages go on.",
     "The text before it says why.", "Remove the cause, or unset OMX_COPY_ENGINE.",
     "{}; the processor copies instead (OMX_COPY_ENGINE)\n"},
};
}  // namespace

constinit const Section kSectionLibfabric{"libfabric and copy engines", kEntries};

}  // namespace omx::messages

// SPDX-License-Identifier: BSD-3-Clause
// Claims of endpoint ids. A process claims an id by binding an abstract Unix socket whose name holds the
// interface and the id (docs/decisions/0001-user-space.md, "Endpoint ids"). The kernel lets one process hold
// the name and frees it at any exit, kill -9 included.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/mac.h"
#include "base/own_fd.h"

namespace omx::runtime {

// A claim, released by destruction.
//
//           bind() and listen()                  claim_holder(), claim_connect()
//   free ------------------------> held <----------------------------------------+
//    ^                               |   each leaves a connection in the queue   |
//    +--- destruction, any exit -----+-------------------------------------------+
//                                        drain() takes the connections out
class Claim {
 public:
  Claim() = default;
  explicit Claim(OwnFd fd) : fd_(std::move(fd)) {}
  bool held() const { return fd_.open(); }
  int descriptor() const { return fd_.get(); }
  // Takes the connections that claim_holder() left behind out of the queue. The holder calls this now and
  // then.
  void drain() const;

 private:
  OwnFd fd_;
};

struct ClaimHolder {
  pid_t pid = 0;  // 0: held, but this process may not see by which process
  uid_t uid = 0;
  std::string command;  // /proc/PID/comm
};

// Fails with MX_BUSY (20) and a sentence that names the holder if a process, even this one, has the id.
Result<Claim> claim_endpoint(std::uint32_t ifindex, std::uint32_t endpoint);
// Claims the right to answer for the whole board (HOST_QUERY, closed endpoints). The first process gets it,
// and another one takes it over when that process is gone.
Result<Claim> claim_responder(std::uint32_t ifindex);
// Claims the right to answer one question that the responder may have left open. One of the endpoints that
// receive the question at that moment gets the claim. For the others, and on failure, it is not held().
Claim claim_answer(std::uint32_t ifindex, NicId asker, std::uint64_t question, std::uint64_t moment);
// Claims a processor for a thread that Open-MX puts there. Not held() when another thread has it.
Result<Claim> claim_processor(int cpu);
// Claims a part of the memory that all processes of the host share (host_memory.h). Not held() when another
// process has the part.
Result<Claim> claim_memory(unsigned part);
// Claims like claim_endpoint(), but does not search for the holder. The claim is not held() when the id is
// busy. It fails for other errors only.
Result<Claim> claim_try(std::uint32_t ifindex, std::uint32_t endpoint);
// Returns the failure that claim_endpoint gives for a busy id.
Failure claim_busy(std::uint32_t ifindex, std::uint32_t endpoint);
// Returns the process that holds an endpoint id; nullopt when the id is free. The holder need not answer,
// since its credentials come from the listening socket. If this process has no descriptor left, the id
// counts as held.
std::optional<ClaimHolder> claim_holder(std::uint32_t ifindex, std::uint32_t endpoint);
// Returns a connection to the holder, which may accept it later. Not open, with errno, when there is no
// holder (ECONNREFUSED) or no connection is possible now.
OwnFd claim_connect(std::uint32_t ifindex, std::uint32_t endpoint);
// Returns whether an endpoint id is held. Costs three system calls.
bool claim_held(std::uint32_t ifindex, std::uint32_t endpoint);

}  // namespace omx::runtime

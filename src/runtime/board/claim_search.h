// SPDX-License-Identifier: BSD-3-Clause
// The slow way to find a claim's holder, used when its queue of connections is full. It gets the socket's
// inode from /proc/net/unix, then finds the process that has the socket open.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace omx::runtime {

// Returns the pid of the holder; 0 when this process may not see it.
pid_t claim_search(const std::string& abstract_name);

// Calls `visit` with each open descriptor of the process until it returns true. A descriptor is given as its
// number and what its link says ("socket:[123]", "/memfd:name (deleted)"). Returns 0, or the errno that
// prevented the search.
int descriptors_visit(pid_t pid,
                      const std::function<bool(const std::string& number, const std::string& target)>& visit);

}  // namespace omx::runtime

// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that belong to this process alone. A forked child must not keep them open: as long as it does,
// an endpoint id stays taken, and a packet socket goes on filling, after the parent has closed them or died.
#pragma once

namespace omx {

// Any thread. What is not known (no memory is needed, but numbers from 65536 on do not fit) stays open in a
// child.
void fork_fds_add(int fd);
void fork_fds_close(int fd);  // forgets and closes it

// In the child of a fork: replaces each by /dev/null, so that the numbers stay taken and the objects that
// hold them may be destroyed as usual. Async-signal-safe.
void fork_fds_drop();

}  // namespace omx

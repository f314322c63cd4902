// SPDX-License-Identifier: BSD-3-Clause
// What the tables of calls of all objects have in common.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

namespace omx::fabric {

// Returns the table as libfabric declares it. The declaration lacks the const, and no code writes to tables.
template <class Ops>
Ops* table(const Ops& ops) {
  return const_cast<Ops*>(&ops);
}

// Copies the text to `out`, cut to `length` with its final NUL, if there is room. Returns the text itself, as
// the fi_*_strerror calls do.
const char* text_give(const char* text, char* out, std::size_t length);

// Calls that an object does not offer. They return -FI_ENOSYS.
int no_bind(fid* object, fid* other, std::uint64_t flags);
int no_control(fid* object, int command, void* argument);
int no_ops_open(fid* object, const char* name, std::uint64_t flags, void** ops, void* context);

// Returns the fi_ops of an object that can be closed, and bound or controlled where functions are given.
constexpr fi_ops closing_ops(int (*close)(fid*), int (*bind)(fid*, fid*, std::uint64_t) = no_bind,
                             int (*control)(fid*, int, void*) = no_control) {
  return {sizeof(fi_ops), close, bind, control, no_ops_open, nullptr, nullptr};
}

}  // namespace omx::fabric

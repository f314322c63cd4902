// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_atomic.h"

#include "libfabric/access_call.h"
#include "libfabric/atomics.h"
#include "libfabric/capabilities.h"
#include "libfabric/endpoint.h"
#include "libfabric/remote_memory.h"

namespace omx::fabric {

namespace {

ssize_t access(fid_ep* ep, const AtomicCall& call) {
  return endpoint_of(ep).remote_memory().access(call);
}

std::size_t values(std::span<const fi_ioc> pieces) {
  std::size_t count = 0;
  for (const fi_ioc& piece : pieces) count += piece.count;
  return count;
}

// The steps that most forms share.
struct Common {
  fi_addr_t peer;
  std::uint64_t address, key;
  fi_datatype datatype;
  fi_op operation;
  void* context;
};

// Accesses one remote piece, which is as long as `count` values.
ssize_t access_one(fid_ep* ep, AtomicCall& call, const Common& c, std::size_t count) {
  const fi_rma_ioc remote{c.address, count, c.key};
  call.remote = {&remote, 1};
  call.peer = c.peer;
  call.datatype = c.datatype;
  call.operation = c.operation;
  call.context = c.context;
  if (call.has_context) call.flags = endpoint_of(ep).choices.transmit_flags;
  return access(ep, call);
}

ssize_t access_message(fid_ep* ep, AtomicCall& call, const fi_msg_atomic* m, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  if (m->msg_iov) call.operands = {m->msg_iov, m->iov_count};
  call.remote = {m->rma_iov, m->rma_iov_count};
  call.peer = m->addr;
  call.datatype = m->datatype;
  call.operation = m->op;
  call.context = m->context;
  call.flags = flags;
  return access(ep, call);
}

fi_ioc ioc_of(const void* memory, std::size_t count) {
  return {const_cast<void*>(memory), count};
}

ssize_t write_vector(fid_ep* ep, const fi_ioc* operands, void**, std::size_t count, fi_addr_t to,
                     std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op operation,
                     void* context) {
  AtomicCall call;
  call.operands = {operands, count};
  return access_one(ep, call, {to, address, key, datatype, operation, context}, values(call.operands));
}

ssize_t write(fid_ep* ep, const void* memory, std::size_t count, void*, fi_addr_t to, std::uint64_t address,
              std::uint64_t key, fi_datatype datatype, fi_op operation, void* context) {
  const fi_ioc operand = ioc_of(memory, count);
  return write_vector(ep, &operand, nullptr, 1, to, address, key, datatype, operation, context);
}

ssize_t write_message(fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
  AtomicCall call;
  return access_message(ep, call, m, flags);
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t count, fi_addr_t to, std::uint64_t address,
               std::uint64_t key, fi_datatype datatype, fi_op operation) {
  const fi_ioc operand = ioc_of(memory, count);
  AtomicCall call;
  call.operands = {&operand, 1};
  call.has_context = false;
  return access_one(ep, call, {to, address, key, datatype, operation, nullptr}, count);
}

ssize_t fetch_vector(fid_ep* ep, const fi_ioc* operands, void**, std::size_t count, fi_ioc* results, void**,
                     std::size_t result_count, fi_addr_t to, std::uint64_t address, std::uint64_t key,
                     fi_datatype datatype, fi_op operation, void* context) {
  AtomicCall call;
  call.form = AtomicForm::fetch;
  call.operands = {operands, operands ? count : 0};
  call.result = {results, result_count};
  // FI_ATOMIC_READ has no operands.
  const std::size_t all = operation == FI_ATOMIC_READ ? values(call.result) : values(call.operands);
  return access_one(ep, call, {to, address, key, datatype, operation, context}, all);
}

ssize_t fetch(fid_ep* ep, const void* memory, std::size_t count, void*, void* result, void*, fi_addr_t to,
              std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op operation,
              void* context) {
  const fi_ioc operand = ioc_of(memory, count);
  fi_ioc to_fill = ioc_of(result, count);
  return fetch_vector(ep, memory ? &operand : nullptr, nullptr, 1, &to_fill, nullptr, 1, to, address, key,
                      datatype, operation, context);
}

ssize_t fetch_message(fid_ep* ep, const fi_msg_atomic* m, fi_ioc* results, void**, std::size_t result_count,
                      std::uint64_t flags) {
  AtomicCall call;
  call.form = AtomicForm::fetch;
  call.result = {results, result_count};
  return access_message(ep, call, m, flags);
}

ssize_t compare_vector(fid_ep* ep, const fi_ioc* operands, void**, std::size_t count, const fi_ioc* compares,
                       void**, std::size_t compare_count, fi_ioc* results, void**, std::size_t result_count,
                       fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype datatype,
                       fi_op operation, void* context) {
  AtomicCall call;
  call.form = AtomicForm::compare;
  call.operands = {operands, count};
  call.compare = {compares, compare_count};
  call.result = {results, result_count};
  return access_one(ep, call, {to, address, key, datatype, operation, context}, values(call.operands));
}

ssize_t compare(fid_ep* ep, const void* memory, std::size_t count, void*, const void* with, void*,
                void* result, void*, fi_addr_t to, std::uint64_t address, std::uint64_t key,
                fi_datatype datatype, fi_op operation, void* context) {
  const fi_ioc operand = ioc_of(memory, count), comparand = ioc_of(with, count);
  fi_ioc to_fill = ioc_of(result, count);
  return compare_vector(ep, &operand, nullptr, 1, &comparand, nullptr, 1, &to_fill, nullptr, 1, to, address,
                        key, datatype, operation, context);
}

ssize_t compare_message(fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* compares, void**,
                        std::size_t compare_count, fi_ioc* results, void**, std::size_t result_count,
                        std::uint64_t flags) {
  AtomicCall call;
  call.form = AtomicForm::compare;
  call.compare = {compares, compare_count};
  call.result = {results, result_count};
  return access_message(ep, call, m, flags);
}

int valid(AtomicForm form, fi_datatype datatype, fi_op operation, std::size_t* count) {
  if (!atomic_supported(form, datatype, operation)) return -FI_EOPNOTSUPP;
  if (count) *count = kAtomicBytesMost / datatype_size(datatype);
  return 0;
}

int write_valid(fid_ep*, fi_datatype datatype, fi_op operation, std::size_t* count) {
  return valid(AtomicForm::plain, datatype, operation, count);
}

int fetch_valid(fid_ep*, fi_datatype datatype, fi_op operation, std::size_t* count) {
  return valid(AtomicForm::fetch, datatype, operation, count);
}

int compare_valid(fid_ep*, fi_datatype datatype, fi_op operation, std::size_t* count) {
  return valid(AtomicForm::compare, datatype, operation, count);
}

}  // namespace

const fi_ops_atomic kAtomicCalls = {
    sizeof(fi_ops_atomic), write,   write_vector,   write_message,   inject,      fetch,       fetch_vector,
    fetch_message,         compare, compare_vector, compare_message, write_valid, fetch_valid, compare_valid,
};

int atomic_query(fid_domain*, fi_datatype datatype, fi_op operation, fi_atomic_attr* attr,
                 std::uint64_t flags) {
  if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)) return -FI_EBADFLAGS;
  if (!attr || (flags & FI_FETCH_ATOMIC && flags & FI_COMPARE_ATOMIC)) return -FI_EINVAL;
  const AtomicForm form = flags & FI_FETCH_ATOMIC     ? AtomicForm::fetch
                          : flags & FI_COMPARE_ATOMIC ? AtomicForm::compare
                                                      : AtomicForm::plain;
  const int error = valid(form, datatype, operation, &attr->count);
  if (!error) attr->size = datatype_size(datatype);
  return error;
}

}  // namespace omx::fabric

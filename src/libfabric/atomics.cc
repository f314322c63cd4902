// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/atomics.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace omx::fabric {

namespace {

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};
template <class T>
constexpr bool kOrdered = !IsComplex<T>::value;
template <class T>
constexpr bool kBits = std::is_integral_v<T>;

template <class T>
bool is_true(const T& v) {
  return v != T{};
}

// Calls visit(T{}) for the type. Returns false if the type is not known.
template <class Visit>
bool with_type(fi_datatype type, Visit visit) {
  switch (type) {
    case FI_INT8:
      return visit(std::int8_t{}), true;
    case FI_UINT8:
      return visit(std::uint8_t{}), true;
    case FI_INT16:
      return visit(std::int16_t{}), true;
    case FI_UINT16:
      return visit(std::uint16_t{}), true;
    case FI_INT32:
      return visit(std::int32_t{}), true;
    case FI_UINT32:
      return visit(std::uint32_t{}), true;
    case FI_INT64:
      return visit(std::int64_t{}), true;
    case FI_UINT64:
      return visit(std::uint64_t{}), true;
    case FI_FLOAT:
      return visit(float{}), true;
    case FI_DOUBLE:
      return visit(double{}), true;
    case FI_FLOAT_COMPLEX:
      return visit(std::complex<float>{}), true;
    case FI_DOUBLE_COMPLEX:
      return visit(std::complex<double>{}), true;
    case FI_LONG_DOUBLE:
      return visit(0.0L), true;
    case FI_LONG_DOUBLE_COMPLEX:
      return visit(std::complex<long double>{}), true;
    default:
      return false;
  }
}

// Combines two values. Integers wrap around, as on every network that does this in hardware.
template <class T, class Combine>
T wrapped(T a, T b, Combine combine) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, U>;
    return static_cast<T>(
        combine(static_cast<Wide>(static_cast<U>(a)), static_cast<Wide>(static_cast<U>(b))));
  } else {
    return combine(a, b);
  }
}

// Sets memory = memory OP operand. Returns false if there is no such operation for the type.
template <class T>
bool combine(fi_op operation, T& memory, const T& operand) {
  switch (operation) {
    case FI_SUM:
      memory = wrapped(memory, operand, [](auto a, auto b) { return a + b; });
      return true;
    case FI_PROD:
      memory = wrapped(memory, operand, [](auto a, auto b) { return a * b; });
      return true;
    case FI_LOR:
      memory = static_cast<T>(is_true(memory) || is_true(operand));
      return true;
    case FI_LAND:
      memory = static_cast<T>(is_true(memory) && is_true(operand));
      return true;
    case FI_LXOR:
      memory = static_cast<T>(is_true(memory) != is_true(operand));
      return true;
    case FI_ATOMIC_WRITE:
      memory = operand;
      return true;
    case FI_ATOMIC_READ:
      return true;
    default:
      break;
  }
  if constexpr (kOrdered<T>) {
    if (operation == FI_MIN) return memory = std::min(memory, operand), true;
    if (operation == FI_MAX) return memory = std::max(memory, operand), true;
  }
  if constexpr (kBits<T>) {
    if (operation == FI_BOR) return memory = static_cast<T>(memory | operand), true;
    if (operation == FI_BAND) return memory = static_cast<T>(memory & operand), true;
    if (operation == FI_BXOR) return memory = static_cast<T>(memory ^ operand), true;
  }
  return false;
}

// Sets memory = operand, if the comparison says so. Returns false if there is no such operation for the type.
template <class T>
bool exchange(fi_op operation, T& memory, const T& operand, const T& compare) {
  const auto when = [&](bool holds) {
    if (holds) memory = operand;
    return true;
  };
  if (operation == FI_CSWAP) return when(compare == memory);
  if (operation == FI_CSWAP_NE) return when(compare != memory);
  if constexpr (kOrdered<T>) {
    if (operation == FI_CSWAP_LE) return when(compare <= memory);
    if (operation == FI_CSWAP_LT) return when(compare < memory);
    if (operation == FI_CSWAP_GE) return when(compare >= memory);
    if (operation == FI_CSWAP_GT) return when(compare > memory);
  }
  if constexpr (kBits<T>) {
    if (operation == FI_MSWAP)
      return memory = static_cast<T>((operand & compare) | (memory & ~compare)), true;
  }
  return false;
}

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::size_t datatype_size(fi_datatype type) {
  std::size_t size = 0;
  with_type(type, [&](auto value) { size = sizeof value; });
  return size;
}

bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation) {
  bool supported = false;
  with_type(type, [&](auto value) {
    auto memory = value;
    if (form == AtomicForm::compare)
      supported = exchange(operation, memory, value, value);
    else
      supported = combine(operation, memory, value);
  });
  return supported && !(form == AtomicForm::plain && operation == FI_ATOMIC_READ);
}

bool operands_append(std::vector<std::byte>& message, std::span<const fi_ioc> values, std::size_t size,
                     std::size_t bytes) {
  for (const fi_ioc& piece : values) {
    const std::size_t some = std::min(piece.count * size, bytes);
    const auto* from = static_cast<const std::byte*>(piece.addr);
    message.insert(message.end(), from, from + some);
    bytes -= some;
  }
  return bytes == 0;
}

int Atomics::run(const MemoryRequest& request, std::span<const protocol::Segment> memory,
                 std::span<const std::byte> payload, std::vector<std::byte>& result) {
  const auto type = static_cast<fi_datatype>(request.datatype);
  const auto operation = static_cast<fi_op>(request.operation);
  if (!atomic_supported(request.form, type, operation)) return FI_EOPNOTSUPP;
  const bool reads_only = operation == FI_ATOMIC_READ;
  const bool compares = request.form == AtomicForm::compare;
  if (payload.size() != (reads_only ? 0 : request.bytes) + (compares ? request.bytes : 0)) return FI_EINVAL;
  if (request.bytes > kAtomicBytesMost) return FI_EMSGSIZE;
  const std::size_t size = datatype_size(type);
  for (const protocol::Segment& s : memory)
    if (s.length % size != 0) return FI_EINVAL;
  const auto operands = payload.first(reads_only ? 0 : request.bytes);
  const auto comparands = payload.subspan(operands.size());
  if (request.form != AtomicForm::plain) result.reserve(request.bytes);

  const std::lock_guard guard(mutex_);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    std::size_t done = 0;
    for (const protocol::Segment& s : memory) {
      for (std::size_t i = 0; i < s.length; i += sizeof(T), done += sizeof(T)) {
        T value;
        std::memcpy(&value, s.base + i, sizeof value);
        if (request.form != AtomicForm::plain)
          result.insert(result.end(), s.base + i, s.base + i + sizeof value);
        const T operand = reads_only ? T{} : value_at<T>(operands, done);
        if (compares)
          exchange(operation, value, operand, value_at<T>(comparands, done));
        else
          combine(operation, value, operand);
        if (!reads_only) std::memcpy(s.base + i, &value, sizeof value);
      }
    }
  });
  return 0;
}

}  // namespace omx::fabric

// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/memory_request.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/bytes.h"

namespace omx::fabric {

namespace {

constexpr std::uint8_t kHasData = 1, kSeparate = 2;

}  // namespace

std::vector<std::byte> request_encode(const MemoryRequest& r, std::size_t payload) {
  assert(r.pieces > 0);
  assert(r.pieces <= kPiecesMost);
  std::vector<std::byte> message(kRequestHeader + r.pieces * kPieceBytes);
  message.reserve(message.size() + payload);
  std::byte* p = message.data();
  store8(p, static_cast<std::uint8_t>(r.kind));
  store8(p + 1, static_cast<std::uint8_t>((r.has_data ? kHasData : 0) | (r.separate ? kSeparate : 0)));
  store8(p + 2, r.pieces);
  store8(p + 3, r.datatype);
  store8(p + 4, r.operation);
  store8(p + 5, static_cast<std::uint8_t>(r.form));
  store_be64(p + 8, r.id);
  store_be64(p + 16, r.data);
  store_be64(p + 24, r.bytes);
  for (std::size_t i = 0; i < r.pieces; i++) {
    std::byte* q = p + kRequestHeader + i * kPieceBytes;
    store_be64(q, r.piece[i].addr);
    store_be64(q + 8, r.piece[i].len);
    store_be64(q + 16, r.piece[i].key);
  }
  return message;
}

std::optional<MemoryRequest> request_decode(std::span<const std::byte> message,
                                            std::span<const std::byte>& payload) {
  if (message.size() < kRequestHeader) return std::nullopt;
  const std::byte* p = message.data();
  MemoryRequest r;
  if (load8(p) < 1 || load8(p) > 3 || load8(p + 5) > 2) return std::nullopt;
  r.kind = static_cast<MemoryKind>(load8(p));
  r.has_data = load8(p + 1) & kHasData;
  r.separate = load8(p + 1) & kSeparate;
  r.pieces = load8(p + 2);
  r.datatype = load8(p + 3);
  r.operation = load8(p + 4);
  r.form = static_cast<AtomicForm>(load8(p + 5));
  r.id = load_be64(p + 8);
  r.data = load_be64(p + 16);
  r.bytes = load_be64(p + 24);
  if (r.pieces == 0 || r.pieces > kPiecesMost || message.size() < kRequestHeader + r.pieces * kPieceBytes)
    return std::nullopt;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < r.pieces; i++) {
    const std::byte* q = p + kRequestHeader + i * kPieceBytes;
    r.piece[i] = {load_be64(q), load_be64(q + 8), load_be64(q + 16)};
    if (r.piece[i].len > 0xFFFFFFFF) return std::nullopt;
    total += r.piece[i].len;
  }
  if (r.bytes != total) return std::nullopt;
  payload = message.subspan(kRequestHeader + r.pieces * kPieceBytes);
  if (r.kind == MemoryKind::write && !r.separate && payload.size() != r.bytes) return std::nullopt;
  return r;
}

void answer_encode(std::byte* out, int error, std::uint64_t bytes) {
  std::memset(out, 0, kAnswerHeader);
  store_be32(out, static_cast<std::uint32_t>(error));
  store_be64(out + 8, bytes);
}

int answer_error(const std::byte* in) {
  constexpr std::uint32_t kErrorMost = 4095;
  return static_cast<int>(std::min(load_be32(in), kErrorMost));
}

}  // namespace omx::fabric

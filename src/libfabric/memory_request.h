// SPDX-License-Identifier: BSD-3-Clause
// What one endpoint asks of another's memory, as the message that carries it. All numbers are big-endian. An
// answer goes back as a message of its own, whose match information is the request's id
// (docs/reference/libfabric.md, "Messages for the memory of peers").
//
//   request  0 kind  1 flags  2 pieces  3 datatype  4 operation  5 form  8 id  16 remote data  24 bytes
//            32 pieces of address, length, key (8 bytes each), then the data of a short write or the operands
//   answer   0 error  8 bytes, then the data
#pragma once

#include <rdma/fi_rma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace omx::fabric {

enum class MemoryKind : std::uint8_t { write = 1, read = 2, atomic = 3 };
enum class AtomicForm : std::uint8_t { plain = 0, fetch = 1, compare = 2 };

inline constexpr std::size_t kPiecesMost = 8;
inline constexpr std::size_t kRmaInlineMost = 4096;    // longer writes send their data as a message
inline constexpr std::size_t kAtomicBytesMost = 2048;  // of one operand
inline constexpr std::size_t kRequestHeader = 32, kPieceBytes = 24, kAnswerHeader = 16;
inline constexpr std::size_t kRequestMost = kRequestHeader + kPiecesMost * kPieceBytes + kRmaInlineMost;

struct MemoryRequest {
  MemoryKind kind = MemoryKind::write;
  bool has_data = false;  // remote completion data
  bool separate = false;  // the data of a write follow as a message
  std::uint8_t pieces = 0;
  std::uint8_t datatype = 0, operation = 0;
  AtomicForm form = AtomicForm::plain;
  std::uint64_t id = 0;
  std::uint64_t data = 0;
  std::uint64_t bytes = 0;  // to be written or read; of one operand
  std::array<fi_rma_iov, kPiecesMost> piece{};
};

// Returns the message, with room for `payload` bytes more.
std::vector<std::byte> request_encode(const MemoryRequest& request, std::size_t payload);
// Reads a message. nullopt: it is malformed. `payload` is what follows the pieces.
std::optional<MemoryRequest> request_decode(std::span<const std::byte> message,
                                            std::span<const std::byte>& payload);

// Writes the header of an answer. `error` is a positive error code, or 0.
void answer_encode(std::byte* out, int error, std::uint64_t bytes);
// Returns the error in the header of an answer.
int answer_error(const std::byte* in);

}  // namespace omx::fabric

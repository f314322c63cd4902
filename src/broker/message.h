// SPDX-License-Identifier: BSD-3-Clause
// The messages between a process and the broker of its host (docs/reference/broker.md). Each is one packet of
// a Unix socket (SOCK_SEQPACKET), in the byte order of the host. All fields have fixed sizes, so that 32-bit
// programs can ask a 64-bit broker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mac.h"

namespace omx::broker {

inline constexpr const char* kDefaultPath = "/run/open-mx/broker";

inline constexpr std::uint32_t kMagic = 0x4F4D5842;  // "OMXB"
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kInterfaceBytes = 16, kNameBytes = 80, kTextBytes = 512;
inline constexpr std::size_t kBoardsMost = 32;
inline constexpr std::size_t kDescriptorsMost = 4;

// The code of a refusal is an MX return code, or this one: the process has no such grant (any more). MX codes
// are smaller.
inline constexpr int kNoGrant = 1000;

enum class Kind : std::uint16_t {
  boards = 1,  // which boards may this user have?
  open = 2,    // an endpoint's data socket and its classes. The grant lasts as long as the connection.
  socket = 3,  // another socket of the endpoint that this connection opened
  attach = 4,  // takes up a grant that an earlier broker made
  ask = 5,     // asks the network for the name of a NIC, or of all NICs; names follow as they come
  name = 6,    // from the broker only: a name that the network gave
};

struct Head {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t kind = 0;
};

// A request of a process. Fields that its kind does not use are zero.
struct Request {
  Head head;
  char interface[kInterfaceBytes] = {};  // name of the board's interface, with a NUL
  std::uint32_t endpoint = 0;
  std::uint32_t ring_frames = 0;  // open
  std::uint32_t ring_bytes = 0;   // open
  std::uint32_t socket = 0;       // socket: a SocketKind
  std::uint64_t nic = 0;          // ask
  std::uint64_t cookie = 0;       // attach: of the data socket
};
static_assert(sizeof(Request) == 56);

enum class SocketKind : std::uint32_t { bulk = 1, wakeup = 2 };

// Flags of a board record.
enum BoardFlag : std::uint32_t { kBoardTrusted = 1, kBoardUp = 2, kBoardRunning = 4 };

struct BoardRecord {
  char interface[kInterfaceBytes] = {};
  char hostname[kNameBytes] = {};  // "host:number", as peers know the board
  std::uint64_t nic = 0;           // the source address of the board's frames
  std::uint64_t mac = 0;           // of the interface itself
  std::uint32_t ifindex = 0;       // in the broker's network namespace
  std::uint32_t mtu = 0;
  std::uint32_t flags = 0;
  std::uint32_t spare = 0;
};
static_assert(sizeof(BoardRecord) == 128);

// The fixed part of an answer. With `boards`, board records follow.
struct Answer {
  Head head;
  std::uint32_t code = 0;   // an MX return code or kNoGrant; 0: granted
  std::uint32_t count = 0;  // of the board records that follow
  std::uint32_t slot_bytes = 0, block_bytes = 0, blocks = 0,
                slots_per_block = 0;  // open: the ring's geometry
  std::uint64_t nic = 0;              // name: whose name; open: the board's
  std::uint32_t by_broker = 0;        // name: 1 if a broker answered for the NIC
  std::uint32_t spare = 0;
  char text[kTextBytes] = {};  // a sentence for people when refused; the name itself for `name`
};
static_assert(sizeof(Answer) == 560);

// The part of an endpoint's frames that each of its sockets takes. The process writes it, and the sockets'
// filters read it. Whatever it holds, only frames for the endpoint pass.
struct Classes {
  std::uint32_t data = 0, bulk = 0, wakeup = 0;
};
enum class ClassWord : std::uint32_t { none = 0, all = 1, eager = 2, bulk = 3, solicited = 4 };

// Copies a text into a field with a NUL at its end, and cuts it if it is too long.
void text_store(std::span<char> field, std::string_view text);
// Returns the text of a field; empty if it has no NUL.
std::string text_load(std::span<const char> field);

// Reads a request. Returns an empty text, or what is wrong with it, as a sentence for the process's user.
std::string request_read(std::span<const std::byte> packet, Request& request);
// Reads an answer of this kind, with its records. Returns an empty text, or what is wrong with it.
std::string answer_read(std::span<const std::byte> packet, Kind kind, Answer& answer,
                        std::vector<BoardRecord>& boards);

}  // namespace omx::broker

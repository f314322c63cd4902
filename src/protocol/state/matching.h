// SPDX-License-Identifier: BSD-3-Clause
// Matching (docs/spec/protocol.md 9): receives in posting order, unexpected messages in arrival order. Both
// are found by hash tables, one per mask in use, because MPI libraries mask almost every receive.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/list.h"
#include "protocol/state/request.h"
#include "protocol/types.h"

namespace omx::protocol {

// The properties by which a message is matched.
struct MatchKey {
  std::uint64_t info = 0;
  const Peer* source = nullptr;  // nullptr where the receive names none
  std::uint8_t message_class = 0;

  bool operator==(const MatchKey&) const = default;
  std::size_t hash() const {
    std::uint64_t h = info * 0x9e3779b97f4a7c15ULL;
    h ^= (reinterpret_cast<std::uintptr_t>(source) >> 4) * 0xc2b2ae3d27d4eb4fULL;
    h += message_class;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

// A message that arrived before its receive.
struct Unexpected {
  Peer* peer = nullptr;
  std::uint32_t session = 0xFFFFFFFF;
  std::uint32_t conversation = 0;
  std::uint64_t match_info = 0;
  std::uint32_t msg_length = 0;
  std::uint8_t message_class = 0;
  // If this is not success, the data cannot be had any more. The receive ends with this status, because the
  // messages behind it are delivered.
  Status failed = Status::success;
  bool has_data = false;
  bool rendezvous = false;
  bool complete = false;    // all data are in `buffer`
  std::uint8_t region = 0;  // rendezvous
  std::uint8_t region_generation = 0;
  std::uint16_t region_offset = 0;
  std::uint16_t region_page = 0;
  std::uint64_t data = 0;
  std::byte* buffer = nullptr;   // of msg_length bytes; may be null when 0
  Request* self_send = nullptr;  // the send, if this endpoint itself sent it
  Request* claimed = nullptr;    // the receive that matched while the message was arriving
  ListHook all;
  static constexpr std::size_t kIndexes = 4;
  std::array<ListHook, kIndexes> indexed;

  std::size_t bytes() const { return sizeof(Unexpected) + (buffer ? msg_length : 0); }
};

// Messages of different classes never meet. So the receives of a class do not make those of another slower.
class PostedReceives {
 public:
  void add(Request& receive);
  void remove(Request& receive);
  // Returns the receive posted first that matches a message from `session` of the source. It stays in the
  // tables.
  Request* find(std::uint64_t match_info, const Peer* source, std::uint32_t session,
                std::uint8_t message_class) {
    Space& space = space_of(message_class);
    if (!space.lone) return search(space, match_info, source, session, message_class);
    return lone_matches(*space.lone, match_info, source, session, message_class) ? space.lone : nullptr;
  }
  std::size_t size() const { return size_; }
  Request* any();  // returns some posted receive, for closing down
  // Calls `call` with each posted receive, in no order, until it returns false.
  template <class Call>
  void visit(Call call) {
    for (Space& space : spaces_) {
      if (space.lone && !call(*space.lone)) return;
      for (Table& table : space.tables) {
        for (std::size_t i = 0; table.count > 0 && i < table.buckets; i++) {
          for (Request* r = table.bucket[i].front(); r; r = table.bucket[i].next(*r)) {
            if (!call(*r)) return;
          }
        }
      }
    }
  }

 private:
  using Bucket = List<Request, &Request::match>;
  struct Table {
    std::uint64_t mask = 0;
    bool sourced = false;
    std::size_t count = 0;
    std::size_t buckets = 0;
    std::unique_ptr<Bucket[]> bucket;
  };
  struct Space {
    // The only receive, if it was posted when there was none. It is in no table until another one comes: a
    // program that waits for one message at a time needs none.
    Request* lone = nullptr;
    std::vector<Table> tables;
    std::size_t size = 0;
  };
  static constexpr std::size_t kSpaces = 4;  // classes that far apart share one

  static MatchKey key_of(const Table& table, const Request& receive);
  static bool lone_matches(const Request& receive, std::uint64_t match_info, const Peer* source,
                           std::uint32_t session, std::uint8_t message_class) {
    return ((match_info ^ receive.match_info) & receive.rx.match_mask) == 0 &&
           receive.message_class == message_class && (!receive.rx.source || receive.rx.source == source) &&
           !names_another(receive.session, session);
  }
  static Request* search(Space& space, std::uint64_t match_info, const Peer* source, std::uint32_t session,
                         std::uint8_t message_class);
  static void grow(Table& table);
  static void insert(Space& space, Request& receive);
  static Table& table_for(Space& space, std::uint64_t mask, bool sourced);
  Space& space_of(std::uint8_t message_class) { return spaces_[message_class % kSpaces]; }

  std::array<Space, kSpaces> spaces_;
  std::uint64_t order_ = 0;
  std::size_t size_ = 0;
};

class UnexpectedQueue {
 public:
  void add(Unexpected& message);
  void remove(Unexpected& message);
  // Returns the oldest message that a receive (info, mask, source and its instance, class) matches. It stays
  // queued.
  Unexpected* find(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                   std::uint32_t session, std::uint8_t message_class) {
    return size_ == 0 ? nullptr : search(match_info, match_mask, source, session, message_class);
  }
  std::size_t size() const { return size_; }
  Unexpected* front() { return all_.front(); }
  Unexpected* next(Unexpected& message) { return all_.next(message); }

 private:
  static constexpr std::size_t kScanBelow = 16;  // shorter queues are searched without an index
  struct Bucket {
    ListHook head;  // of Unexpected::indexed[i]
    Bucket() { head.next = head.prev = &head; }
  };
  struct Index {
    bool active = false;
    std::uint64_t mask = 0;
    bool sourced = false;
    std::size_t count = 0;
    std::size_t buckets = 0;
    std::unique_ptr<Bucket[]> bucket;
  };

  Unexpected* search(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                     std::uint32_t session, std::uint8_t message_class);
  static Unexpected* owner(ListHook* hook, std::size_t index);
  void index_insert(std::size_t i, Unexpected& message);
  void index_build(std::size_t i, std::uint64_t mask, bool sourced);

  List<Unexpected, &Unexpected::all> all_;
  std::array<Index, Unexpected::kIndexes> indexes_;
  std::size_t size_ = 0;
  std::size_t next_index_ = 0;  // index to replace next, round robin
};

}  // namespace omx::protocol

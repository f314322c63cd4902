// SPDX-License-Identifier: BSD-3-Clause

#include "protocol/state/matching.h"

#include <cassert>
#include <cstddef>

#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {
constexpr std::size_t kFirstBuckets = 64;

MatchKey message_key(std::uint64_t mask, bool sourced, std::uint64_t info, const Peer* source,
                     std::uint8_t message_class) {
  return {info & mask, sourced ? source : nullptr, message_class};
}
}  // namespace

// --- posted receives ---------------------------------------------------------------------------------------

MatchKey PostedReceives::key_of(const Table& table, const Request& receive) {
  return message_key(table.mask, table.sourced, receive.match_info, receive.rx.source, receive.message_class);
}

PostedReceives::Table& PostedReceives::table_for(Space& space, std::uint64_t mask, bool sourced) {
  for (Table& t : space.tables)
    if (t.mask == mask && t.sourced == sourced) return t;
  // An empty table of another mask is reused, so that odd masks do not pile up tables.
  for (Table& t : space.tables)
    if (t.count == 0) {
      t.mask = mask;
      t.sourced = sourced;
      return t;
    }
  Table& t = space.tables.emplace_back();
  t.mask = mask;
  t.sourced = sourced;
  t.buckets = kFirstBuckets;
  t.bucket = std::make_unique<Bucket[]>(t.buckets);
  return t;
}

void PostedReceives::grow(Table& table) {
  const std::size_t more = table.buckets * 4;
  auto bucket = std::make_unique<Bucket[]>(more);
  // Equal keys share a bucket before and after, so their posting order is kept.
  for (std::size_t b = 0; b < table.buckets; b++)
    while (Request* r = table.bucket[b].pop_front())
      bucket[key_of(table, *r).hash() & (more - 1)].push_back(*r);
  table.bucket = std::move(bucket);
  table.buckets = more;
}

void PostedReceives::insert(Space& space, Request& receive) {
  Table& table = table_for(space, receive.rx.match_mask, receive.rx.source != nullptr);
  if (table.count >= table.buckets * 2) grow(table);
  table.bucket[key_of(table, receive).hash() & (table.buckets - 1)].push_back(receive);
  table.count++;
}

void PostedReceives::add(Request& receive) {
  Space& space = space_of(receive.message_class);
  if (space.size == 0) {
    space.lone = &receive;
  } else {
    if (space.lone) insert(space, *space.lone);  // may throw, and nothing has changed then
    space.lone = nullptr;
    insert(space, receive);
  }
  receive.rx.order = ++order_;
  space.size++;
  size_++;
}

void PostedReceives::remove(Request& receive) {
  Space& space = space_of(receive.message_class);
  space.size--;
  size_--;
  if (&receive == space.lone) {
    space.lone = nullptr;
    return;
  }
  assert(receive.match.linked());
  receive.match.unlink();
  table_for(space, receive.rx.match_mask, receive.rx.source != nullptr).count--;
}

Request* PostedReceives::search(Space& space, std::uint64_t match_info, const Peer* source,
                                std::uint32_t session, std::uint8_t message_class) {
  Request* best = nullptr;
  for (Table& table : space.tables) {
    if (table.count == 0) continue;
    const MatchKey key = message_key(table.mask, table.sourced, match_info, source, message_class);
    Bucket& bucket = table.bucket[key.hash() & (table.buckets - 1)];
    for (Request* r = bucket.front(); r; r = bucket.next(*r)) {
      if (!(key_of(table, *r) == key) || names_another(r->session, session)) continue;
      if (!best || r->rx.order < best->rx.order) best = r;
      break;
    }
  }
  return best;
}

Request* PostedReceives::any() {
  Request* found = nullptr;
  visit([&](Request& receive) {
    found = &receive;
    return false;
  });
  return found;
}

// --- unexpected messages -----------------------------------------------------------------------------------

Unexpected* UnexpectedQueue::owner(ListHook* hook, std::size_t index) {
  auto* base = reinterpret_cast<std::byte*>(hook) - offsetof(Unexpected, indexed) - index * sizeof(ListHook);
  return reinterpret_cast<Unexpected*>(base);
}

void UnexpectedQueue::index_insert(std::size_t i, Unexpected& message) {
  Index& index = indexes_[i];
  if (index.count >= index.buckets * 2) {
    index_build(i, index.mask, index.sourced);  // builds a larger index, with the message if it is in all_
    if (message.indexed[i].linked()) return;
  }
  const MatchKey key =
      message_key(index.mask, index.sourced, message.match_info, message.peer, message.message_class);
  ListHook& head = index.bucket[key.hash() & (index.buckets - 1)].head;
  ListHook& hook = message.indexed[i];
  hook.prev = head.prev;
  hook.next = &head;
  head.prev->next = &hook;
  head.prev = &hook;
  index.count++;
}

void UnexpectedQueue::index_build(std::size_t i, std::uint64_t mask, bool sourced) {
  Index& index = indexes_[i];
  for (Unexpected* u = all_.front(); u; u = all_.next(*u)) u->indexed[i].unlink();
  std::size_t buckets = kFirstBuckets;
  while (buckets < size_) buckets *= 4;
  if (buckets > index.buckets) {
    index.bucket = std::make_unique<Bucket[]>(buckets);
    index.buckets = buckets;
  }
  index.active = true;
  index.mask = mask;
  index.sourced = sourced;
  index.count = 0;
  for (Unexpected* u = all_.front(); u; u = all_.next(*u)) index_insert(i, *u);
}

void UnexpectedQueue::add(Unexpected& message) {
  all_.push_back(message);
  size_++;
  for (std::size_t i = 0; i < indexes_.size(); i++)
    if (indexes_[i].active) index_insert(i, message);
}

void UnexpectedQueue::remove(Unexpected& message) {
  message.all.unlink();
  size_--;
  for (std::size_t i = 0; i < indexes_.size(); i++) {
    if (!indexes_[i].active) continue;
    message.indexed[i].unlink();
    indexes_[i].count--;
    // An index is kept only while it has something to find.
    if (size_ == 0) indexes_[i].active = false;
  }
}

Unexpected* UnexpectedQueue::search(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                                    std::uint32_t session, std::uint8_t message_class) {
  const bool sourced = source != nullptr;
  const MatchKey key = message_key(match_mask, sourced, match_info, source, message_class);
  const auto matches = [&](const Unexpected& u) {
    return message_key(match_mask, sourced, u.match_info, u.peer, u.message_class) == key &&
           !names_another(session, u.session);
  };
  if (size_ < kScanBelow) {
    for (Unexpected* u = all_.front(); u; u = all_.next(*u))
      if (matches(*u)) return u;
    return nullptr;
  }
  std::size_t i = 0;
  while (i < indexes_.size() &&
         !(indexes_[i].active && indexes_[i].mask == match_mask && indexes_[i].sourced == sourced))
    i++;
  if (i == indexes_.size()) {
    i = next_index_;
    next_index_ = (next_index_ + 1) % indexes_.size();
    index_build(i, match_mask, sourced);
  }
  ListHook& head = indexes_[i].bucket[key.hash() & (indexes_[i].buckets - 1)].head;
  for (ListHook* h = head.next; h != &head; h = h->next) {
    Unexpected* u = owner(h, i);
    if (matches(*u)) return u;
  }
  return nullptr;
}

}  // namespace omx::protocol

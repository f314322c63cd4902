// SPDX-License-Identifier: BSD-3-Clause
// All peers of an endpoint, by index. They lie in chunks, so that none ever moves, and none needs a pointer
// of its own. A peer is never removed.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "protocol/state/peer.h"

namespace omx::protocol {

class PeerTable {
 public:
  class Iterator {
   public:
    Iterator(const PeerTable& table, std::size_t index) : table_(table), index_(index) {}
    Peer* operator*() const { return table_[index_]; }
    Iterator& operator++() {
      index_++;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const PeerTable& table_;
    std::size_t index_;
  };

  // Adds a peer. Returns nullptr when the system has no memory.
  Peer* add() {
    if (size_ == chunks_.size() * kChunk) {
      auto chunk = std::unique_ptr<Peer[]>(new (std::nothrow) Peer[kChunk]);
      if (!chunk) return nullptr;
      try {
        chunks_.push_back(std::move(chunk));
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    return (*this)[size_++];
  }

  std::size_t size() const { return size_; }
  Peer* operator[](std::size_t index) const {
    assert(index < size_);
    return &chunks_[index / kChunk][index % kChunk];
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }
  std::size_t bytes() const {
    return chunks_.size() * kChunk * sizeof(Peer) + chunks_.capacity() * sizeof(chunks_.front());
  }

 private:
  static constexpr std::size_t kChunk = 16;

  std::vector<std::unique_ptr<Peer[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace omx::protocol

// SPDX-License-Identifier: BSD-3-Clause
// Fixed-size object pool. Memory comes in chunks and is reused, so that nothing is allocated once it is warm.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace omx {

template <class T, std::size_t kChunkObjects = 64>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() { assert(live_ == 0); }

  // Constructs an object. Returns nullptr when the system has no memory.
  template <class... Args>
  T* create(Args&&... args) {
    if (!free_ && !grow()) [[unlikely]]
      return nullptr;
    Cell* cell = free_;
    free_ = cell->next;
    live_++;
    return new (cell->storage) T(std::forward<Args>(args)...);
  }

  // Makes sure that the next create() succeeds. Returns false when the system has no memory.
  bool reserve() { return free_ || grow(); }

  void destroy(T* object) {
    assert(object && live_ > 0);
    object->~T();
    Cell* cell = reinterpret_cast<Cell*>(object);
    cell->next = free_;
    free_ = cell;
    live_--;
  }

  std::size_t live() const { return live_; }
  std::size_t bytes() const { return chunks_.size() * sizeof(Chunk); }

 private:
  union Cell {
    Cell* next;
    alignas(T) std::byte storage[sizeof(T)];
  };
  struct Chunk {
    Cell cells[kChunkObjects];
  };

  [[gnu::noinline]] bool grow() {
    auto chunk = std::unique_ptr<Chunk>(new (std::nothrow) Chunk);
    if (!chunk) return false;
    // First the place in the list: without it the chunk is freed, and none of its cells may be in use.
    try {
      chunks_.push_back(std::move(chunk));
    } catch (const std::bad_alloc&) {
      return false;
    }
    for (Cell& cell : chunks_.back()->cells) {
      cell.next = free_;
      free_ = &cell;
    }
    return true;
  }

  Cell* free_ = nullptr;
  std::size_t live_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace omx

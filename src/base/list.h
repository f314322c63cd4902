// SPDX-License-Identifier: BSD-3-Clause
// Intrusive doubly linked list: no allocation, O(1) removal from the middle. An object may be in several
// lists at once through several hooks.
#pragma once

#include <cassert>
#include <cstddef>

namespace omx {

struct ListHook {
  ListHook* next = nullptr;
  ListHook* prev = nullptr;

  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;

  bool linked() const { return next != nullptr; }

  // Removes the object from the list that this hook is in. Does nothing when it is in none. No destructor
  // does this: unlink an object before it or its list ends.
  void unlink() {
    if (!next) return;
    next->prev = prev;
    prev->next = next;
    next = prev = nullptr;
  }
};

// A list of T through the hook T::*Hook.
template <class T, ListHook T::*Hook>
class List {
 public:
  List() { head_.next = head_.prev = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return head_.next == &head_; }

  void push_back(T& item) { insert_before(head_, item.*Hook); }
  void push_front(T& item) { insert_before(*head_.next, item.*Hook); }
  void insert_before(T& position, T& item) { insert_before(position.*Hook, item.*Hook); }

  T* front() { return empty() ? nullptr : owner(head_.next); }
  T* back() { return empty() ? nullptr : owner(head_.prev); }

  T* pop_front() {
    T* item = front();
    if (item) (item->*Hook).unlink();
    return item;
  }

  // Returns the item after `item`, or nullptr at the end. Fetch it before you remove `item`.
  T* next(T& item) {
    ListHook* n = (item.*Hook).next;
    return n == &head_ ? nullptr : owner(n);
  }

  static void remove(T& item) { (item.*Hook).unlink(); }

 private:
  static void insert_before(ListHook& position, ListHook& hook) {
    assert(!hook.linked());
    hook.prev = position.prev;
    hook.next = &position;
    position.prev->next = &hook;
    position.prev = &hook;
  }

  static T* owner(ListHook* hook) {
    // The offset of the hook in T. It is computed on a fixed non-null base, as offsetof cannot take a member
    // pointer.
    alignas(T) static std::byte base[sizeof(T)];
    T* origin = reinterpret_cast<T*>(base);
    const auto offset = reinterpret_cast<std::byte*>(&(origin->*Hook)) - base;
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(hook) - offset);
  }

  ListHook head_;
};

}  // namespace omx

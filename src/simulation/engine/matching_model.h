// SPDX-License-Identifier: BSD-3-Clause
// MX matching, written as plainly as possible (docs/spec/protocol.md 9). There is a list of receives in the
// order of posting, and a list of messages in the order of arrival. Both are searched from the front. The
// model is slow, and runs beside the engine.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

namespace omx::simulation {

class MatchingModel {
 public:
  struct Receive {
    std::uint64_t id = 0;
    std::uint64_t info = 0, mask = 0;
    const void* source = nullptr;  // a peer, or nullptr for any
  };
  struct Message {
    std::uint64_t id = 0;
    std::uint64_t info = 0;
    const void* source = nullptr;
  };

  // Returns the message that a new receive takes at once. Without one, the receive waits.
  std::optional<std::uint64_t> post(const Receive& receive) {
    for (auto m = messages_.begin(); m != messages_.end(); m++) {
      if (!fits(receive, *m)) continue;
      const std::uint64_t id = m->id;
      messages_.erase(m);
      return id;
    }
    receives_.push_back(receive);
    return std::nullopt;
  }
  // Returns the receive that takes a new message. Without one, the message waits.
  std::optional<std::uint64_t> arrive(const Message& message) {
    for (auto r = receives_.begin(); r != receives_.end(); r++) {
      if (!fits(*r, message)) continue;
      const std::uint64_t id = r->id;
      receives_.erase(r);
      return id;
    }
    messages_.push_back(message);
    return std::nullopt;
  }
  // Removes a receive. Returns whether it still waited.
  bool cancel(std::uint64_t receive) {
    for (auto r = receives_.begin(); r != receives_.end(); r++) {
      if (r->id != receive) continue;
      receives_.erase(r);
      return true;
    }
    return false;
  }
  // Removes a message. Returns whether it still waited.
  bool drop(std::uint64_t message) {
    for (auto m = messages_.begin(); m != messages_.end(); m++) {
      if (m->id != message) continue;
      messages_.erase(m);
      return true;
    }
    return false;
  }
  std::size_t receives() const { return receives_.size(); }
  std::size_t messages() const { return messages_.size(); }

 private:
  static bool fits(const Receive& r, const Message& m) {
    return (m.info & r.mask) == r.info && (!r.source || r.source == m.source);
  }

  std::list<Receive> receives_;
  std::list<Message> messages_;
};

}  // namespace omx::simulation

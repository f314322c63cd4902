// SPDX-License-Identifier: BSD-3-Clause
// The programs at both ends. The victim's program does what the script says and checks every completion. The
// honest peer's program receives everything.
#pragma once

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

// One operation with memory of its own: segments with canaries between and around them.
struct Operation {
  protocol::RequestKind kind = protocol::RequestKind::receive;
  Request* request = nullptr;  // nullptr: forgotten
  Partner* partner = nullptr;  // of a send or connect: to; of a receive: its only source, or nullptr for any
  bool ended = false;
  std::uint64_t match_info = 0, match_mask = 0;
  std::uint32_t capacity = 0;
  Bytes memory;
  std::vector<protocol::Segment> segments;
  Book::Entry* entry = nullptr;  // of a send of a message that describes itself

  void allocate(std::uint32_t length, std::uint32_t pieces);
  Bytes content() const;
  void fill(std::span<const std::byte> content);
  void check_canaries() const;
};

// The messages that the honest peer's program sends and receives.
class HonestProgram : public Player {
 public:
  HonestProgram(Scene& scene, Book& to_victim, Book& from_victim)
      : scene_(scene), to_victim_(to_victim), from_victim_(from_victim) {}
  void send(std::uint32_t length, std::uint8_t tag, bool synchronous, bool extension);
  void look() override;

 private:
  void finished(Operation& op, const protocol::Completion& c);

  Scene& scene_;
  Book& to_victim_;
  Book& from_victim_;
  std::deque<Operation> operations_;
};

class Application : public Player {
 public:
  Application(Scene& scene, Book& from_honest, Book& to_honest)
      : scene_(scene), from_honest_(from_honest), to_honest_(to_honest) {}

  // Steps of the script.
  void receive(Script& script);
  void send(Script& script);
  void connect(Script& script);
  void cancel(Script& script);
  void probe(Script& script);
  void disconnect(Script& script);
  void handler(Script& script);
  void timeout(Script& script);
  void look() override;

  // The end of a run, in this order.
  void end_attackers();  // ends everything but posted receives
  void drain();          // gives every waiting message a receive
  void exchange(HonestProgram& honest);
  void check_end();

 private:
  enum class Handler : std::uint8_t {
    none,
    proceed,
    finished,
    finished_attackers,
    disconnect,
    post,
    send,
    count
  };
  static protocol::HandlerAction arrived(void* context, const protocol::Arrival& arrival);
  Operation* create(protocol::RequestKind kind, std::uint32_t length, std::uint32_t pieces);
  void post(Operation& op, std::uint8_t message_class, bool forgotten);
  bool send_to(Partner* to, std::uint32_t length, std::uint32_t pieces, std::uint8_t tag, std::uint8_t how);
  Partner* attacker(std::uint8_t which);
  Operation* pick(Script& script);
  void ended(Operation& op, const protocol::Completion& c);
  void check_received(Operation& op, const protocol::Completion& c);
  void consumed(const protocol::Arrival& arrival);
  bool strict() const { return !scene_.setup.relaxed; }
  bool lossless() const { return scene_.setup.lossless(); }
  bool honest(const Partner* p) const { return p == scene_.to_honest; }

  Scene& scene_;
  Book& from_honest_;
  Book& to_honest_;
  Book to_self_{3};
  std::deque<Operation> operations_;
  std::size_t memory_ = 0;
  bool ending_ = false;
  Handler handler_ = Handler::none;
};

}  // namespace omx::fuzz

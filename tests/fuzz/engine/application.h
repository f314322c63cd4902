// SPDX-License-Identifier: BSD-3-Clause
// The victim's program: it does what the script says and checks every completion.
#pragma once

#include <cstdint>
#include <deque>

#include "tests/fuzz/engine/operation.h"

namespace omx::fuzz {

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

 protected:
  Operation* create(protocol::RequestKind kind, std::uint32_t length, std::uint32_t pieces);
  void post(Operation& op, std::uint8_t message_class, bool forgotten);
  bool send_to(Peer* to, std::uint32_t length, std::uint32_t pieces, std::uint8_t tag, std::uint8_t how);
  Peer* attacker(std::uint8_t which);
  void handler_forget() { handler_ = Handler::none; }
  bool strict() const { return !scene_.setup.relaxed; }
  bool lossless() const { return scene_.setup.lossless(); }
  bool honest(const Peer* p) const { return p == scene_.to_honest; }

  Scene& scene_;
  Book& from_honest_;
  Book& to_honest_;
  Book to_self_{3};
  std::deque<Operation> operations_;
  bool ending_ = false;

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
  Operation* pick(Script& script);
  void ended(Operation& op, const protocol::Completion& c);
  void check_received(Operation& op, const protocol::Completion& c);
  void consumed(const protocol::Arrival& arrival);

  std::size_t memory_ = 0;
  Handler handler_ = Handler::none;
};

}  // namespace omx::fuzz

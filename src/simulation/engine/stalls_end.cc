// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/stalls_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulation/engine/leftovers.h"

namespace omx::simulation {

using protocol::RequestKind;

bool StallsEnd::quiet() {
  if (failed()) return true;
  for (std::uint32_t i = 0; i < hosts(); i++)
    if (!engine(i).unexpected_empty()) return false;
  return std::all_of(calls_.begin(), calls_.end(),
                     [](const Call& c) { return c.ended || c.kind == RequestKind::receive; });
}

// Receives everything that arrives, until every send and connect has ended.
void StallsEnd::settle(const char* when) {
  const TimeNs piece = plan_.timeout / 20;
  for (TimeNs waited = 0; waited < 4 * plan_.timeout && !quiet(); waited += piece) {
    for (std::uint32_t i = 0; i < hosts(); i++)
      for (unsigned n = 0; n < 64 && !engine(i).unexpected_empty(); n++) receive(i, {}, true);
    for (std::uint32_t i = 0; i < hosts(); i++)
      for (unsigned n = 0; n < 2; n++) receive(i, {}, true);
    reap_all();
    run_for(piece);
  }
  for (const Call& c : calls_) {
    if (failed()) return;
    if (!c.ended && c.kind != RequestKind::receive)
      fail(fmt::format("call {} of host {} never ended, {}", c.id, c.host, when));
  }
}

// Checks that no earlier message is missing, because the sender can still send.
void StallsEnd::complete_check(const Stream& stream) {
  for (const std::uint64_t id : stream.messages) {
    const Call& m = calls_[id - 1];
    if (!m.delivered)
      return fail(fmt::format("hole: host {} can still send to {}, and message {} was not delivered",
                              stream.from->host, stream.to->host, id));
  }
}

// Checks that both sides of a conversation can continue, or neither.
void StallsEnd::agreement_check(const std::vector<Call*>& tests) {
  for (const Call* test : tests) {
    if (!test->well || failed()) continue;
    if (test->stream->to->over) return fail("a message to an endpoint that is gone was acknowledged");
    complete_check(*test->stream);
    const Address& theirs = address(test->other, test->host);
    if (!theirs.stream || !theirs.stream->failed || theirs.stream->to != test->life) continue;
    // The peer's conversation is over, and this side's began while the peer still held it.
    if (theirs.forgotten != 0 && test->stream->begun > theirs.forgotten) continue;
    return fail(fmt::format("host {} can send to {}, whose own stream has failed", test->host, test->other));
  }
}

// Checks that every receive that waited for a message of an ended conversation has ended.
void StallsEnd::dead_check() {
  for (const Call& c : calls_) {
    if (!c.ended && c.awaited && c.stream->failed && !failed())
      fail(
          fmt::format("call {} of host {} waits for a message of a conversation that is over", c.id, c.host));
  }
}

// Checks that each undelivered message that was complete for its sender was reported to an application.
void StallsEnd::silent_loss_check() {
  for (const Call& m : calls_) {
    if (m.kind != RequestKind::send || !m.well || m.delivered || m.reported || m.lost) continue;
    if (m.life->over || m.stream->to->over || failed()) continue;
    fail(
        fmt::format("message {} from {} to {} was lost, and no application was told", m.id, m.host, m.other));
  }
}

void StallsEnd::start_over() {
  std::vector<Call*> calls;
  for (std::uint32_t i = 0; i < hosts(); i++) {
    for (std::uint32_t j = 0; j < hosts(); j++) {
      if (i == j) continue;
      connect(i, j);
      calls.push_back(&calls_.back());
    }
  }
  reap_all();
  settle("connecting again");
  run_for(plan_.talk);
  faults_over_ = true;
  for (std::uint32_t i = 0; i < hosts() && !failed(); i++) {
    for (std::uint32_t j = 0; j < hosts() && !failed(); j++) {
      if (i == j) continue;
      if (!address(i, j).usable) return fail(fmt::format("host {} cannot connect to {} again", i, j));
      for (const std::size_t length : {10, 100, 4000, 40'000}) {
        send(i, j, length, Class::plain);
        calls.push_back(&calls_.back());
      }
      send(i, j, 1000, Class::synchronous);
      calls.push_back(&calls_.back());
      send(i, j, 1000, Class::delivered);
      calls.push_back(&calls_.back());
    }
  }
  reap_all();
  settle("starting over");
  for (const Call* c : calls) {
    if (failed()) return;
    if (!c->well) return fail(fmt::format("call {} failed after a new connect", c->id));
    if (c->kind == RequestKind::send) complete_check(*c->stream);
  }
}

void StallsEnd::leftovers() {
  for (Call& c : calls_)
    if (!c.ended && !failed()) cancel(c);
  for (const Call& c : calls_)
    if (!c.ended && !failed()) return fail(fmt::format("receive {} was matched and never ended", c.id));
  if (failed()) return;
  world_.run_for(600 * 1000 * protocol::kMillisecond);  // a lost MTU probe is repeated twice a minute
  for (std::uint32_t i = 0; i < hosts() && !failed(); i++)
    if (const std::string left = host_leftovers(world_.host(i), true); !left.empty()) fail(left);
  if (!failed() && world_.frames().live() > 0) fail("frames are still under way");
}

void StallsEnd::end() {
  while (active_ > 0 && !failed()) run_for(plan_.timeout / 4);
  settle("after the outages");
  run_for(plan_.timeout);
  std::vector<Call*> tests;
  for (std::uint32_t i = 0; i < hosts() && !failed(); i++) {
    for (std::uint32_t j = 0; j < hosts(); j++) {
      if (i == j || !address(i, j).usable) continue;
      send(i, j, 16, Class::delivered);
      tests.push_back(&calls_.back());
    }
  }
  reap_all();
  if (!failed()) settle("in the test of which hosts can still send");
  if (!failed()) agreement_check(tests);
  if (!failed()) dead_check();
  if (!failed()) silent_loss_check();
  if (!failed()) start_over();
  if (!failed()) leftovers();
}

}  // namespace omx::simulation

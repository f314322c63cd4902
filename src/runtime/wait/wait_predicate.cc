// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/wait_predicate.h"

#include <cassert>

namespace omx::runtime {

bool WaitPredicate::satisfied(protocol::Endpoint& engine) const {
  switch (kind) {
    case Kind::request:
      return !engine.held(request) || engine.done(request);
    case Kind::any:
      return engine.find_done(match_info, match_mask) != nullptr;
    case Kind::peek:
      return engine.peek_done() != nullptr;
    case Kind::probe:
      return engine.probe(match_info, match_mask).has_value();
    case Kind::ready:
      return ready(context);
    case Kind::never:
      return false;
  }
  return false;
}

bool WaitPredicate::take(protocol::Endpoint& engine) {
  switch (kind) {
    case Kind::request:
      assert(completion);
      if (!engine.held(request)) {
        request = nullptr;
        return true;
      }
      if (!engine.done(request)) return false;
      *completion = engine.consume(request);
      return true;
    case Kind::any: {
      assert(completion);
      Request* const found = engine.find_done(match_info, match_mask);
      if (found) *completion = engine.consume(found);
      return found != nullptr;
    }
    case Kind::peek:
      request = engine.peek_done();
      return request != nullptr;
    case Kind::probe: {
      assert(arrival);
      const auto found = engine.probe(match_info, match_mask);
      if (found) *arrival = *found;
      return found.has_value();
    }
    case Kind::ready:
      assert(ready);
      return ready(context);
    case Kind::never:
      return false;
  }
  return false;
}

}  // namespace omx::runtime

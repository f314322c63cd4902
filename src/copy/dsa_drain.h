// SPDX-License-Identifier: BSD-3-Clause
// Asks a device whose completion is overdue whether it is done with everything. Its answer to a drain
// descriptor means that nothing older is outstanding. Until then it may still write.
//
//   none -> wanted -> sent -> confirmed
//              \        \-> given_up      it answered with an error, or not in time
//               \-> given_up             its queue stayed full or refused the descriptor
#pragma once

#include <cstdint>

#include "base/time.h"
#include "copy/dsa_descriptor.h"
#include "copy/portal.h"

namespace omx::copy {

class DsaDrain {
 public:
  // Asks for a drain, which is given up at `until`.
  void want(TimeNs until);
  // Submits the descriptor if that is still to be done, and reads the answer from `record`.
  void advance(Portal& portal, DsaRecord& record, TimeNs now);

  bool begun() const { return state_ != State::none; }
  bool confirmed() const { return state_ == State::confirmed; }
  bool over() const { return state_ == State::confirmed || state_ == State::given_up; }
  // Returns whether the device may still write the record.
  bool outstanding() const { return state_ == State::sent || state_ == State::given_up; }

 private:
  enum class State : std::uint8_t { none, wanted, sent, confirmed, given_up };

  void send(Portal& portal, DsaRecord& record, TimeNs now);

  State state_ = State::none;
  TimeNs until_ = 0;
};

}  // namespace omx::copy

// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_drain.h"

#include <span>

#include "copy/dsa_records.h"

namespace omx::copy {

void DsaDrain::want(TimeNs until) {
  state_ = State::wanted;
  until_ = until;
}

void DsaDrain::advance(Portal& portal, DsaRecord& record, TimeNs now) {
  if (state_ == State::wanted) send(portal, record, now);
  if (state_ == State::sent) {
    const std::uint8_t status = dsa_status(record);
    if (status == static_cast<std::uint8_t>(DsaStatus::success)) state_ = State::confirmed;
    if (status != 0 && state_ == State::sent) state_ = State::given_up;  // answered with an error
  }
  if (state_ != State::confirmed && now >= until_) state_ = State::given_up;
}

void DsaDrain::send(Portal& portal, DsaRecord& record, TimeNs now) {
  if (now >= until_) return;
  dsa_record_clear(record);
  const DsaDescriptor d = dsa_describe(DsaOpcode::drain, kDsaCompletionValid | kDsaCompletionWanted, &record);
  const PortalAnswer answer = portal.submit(std::span(&d, 1));
  if (answer.accepted) state_ = State::sent;
  if (answer.error) until_ = now;
}

}  // namespace omx::copy

// SPDX-License-Identifier: BSD-3-Clause
#include "copy/channels.h"

#include <algorithm>
#include <bit>
#include <new>

namespace omx::copy {

namespace {

std::uint32_t most_of_all(const std::vector<std::unique_ptr<CopyEngine>>& engines) {
  std::uint32_t most = 0;
  for (const auto& engine : engines) most += engine->capabilities().most_outstanding;
  return most;
}

}  // namespace

Channels::Channels(std::vector<std::unique_ptr<CopyEngine>> engines)
    : engines_(std::move(engines)), most_(most_of_all(engines_)), places_(std::bit_ceil(most_)) {
  failed_.reserve(places_.size());
}

std::unique_ptr<CopyEngine> Channels::join(std::vector<std::unique_ptr<CopyEngine>> engines) {
  if (engines.size() == 1) return std::move(engines.front());
  try {
    return std::unique_ptr<CopyEngine>(new Channels(std::move(engines)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Capabilities Channels::capabilities() const {
  Capabilities all = engines_.front()->capabilities();
  all.most_outstanding = most_;
  for (const auto& engine : engines_) all.cached = all.cached && engine->capabilities().cached;
  for (const auto& engine : engines_)
    all.least_piece = std::max(all.least_piece, engine->capabilities().least_piece);
  return all;
}

Submission Channels::submit(const Piece& piece) {
  if (!failed_.empty()) return {};
  // Pieces that are over in one channel wait for older ones in another, so a channel may have room when this
  // has not.
  if (outstanding() == most_ && poll(most_) == 0) return {Answer::busy, 0};
  Submission answer;
  for (std::size_t i = 0; i < engines_.size(); i++) {
    const std::size_t channel = (piece.channel + i) % engines_.size();
    const Submission submission = engines_[channel]->submit(piece);
    if (submission.answer == Answer::accepted) {
      place(++submitted_) = {static_cast<std::uint32_t>(channel), submission.ticket};
      advance();
      return {Answer::accepted, submitted_};
    }
    if (submission.answer == Answer::busy) answer.answer = Answer::busy;
  }
  return answer;
}

std::uint32_t Channels::poll(std::uint32_t budget) {
  const Ticket before = completed_;
  for (const auto& engine : engines_) engine->poll(budget);
  advance();
  return static_cast<std::uint32_t>(completed_ - before);
}

void Channels::advance() {
  for (; completed_ != submitted_; completed_++) {
    const Place& next = place(completed_ + 1);
    const CopyEngine& engine = *engines_[next.channel];
    if (engine.completed() < next.ticket) return;
    if (*engine.disabled_reason() && engine.failed(next.ticket)) failed_.push_back(completed_ + 1);
  }
}

bool Channels::drain(TimeNs deadline) {
  for (const auto& engine : engines_)
    if (engine->outstanding() > 0) engine->drain(deadline);
  poll(most_);
  return completed_ == submitted_;
}

bool Channels::failed(Ticket ticket) const {
  return std::binary_search(failed_.begin(), failed_.end(), ticket);
}

const char* Channels::disabled_reason() const {
  const char* reason = "";
  for (const auto& engine : engines_) {
    if (*engine->disabled_reason())
      reason = engine->disabled_reason();
    else if (failed_.empty())
      return "";
  }
  return reason;
}

const Counters& Channels::counters() const {
  sum_ = {};
  for (const auto& engine : engines_)
    for (std::size_t i = 0; i < sum_.values.size(); i++) sum_.values[i] += engine->counters().values[i];
  return sum_;
}

}  // namespace omx::copy

// SPDX-License-Identifier: BSD-3-Clause
// Several engines as one: a piece goes to the channel of its message, so that messages do not wait for each
// other (Goglin, Cluster 2008, III-C: "only one channel per message", several for several messages).
#pragma once

#include <memory>
#include <vector>

#include "copy/engine.h"

namespace omx::copy {

class Channels final : public CopyEngine {
 public:
  static constexpr std::size_t kMost = 8;

  // Joins engines of one kind, at least one. Returns a lone one as it is, and nullptr without memory.
  static std::unique_ptr<CopyEngine> join(std::vector<std::unique_ptr<CopyEngine>> engines);

  Capabilities capabilities() const override;
  // Tries the channel of the piece's message, and the next ones if that is busy or off.
  Submission submit(const Piece& piece) override;
  std::uint32_t poll(std::uint32_t budget) override;
  bool drain(TimeNs deadline) override;
  bool failed(Ticket ticket) const override;
  // One channel that is off leaves the others on, unless a piece failed there.
  const char* disabled_reason() const override;
  const Counters& counters() const override;

 private:
  struct Place {
    std::uint32_t channel = 0;
    Ticket ticket = 0;  // of that channel
  };

  explicit Channels(std::vector<std::unique_ptr<CopyEngine>> engines);
  Place& place(Ticket ticket) { return places_[ticket & (places_.size() - 1)]; }
  void advance();

  std::vector<std::unique_ptr<CopyEngine>> engines_;
  const std::uint32_t most_;    // outstanding
  std::vector<Place> places_;   // index: ticket modulo the size
  std::vector<Ticket> failed_;  // at most as many as can be outstanding
  mutable Counters sum_;
};

}  // namespace omx::copy

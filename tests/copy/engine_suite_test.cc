// SPDX-License-Identifier: BSD-3-Clause
// Requirements on every engine, run with all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "base/random.h"
#include "subjects.h"

namespace omx::copy {
namespace {

using Bytes = std::vector<std::byte>;

class Engines : public ::testing::TestWithParam<SubjectKind> {
 protected:
  void SetUp() override { subject_ = GetParam().make(); }
  CopyEngine& engine() { return subject_->engine(); }

  // Submits a piece, and polls while the engine is busy.
  Ticket submit(const Piece& piece) {
    for (;;) {
      const Submission submission = engine().submit(piece);
      EXPECT_NE(submission.answer, Answer::unavailable) << engine().disabled_reason();
      if (submission.answer == Answer::accepted) return submission.ticket;
      if (submission.answer == Answer::unavailable) return 0;
      EXPECT_EQ(engine().outstanding(), engine().capabilities().most_outstanding) << "busy without a reason";
      if (engine().poll(1000) == 0) engine().drain(kNever);
    }
  }

  std::unique_ptr<Subject> subject_;
};

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Bytes bytes(count);
  random_fill(bytes, seed);
  return bytes;
}

TEST_P(Engines, copy_every_length_up_to_200_and_around_a_page) {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 200; n++) lengths.push_back(n);
  for (const std::size_t middle : {1000, 2000, 3000, 4096, 8192, 65536})
    for (std::size_t n = middle - 2; n <= middle + 2; n++) lengths.push_back(n);
  // Buffers of exactly the needed size, which a sanitizer watches.
  std::vector<Bytes> sources, destinations;
  for (const std::size_t n : lengths) {
    sources.push_back(random_bytes(n, n + 1));
    destinations.emplace_back(n);
  }
  for (std::size_t i = 0; i < lengths.size(); i++)
    EXPECT_EQ(submit({sources[i].data(), destinations[i].data(), lengths[i]}), i + 1);
  EXPECT_TRUE(engine().drain(kNever));
  EXPECT_EQ(engine().completed(), lengths.size());
  for (std::size_t i = 0; i < lengths.size(); i++) {
    EXPECT_FALSE(engine().failed(i + 1));
    EXPECT_EQ(sources[i], destinations[i]) << lengths[i] << " bytes";
  }
}

TEST_P(Engines, copy_with_every_alignment_and_touch_nothing_beside) {
  constexpr std::size_t kRoom = 512;
  constexpr std::byte kGuard{0xa5};
  const Bytes source = random_bytes(64 + kRoom, 7);
  std::vector<Bytes> destinations;
  struct Case {
    std::size_t from, to, bytes;
  };
  std::vector<Case> cases;
  for (std::size_t from = 0; from < 64; from++)
    for (std::size_t to = 0; to < 64; to += 1 + from % 7)
      cases.push_back({from, to, 1 + (from * 64 + to) % 257});
  for (std::size_t i = 0; i < cases.size(); i++) destinations.emplace_back(64 + kRoom, kGuard);
  for (std::size_t i = 0; i < cases.size(); i++)
    submit({source.data() + cases[i].from, destinations[i].data() + cases[i].to, cases[i].bytes});
  EXPECT_TRUE(engine().drain(kNever));
  for (std::size_t i = 0; i < cases.size(); i++) {
    Bytes expected(64 + kRoom, kGuard);
    std::memcpy(expected.data() + cases[i].to, source.data() + cases[i].from, cases[i].bytes);
    ASSERT_EQ(destinations[i], expected) << cases[i].from << " to " << cases[i].to << ", " << cases[i].bytes;
  }
}

TEST_P(Engines, count_completions_in_order_and_are_busy_at_their_limit) {
  const std::uint32_t most = engine().capabilities().most_outstanding;
  ASSERT_GE(most, 1U);
  const Bytes source = random_bytes(5000, 3);
  std::vector<Bytes> destinations(most + 10UL, Bytes(5000));
  Ticket before = 0;
  for (std::size_t i = 0; i < destinations.size(); i++) {
    const Submission submission = engine().submit({source.data(), destinations[i].data(), 5000});
    if (submission.answer == Answer::busy) {
      EXPECT_EQ(engine().outstanding(), most);
      EXPECT_EQ(submission.ticket, 0U);
      break;
    }
    ASSERT_EQ(submission.answer, Answer::accepted);
    EXPECT_EQ(submission.ticket, engine().submitted());
    EXPECT_EQ(submission.ticket, i + 1);
    EXPECT_LE(engine().outstanding(), most);
    EXPECT_GE(engine().completed(), before);
    before = engine().completed();
    // All completed pieces have their data.
    for (Ticket t = 1; t <= before; t++) ASSERT_EQ(destinations[t - 1], source) << t;
  }
  while (engine().outstanding() > 0) {
    const std::uint32_t grew = engine().poll(3);
    EXPECT_EQ(engine().completed(), before + grew);
    before = engine().completed();
    for (Ticket t = before - grew + 1; t <= before; t++) ASSERT_EQ(destinations[t - 1], source) << t;
    if (!grew) engine().drain(kNever);
    before = engine().completed();
  }
  for (Ticket t = 1; t <= engine().submitted(); t++) EXPECT_EQ(destinations[t - 1], source) << t;
  EXPECT_EQ(engine().poll(100), 0U);
  EXPECT_TRUE(engine().drain(0)) << "nothing is outstanding";
}

TEST_P(Engines, destroy_with_pieces_outstanding) {
  const Bytes source = random_bytes(20000, 5);
  std::vector<Bytes> destinations(engine().capabilities().most_outstanding, Bytes(20000));
  Ticket accepted = 0;
  for (Bytes& destination : destinations)
    if (engine().submit({source.data(), destination.data(), source.size()}).answer == Answer::accepted)
      accepted++;
  subject_.reset();
  for (Ticket t = 0; t < accepted; t++) EXPECT_EQ(destinations[t], source);
}

TEST_P(Engines, count_what_they_did) {
  const Bytes source = random_bytes(3000, 5);
  Bytes destination(3000);
  for (int i = 0; i < 3; i++) submit({source.data(), destination.data() + 1000 * i, 1000});
  engine().drain(kNever);
  EXPECT_EQ(engine().counters().get(Counter::pieces), 3U);
  EXPECT_EQ(engine().counters().get(Counter::bytes), 3000U);
  EXPECT_EQ(engine().counters().get(Counter::failed), 0U);
  EXPECT_EQ(engine().counters().get(Counter::disabled), 0U);
  EXPECT_STREQ(engine().disabled_reason(), "");
}

// Any interleaving of calls. Each place of the destination has guards, and is reused when it is free.
TEST_P(Engines, equal_memcpy_whatever_the_order_of_calls) {
  constexpr std::size_t kPlaces = 16, kPlace = 20000, kLongest = 19000;
  constexpr std::byte kGuard{0x5a};
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE(seed);
    subject_ = GetParam().make();
    Random random(seed);
    const Bytes source = random_bytes(1 << 17, seed);
    Bytes destination(kPlaces * kPlace, kGuard), expected = destination;
    std::deque<std::pair<Ticket, std::size_t>> held;  // ticket, place
    std::vector<bool> taken(kPlaces);
    const auto release = [&] {
      while (!held.empty() && held.front().first <= engine().completed()) {
        const std::size_t at = held.front().second * kPlace;
        ASSERT_EQ(std::memcmp(destination.data() + at, expected.data() + at, kPlace), 0)
            << held.front().first;
        taken[held.front().second] = false;
        held.pop_front();
      }
    };
    for (int step = 0; step < 200; step++) {
      const std::size_t place = random.below(kPlaces);
      const std::uint64_t what = random.below(10);
      if (what < 7 && !taken[place]) {
        const std::size_t bytes = random.chance(0.2) ? random.below(10) : random.below(kLongest);
        const std::size_t from = random.below(source.size() - bytes), in = random.below(kPlace - bytes);
        const Piece piece{source.data() + from, destination.data() + place * kPlace + in, bytes,
                          random.chance(0.5)};
        const Submission submission = engine().submit(piece);
        if (submission.answer == Answer::accepted) {
          std::memcpy(expected.data() + place * kPlace + in, piece.source, bytes);
          taken[place] = true;
          held.emplace_back(submission.ticket, place);
        }
      } else if (what < 9) {
        engine().poll(static_cast<std::uint32_t>(random.below(8)));
      } else {
        engine().drain(random.chance(0.5) ? kNever : 0);
      }
      release();
    }
    EXPECT_TRUE(engine().drain(kNever));
    release();
    EXPECT_TRUE(held.empty());
    EXPECT_EQ(destination, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(all, Engines, ::testing::ValuesIn(subject_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace omx::copy

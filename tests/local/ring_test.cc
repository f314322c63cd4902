// SPDX-License-Identifier: BSD-3-Clause
// The ring between two processes: order, wrap-around, full and empty, sleeping readers, hostile writers.
#include "local/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"

namespace omx::local {
namespace {

constexpr std::size_t kBytes = 8192;

class Ring : public testing::Test {
 protected:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{4096}); }
  };
  Ring() {
    std::memset(memory_.get(), 0, ring_memory(kBytes));
    writer = RingWriter(memory_.get(), kBytes);
    reader = RingReader(memory_.get(), kBytes);
  }
  // Writes a record in up to three pieces.
  bool put(std::uint64_t seed, std::size_t length, std::size_t least = 0) {
    std::vector<std::byte> data(length);
    random_fill(data, seed);
    const iovec pieces[] = {{data.data(), length / 3},
                            {data.data() + length / 3, length / 2 - length / 3},
                            {data.data() + length / 2, length - length / 2}};
    return writer.put(Kind::frame, pieces, least);
  }
  void expect_front(std::uint64_t seed, std::size_t length) {
    const Record record = reader.front();
    ASSERT_EQ(record.kind, Kind::frame);
    ASSERT_EQ(record.bytes.size(), length);
    std::vector<std::byte> data(length);
    random_fill(data, seed);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), record.bytes.begin()));
    reader.pop();
  }

  std::unique_ptr<std::byte, Free> memory_{
      static_cast<std::byte*>(::operator new (ring_memory(kBytes), std::align_val_t{4096}))};
  RingWriter writer;
  RingReader reader;
};

TEST_F(Ring, empty) {
  EXPECT_FALSE(reader.pending());
  EXPECT_EQ(reader.front().kind, Kind::none);
}

TEST_F(Ring, records__of_every_length_in_order_through_many_laps) {
  for (std::size_t length = 0; length <= RingWriter::longest(kBytes); length++) {
    ASSERT_TRUE(put(length, length)) << length;
    EXPECT_TRUE(reader.pending());
    expect_front(length, length);
    EXPECT_FALSE(reader.pending());
    reader.publish();
  }
}

TEST_F(Ring, padding__short_records_are_filled_with_zeros) {
  ASSERT_TRUE(put(1, 10, 60));
  const Record record = reader.front();
  ASSERT_EQ(record.bytes.size(), 60U);
  for (std::size_t i = 10; i < 60; i++) EXPECT_EQ(record.bytes[i], std::byte{0});
}

TEST_F(Ring, full__takes_nothing_until_the_reader_says_what_it_has_read) {
  std::uint64_t written = 0, read = 0;
  Random random(5);
  const auto length = [](std::uint64_t seed) { return seed * 37 % 700; };
  for (int round = 0; round < 500; round++) {
    while (put(written, length(written))) written++;
    EXPECT_GE(written - read, 9U);
    for (std::uint64_t n = 1 + random.below(written - read); n > 0; n--, read++)
      expect_front(read, length(read));
    reader.publish();
  }
}

TEST_F(Ring, sleep__the_writer_wakes_once) {
  EXPECT_FALSE(writer.must_wake());
  EXPECT_TRUE(reader.fall_asleep());
  ASSERT_TRUE(put(1, 10));
  EXPECT_TRUE(writer.must_wake());
  EXPECT_FALSE(writer.must_wake());
  EXPECT_FALSE(reader.fall_asleep()) << "there is something to read";
  ASSERT_TRUE(put(2, 10));
  EXPECT_FALSE(writer.must_wake());
}

TEST_F(Ring, broken__lengths_beyond_the_ring_are_not_believed) {
  for (const std::uint32_t word : {0x01FFFFFFU, 0x01000000U + 4000, 0x02FFFFFFU}) {
    std::memset(memory_.get(), 0, ring_memory(kBytes));
    reader = RingReader(memory_.get(), kBytes);
    std::memcpy(memory_.get() + kRecordsAt, &word, sizeof word);
    EXPECT_EQ(reader.front().kind, Kind::none) << std::hex << word;
    EXPECT_TRUE(reader.broken());
  }
}

TEST_F(Ring, broken__a_ring_that_only_goes_round_ends) {
  const std::uint32_t again = 0x7F000000;
  std::memcpy(memory_.get() + kRecordsAt, &again, sizeof again);
  EXPECT_EQ(reader.front().kind, Kind::none);
  EXPECT_TRUE(reader.broken());
}

TEST_F(Ring, threads__a_writer_and_a_reader) {
  constexpr std::uint64_t kCount = 50'000;
  std::atomic<bool> stop{false};
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kCount; i++)
      while (!put(i, i * 13 % 500) && !stop) std::this_thread::yield();
  });
  for (std::uint64_t i = 0; i < kCount && !HasFatalFailure(); i++) {
    // pending() would not do. A writer that was interrupted at the end of the ring has said only that it
    // goes on at the start.
    while (reader.front().kind == Kind::none && !reader.broken()) std::this_thread::yield();
    expect_front(i, i * 13 % 500);
    reader.publish();
  }
  stop = true;
  producer.join();
}

}  // namespace
}  // namespace omx::local

// SPDX-License-Identifier: BSD-3-Clause
// Reads, writes and atomic operations on registered memory of the other end.
#include <cstring>
#include <numeric>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x;  // context

class Memory : public FabricTest {
 protected:
  void SetUp() override {
    FabricTest::SetUp();
    if (IsSkipped()) return;
    open();
  }
  void TearDown() override {
    if (region) {
      EXPECT_EQ(fi_close(&region->fid), 0);
    }
    FabricTest::TearDown();
  }
  void offer(Bytes& memory, std::uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE) {
    ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), access, 0, 42, 0, &region, nullptr), 0);
    EXPECT_EQ(fi_mr_key(region), 42U);
  }
  Event done() { return ended(a, &x); }
  fid_mr* region = nullptr;
};

TEST_F(Memory, writes_and_reads_of_every_size) {
  Bytes memory(3'000'000);
  offer(memory);
  for (const std::size_t size : {0, 1, 100, 4096, 4097, 32'768, 100'000, 2'999'000}) {
    const Bytes out = pattern(size, static_cast<unsigned>(size));
    EXPECT_EQ(fi_write(a.ep, out.data(), size, nullptr, a_to_b, 1000, 42, &x), 0);
    EXPECT_EQ(done().good.flags, FI_RMA | FI_WRITE);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), memory.begin() + 1000));
    Bytes in(size);
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, a_to_b, 1000, 42, &x), 0);
    EXPECT_EQ(done().good.flags, FI_RMA | FI_READ);
    EXPECT_EQ(in, out);
  }
}

TEST_F(Memory, pieces_on_both_sides) {
  Bytes memory(100'000);
  offer(memory);
  const Bytes out = pattern(50'000, 1);
  const iovec from[] = {{const_cast<std::byte*>(out.data()), 20'000},
                        {const_cast<std::byte*>(out.data()) + 20'000, 30'000}};
  const fi_rma_iov to[] = {{0, 10'000, 42}, {50'000, 40'000, 42}};
  fi_msg_rma message{};
  message.msg_iov = from;
  message.iov_count = 2;
  message.addr = a_to_b;
  message.rma_iov = to;
  message.rma_iov_count = 2;
  message.context = &x;
  EXPECT_EQ(fi_writemsg(a.ep, &message, FI_DELIVERY_COMPLETE), 0);
  EXPECT_FALSE(done().failed);
  EXPECT_EQ(std::memcmp(memory.data(), out.data(), 10'000), 0);
  EXPECT_EQ(std::memcmp(memory.data() + 50'000, out.data() + 10'000, 40'000), 0);
}

TEST_F(Memory, what_is_not_allowed_fails_and_touches_nothing) {
  Bytes memory(10'000), before(10'000);
  offer(memory, FI_REMOTE_READ);
  for (const std::size_t size : {std::size_t{10}, std::size_t{8000}}) {
    const Bytes out = pattern(size, 1);
    Bytes in(size);
    const auto expect_refused = [&] {
      const Event got = done();
      ASSERT_TRUE(got.failed);
      EXPECT_EQ(got.error.err, FI_EACCES);
    };
    EXPECT_EQ(fi_write(a.ep, out.data(), size, nullptr, a_to_b, 0, 42, &x), 0);  // read only
    expect_refused();
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, a_to_b, 0, 43, &x), 0);  // no such key
    expect_refused();
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, a_to_b, 9'995, 42, &x), 0);  // beyond the end
    expect_refused();
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, a_to_b, ~std::uint64_t{0} - 3, 42, &x), 0);
    expect_refused();
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, a_to_b, 0, 42, &x), 0);
    EXPECT_FALSE(done().failed);
  }
  EXPECT_EQ(memory, before);
}

TEST_F(Memory, injected_writes_and_remote_data) {
  Bytes memory(200, std::byte{0xEE});
  offer(memory);
  Bytes out = pattern(100, 1);
  EXPECT_EQ(fi_inject_write(a.ep, out.data(), 100, a_to_b, 0, 42), 0);
  const Bytes sent = out;
  out.assign(100, std::byte{0});
  // This write follows the first one, and goes to another place.
  EXPECT_EQ(fi_writedata(a.ep, out.data(), 100, nullptr, 4711, a_to_b, 100, 42, &x), 0);
  const Event got = next(b);
  EXPECT_EQ(got.good.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
  EXPECT_EQ(got.good.data, 4711U);
  EXPECT_FALSE(done().failed);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), memory.begin()));
  EXPECT_TRUE(std::equal(out.begin(), out.end(), memory.begin() + 100));
}

TEST_F(Memory, of_oneself) {
  Bytes memory(100'000);
  fid_mr* own = nullptr;
  ASSERT_EQ(fi_mr_reg(a.domain, memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &own,
                      nullptr),
            0);
  const fi_addr_t me = a.learn(a);
  for (const std::size_t size : {std::size_t{100}, std::size_t{90'000}}) {
    const Bytes out = pattern(size, 1);
    Bytes in(size);
    EXPECT_EQ(fi_write(a.ep, out.data(), size, nullptr, me, 5, 1, &x), 0);
    EXPECT_FALSE(done().failed);
    EXPECT_EQ(fi_read(a.ep, in.data(), size, nullptr, me, 5, 1, &x), 0);
    EXPECT_FALSE(done().failed);
    EXPECT_EQ(in, out);
  }
  EXPECT_EQ(fi_close(&own->fid), 0);
}

TEST_F(Memory, keys_are_unique_and_may_be_used_again) {
  Bytes memory(100);
  offer(memory);
  fid_mr* second = nullptr;
  EXPECT_EQ(fi_mr_reg(b.domain, memory.data(), 100, FI_REMOTE_READ, 0, 42, 0, &second, nullptr), -FI_ENOKEY);
  EXPECT_EQ(fi_close(&region->fid), 0);
  region = nullptr;
  offer(memory);
}

TEST_F(Memory, a_peer_that_dies_fails_what_waits_for_it) {
  Bytes memory(1000);
  Bytes in(100);
  offer(memory);
  EXPECT_EQ(fi_read(a.ep, in.data(), 100, nullptr, a_to_b, 0, 42, &x), 0);
  EXPECT_FALSE(done().failed);
  EXPECT_EQ(fi_close(&region->fid), 0);
  region = nullptr;
  b.close();
  // The call itself fails if the end of the peer is known already.
  const ssize_t begun = fi_read(a.ep, in.data(), 100, nullptr, a_to_b, 0, 42, &x);
  if (begun != -FI_ECONNRESET) {
    EXPECT_EQ(begun, 0);
    EXPECT_TRUE(done().failed);
  }
}

class Atomic : public Memory {};

TEST_F(Atomic, sum_fetch_and_compare) {
  Bytes memory(64);
  offer(memory);
  auto* values = reinterpret_cast<std::int64_t*>(memory.data());
  std::iota(values, values + 8, 10);
  const std::int64_t add[4] = {1, 2, 3, 4};
  EXPECT_EQ(fi_atomic(a.ep, add, 4, nullptr, a_to_b, 8, 42, FI_INT64, FI_SUM, &x), 0);
  EXPECT_EQ(done().good.flags, FI_ATOMIC | FI_WRITE);
  EXPECT_THAT(std::vector<std::int64_t>(values, values + 8),
              testing::ElementsAre(10, 12, 14, 16, 18, 15, 16, 17));
  std::int64_t before[2] = {};
  EXPECT_EQ(fi_fetch_atomic(a.ep, add, 2, nullptr, before, nullptr, a_to_b, 0, 42, FI_INT64, FI_PROD, &x), 0);
  EXPECT_EQ(done().good.flags, FI_ATOMIC | FI_READ);
  EXPECT_EQ(before[1], 12);
  EXPECT_EQ(values[1], 24);
  const std::int64_t wanted = 24, other = 1;
  EXPECT_EQ(fi_compare_atomic(a.ep, &other, 1, nullptr, &wanted, nullptr, before, nullptr, a_to_b, 8, 42,
                              FI_INT64, FI_CSWAP, &x),
            0);
  EXPECT_FALSE(done().failed);
  EXPECT_EQ(before[0], 24);
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(fi_compare_atomic(a.ep, &other, 1, nullptr, &wanted, nullptr, before, nullptr, a_to_b, 16, 42,
                              FI_INT64, FI_CSWAP, &x),
            0);
  EXPECT_FALSE(done().failed);
  EXPECT_EQ(values[2], 14);  // differed from what it was compared with
  EXPECT_EQ(fi_fetch_atomic(a.ep, nullptr, 2, nullptr, before, nullptr, a_to_b, 0, 42, FI_INT64,
                            FI_ATOMIC_READ, &x),
            0);
  EXPECT_FALSE(done().failed);
  EXPECT_EQ(before[1], 1);
}

// Runs each operation on one value of each type, and compares the result with that of C++.
TEST_F(Atomic, every_operation_of_every_type_that_is_said_to_be_valid) {
  Bytes memory(32);
  offer(memory);
  int valid = 0;
  for (int type = 0; type < FI_DATATYPE_LAST; type++) {
    for (int op = 0; op < FI_ATOMIC_OP_LAST; op++) {
      std::size_t count = 0;
      const auto t = static_cast<fi_datatype>(type);
      const auto o = static_cast<fi_op>(op);
      Bytes operand(32), compare(32), result(32);
      if (fi_atomicvalid(a.ep, t, o, &count) == 0) {
        valid++;
        EXPECT_GT(count, 0U);
        EXPECT_EQ(fi_atomic(a.ep, operand.data(), 1, nullptr, a_to_b, 0, 42, t, o, &x), 0);
        EXPECT_FALSE(done().failed);
      } else {
        EXPECT_EQ(fi_atomic(a.ep, operand.data(), 1, nullptr, a_to_b, 0, 42, t, o, &x), -FI_EOPNOTSUPP);
      }
      if (fi_compare_atomicvalid(a.ep, t, o, &count) == 0) {
        valid++;
        EXPECT_EQ(fi_compare_atomic(a.ep, operand.data(), 1, nullptr, compare.data(), nullptr, result.data(),
                                    nullptr, a_to_b, 0, 42, t, o, &x),
                  0);
        EXPECT_FALSE(done().failed);
      }
    }
  }
  EXPECT_GT(valid, 150);
}

template <class T>
class AtomicMath : public Memory {
 protected:
  static constexpr fi_datatype kType = std::is_same_v<T, std::int8_t>     ? FI_INT8
                                       : std::is_same_v<T, std::uint16_t> ? FI_UINT16
                                       : std::is_same_v<T, std::uint64_t> ? FI_UINT64
                                                                          : FI_DOUBLE;
  T apply(fi_op op, T memory_value, T operand) {
    std::memcpy(cell.data(), &memory_value, sizeof(T));
    EXPECT_EQ(fi_atomic(a.ep, &operand, 1, nullptr, a_to_b, 0, 42, kType, op, &x), 0);
    EXPECT_FALSE(done().failed);
    T after;
    std::memcpy(&after, cell.data(), sizeof(T));
    return after;
  }
  Bytes cell = Bytes(16);
};
using MathTypes = testing::Types<std::int8_t, std::uint16_t, std::uint64_t, double>;
TYPED_TEST_SUITE(AtomicMath, MathTypes);

TYPED_TEST(AtomicMath, agrees_with_the_language) {
  using T = TypeParam;
  this->offer(this->cell);
  const T v = static_cast<T>(100), w = static_cast<T>(77);
  EXPECT_EQ(this->apply(FI_SUM, v, w), static_cast<T>(v + w));
  EXPECT_EQ(this->apply(FI_PROD, v, w), static_cast<T>(v * w));
  EXPECT_EQ(this->apply(FI_MIN, v, w), w);
  EXPECT_EQ(this->apply(FI_MAX, w, v), v);
  EXPECT_EQ(this->apply(FI_LAND, v, T{}), T{});
  EXPECT_EQ(this->apply(FI_LOR, v, T{}), T{1});
  EXPECT_EQ(this->apply(FI_LXOR, v, w), T{});
  EXPECT_EQ(this->apply(FI_ATOMIC_WRITE, v, w), w);
  if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ(this->apply(FI_BOR, v, w), static_cast<T>(v | w));
    EXPECT_EQ(this->apply(FI_BAND, v, w), static_cast<T>(v & w));
    EXPECT_EQ(this->apply(FI_BXOR, v, w), static_cast<T>(v ^ w));
  }
}

}  // namespace
}  // namespace omx::fabric::test

// SPDX-License-Identifier: BSD-3-Clause
// Tests of how batches are laid out that leave without a copy.
#include "link/udp/zerocopy_pieces.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "link/packet/pieces.h"

namespace omx::link {
namespace {

class zerocopy_pieces : public testing::Test {
 protected:
  zerocopy_pieces() : page_(page_bytes()), memory_(40 * page_), passing_(320), kept_(page_) {
    for (std::size_t i = 0; i < memory_.size(); i++) memory_[i] = static_cast<std::byte>(i * 31 + i / 251);
    for (std::size_t i = 0; i < passing_.size(); i++) passing_[i] = static_cast<std::byte>(i + 1);
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    aligned_ = memory_.data() + (page_ - start % page_) % page_;
  }
  iovec data(std::size_t offset, std::size_t bytes) { return {aligned_ + offset, bytes}; }
  iovec header(std::size_t bytes = 32) { return {passing_.data(), bytes}; }
  iovec trailer() { return {passing_.data() + 316, 4}; }
  std::size_t lay_out(const std::vector<iovec>& pieces) {
    out_.assign(pieces.size(), iovec{});
    const std::size_t made = zerocopy_lay_out(pieces.data(), pieces.size(),
                                              {passing_.data(), passing_.size()}, kept_.data(), out_.data());
    out_.resize(made);
    if (made > 0) {
      EXPECT_EQ(whole(out_), whole(pieces)) << "the bytes stay the same";
    }
    std::size_t pages = 0;
    for (const iovec& piece : out_) {
      const bool kept = piece.iov_base >= kept_.data() && piece.iov_base < kept_.data() + page_;
      pages += kept ? 1 : pages_of(piece, page_);
      EXPECT_FALSE(piece.iov_base >= passing_.data() && piece.iov_base < passing_.data() + passing_.size());
    }
    EXPECT_LE(pages, kZerocopyPages);
    return made;
  }
  static std::vector<std::byte> whole(const std::vector<iovec>& pieces) {
    std::vector<std::byte> bytes(pieces_bytes(pieces.data(), pieces.size()));
    pieces_gather(pieces.data(), pieces.size(), bytes.data());
    return bytes;
  }

  std::size_t page_;
  std::vector<std::byte> memory_, passing_, kept_;
  std::byte* aligned_ = nullptr;
  std::vector<iovec> out_;
};

TEST_F(zerocopy_pieces, headers__are_copied_and_data_stay) {
  ASSERT_EQ(lay_out({header(), data(100, 5000)}), 2U);
  EXPECT_EQ(out_[0].iov_base, kept_.data());
  EXPECT_EQ(out_[1].iov_base, aligned_ + 100);
}

TEST_F(zerocopy_pieces, trailer__is_copied_behind_the_header) {
  ASSERT_EQ(lay_out({header(), data(0, 5000), trailer()}), 3U);
  EXPECT_EQ(out_[2].iov_base, kept_.data() + 32);
}

TEST_F(zerocopy_pieces, neighbours__become_one_piece) {
  ASSERT_EQ(lay_out({header(), trailer(), {nullptr, 0}, data(0, 5000)}), 2U);
  EXPECT_EQ(out_[0].iov_len, 36U);
}

TEST_F(zerocopy_pieces, pages__as_many_as_the_kernel_takes) {
  ASSERT_EQ(lay_out({header(), data(0, 16 * page_)}), 2U);
  EXPECT_EQ(out_[0].iov_len, 32U);
  ASSERT_EQ(lay_out({header(), data(100, 16 * page_ - 100)}), 2U);
  EXPECT_EQ(out_[0].iov_len, 32U);
}

// The largest frame begins anywhere in a page, and lies in 17 pages then.
TEST_F(zerocopy_pieces, pages__one_too_many_moves_the_beginning_to_the_header) {
  ASSERT_EQ(lay_out({header(), data(100, 16 * page_ - 64)}), 2U);
  EXPECT_EQ(out_[0].iov_len, 32 + page_ - 100);
  EXPECT_EQ(out_[1].iov_base, aligned_ + page_);
  for (std::size_t offset = 0; offset < page_; offset += 8)
    ASSERT_EQ(lay_out({header(), data(offset, 16 * page_ - 64)}), 2U) << offset;
}

TEST_F(zerocopy_pieces, pages__too_many_are_refused) {
  EXPECT_EQ(lay_out({header(), data(0, 18 * page_)}), 0U);
  EXPECT_EQ(lay_out({header(), data(0, 17 * page_)}), 0U) << "no room beside the header";
  std::vector<iovec> many;
  for (std::size_t i = 0; i < 9; i++) {
    many.push_back(header());
    many.push_back(data(2 * i * page_, 100));
  }
  EXPECT_EQ(lay_out(many), 0U) << "headers between, and no piece that reaches the next page";
  many.pop_back();
  EXPECT_EQ(lay_out(many), 17U);
}

TEST_F(zerocopy_pieces, pages__without_a_header_nothing_is_moved) {
  EXPECT_EQ(lay_out({data(100, 17 * page_)}), 0U);
  EXPECT_EQ(lay_out({data(0, 17 * page_)}), 1U);
}

}  // namespace
}  // namespace omx::link

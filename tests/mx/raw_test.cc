// SPDX-License-Identifier: BSD-3-Clause
// Raw frames (docs/spec/mx-api.md 4.8).
#include <net/if.h>
#include <poll.h>

#include <cstring>

#include "mx_internals/mx__driver_interface.h"
#include "mx_pair.h"
#include "mx_raw.h"

namespace omx::mx_tests {
namespace {

constexpr std::uint8_t kRawType = 1;

class Raw : public Initialised {
 protected:
  void SetUp() override {
    Initialised::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(mx_raw_open_endpoint(0, nullptr, 0, &a_), MX_SUCCESS);
    ASSERT_EQ(mx_raw_open_endpoint(1, nullptr, 0, &b_), MX_SUCCESS);
  }
  void TearDown() override {
    if (a_) mx_raw_close_endpoint(a_);
    if (b_) mx_raw_close_endpoint(b_);
    Initialised::TearDown();
  }
  link::Bytes frame(std::size_t size, std::uint8_t type = kRawType) {
    std::uint64_t from = 0, to = 0;
    EXPECT_EQ(mx_board_number_to_nic_id(0, &from), MX_SUCCESS);
    EXPECT_EQ(mx_board_number_to_nic_id(1, &to), MX_SUCCESS);
    return link::make_frame(to, from, size, type);
  }
  mx_return_t send(link::Bytes& bytes, void* context = nullptr) {
    return mx_raw_send(a_, 0, nullptr, 0, bytes.data(), static_cast<std::uint32_t>(bytes.size()), context);
  }

  mx_raw_endpoint_t a_ = nullptr, b_ = nullptr;
  std::uint32_t port_ = 9, length_ = 0;
  void* context_ = nullptr;
  mx_raw_status_t status_ = MX_RAW_NO_EVENT;
};

TEST_F(Raw, frames_arrive_whole) {
  for (const std::size_t size : {64, 320, 321, 1000}) {
    link::Bytes out = frame(size), in(2000);
    EXPECT_EQ(send(out, &out), MX_SUCCESS);
    EXPECT_EQ(mx_raw_next_event(a_, &port_, &context_, nullptr, nullptr, 0, &status_), MX_SUCCESS);
    EXPECT_EQ(status_, MX_RAW_SEND_COMPLETE);
    EXPECT_EQ(context_, &out);
    length_ = static_cast<std::uint32_t>(in.size());
    EXPECT_EQ(mx_raw_next_event(b_, &port_, &context_, in.data(), &length_, kLongMs, &status_), MX_SUCCESS);
    ASSERT_EQ(status_, MX_RAW_RECV_COMPLETE);
    EXPECT_EQ(port_, 0U);
    ASSERT_EQ(length_, size);
    in.resize(size);
    EXPECT_EQ(in, out);
  }
}

TEST_F(Raw, room_is_respected) {
  link::Bytes out = frame(200), in(100);
  EXPECT_EQ(send(out), MX_SUCCESS);
  length_ = 40;
  EXPECT_EQ(mx_raw_next_event(b_, nullptr, nullptr, in.data(), &length_, kLongMs, &status_), MX_SUCCESS);
  EXPECT_EQ(length_, 40U);
  EXPECT_EQ(in[39], out[39]);
  EXPECT_EQ(in[40], std::byte{0});
}

TEST_F(Raw, other_frames_are_not_shown) {
  link::Bytes tiny = frame(64, 37), in(100);
  EXPECT_EQ(send(tiny), MX_SUCCESS);
  length_ = 100;
  EXPECT_EQ(mx_raw_next_event(b_, nullptr, nullptr, in.data(), &length_, 50, &status_), MX_SUCCESS);
  EXPECT_EQ(status_, MX_RAW_NO_EVENT);
}

TEST_F(Raw, handle_can_be_polled) {
  pollfd wait{mx_raw_handle(b_), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  link::Bytes out = frame(64);
  EXPECT_EQ(send(out), MX_SUCCESS);
  EXPECT_EQ(::poll(&wait, 1, static_cast<int>(kLongMs)), 1);
  EXPECT_EQ(mx_raw_next_event(b_, nullptr, nullptr, nullptr, nullptr, 0, &status_), MX_SUCCESS);
  EXPECT_EQ(status_, MX_RAW_RECV_COMPLETE);
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  // The event of the send returns the sender's buffer.
  pollfd sent{mx_raw_handle(a_), POLLIN, 0};
  EXPECT_EQ(::poll(&sent, 1, 0), 1);
  EXPECT_EQ(mx_raw_next_event(a_, nullptr, nullptr, nullptr, nullptr, 0, &status_), MX_SUCCESS);
  EXPECT_EQ(::poll(&sent, 1, 0), 0);
}

TEST_F(Raw, one_opener_per_board) {
  mx_raw_endpoint_t other = nullptr;
  EXPECT_EQ(mx_raw_open_endpoint(0, nullptr, 0, &other), MX_BUSY);
  EXPECT_EQ(mx_raw_open_endpoint(7, nullptr, 0, &other), MX_BOARD_UNKNOWN);
  EXPECT_EQ(mx_raw_close_endpoint(a_), MX_SUCCESS);
  EXPECT_EQ(mx_raw_open_endpoint(0, nullptr, 0, &a_), MX_SUCCESS);
  // Raw endpoints do not block ordinary ones.
  EXPECT_TRUE(open(0));
}

TEST_F(Raw, sizes_that_cannot_be_sent) {
  link::Bytes out = frame(2000);
  EXPECT_EQ(mx_raw_send(a_, 0, nullptr, 0, out.data(), 13, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_raw_send(a_, 0, nullptr, 0, out.data(), 1515, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_raw_send(a_, 0, nullptr, 0, nullptr, 64, nullptr), MX_BAD_BAD_BAD);
}

TEST_F(Raw, interface_that_goes_away) {
  link::ip("link del v0");
  EXPECT_EQ(mx_raw_next_event(a_, nullptr, nullptr, nullptr, nullptr, 100, &status_), MX_BAD_ENDPOINT);
}

TEST_F(Raw, interface_that_goes_away_while_another_gets_its_index) {
  const std::string index = std::to_string(::if_nametoindex("v0"));
  link::ip("link del v0");
  link::ip("link add unknown index " + index + " type veth peer name v1");
  EXPECT_EQ(mx_raw_next_event(a_, nullptr, nullptr, nullptr, nullptr, 100, &status_), MX_BAD_ENDPOINT);
}

TEST_F(Raw, names_and_map) {
  char name[] = "elsewhere:0", found[MX_MAX_HOSTNAME_LEN];
  std::uint64_t nic = 0;
  EXPECT_EQ(mx_raw_set_peer_name(a_, 0x020000000077, name), MX_SUCCESS);
  EXPECT_EQ(mx_hostname_to_nic_id(name, &nic), MX_SUCCESS);
  EXPECT_EQ(nic, 0x020000000077U);
  EXPECT_EQ(mx_raw_set_route(a_, 0x020000000078, nullptr, 0, 0, 0, MX_HOST_MX), MX_SUCCESS);
  EXPECT_EQ(mx_raw_set_route_mag(a_, 0x020000000079, nullptr, 0, 0, 0, MX_HOST_MX, 0), MX_SUCCESS);
  char own[] = "renamed:0";
  EXPECT_EQ(mx_raw_set_hostname(a_, own), MX_SUCCESS);
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_SUCCESS);
  EXPECT_EQ(mx_nic_id_to_hostname(nic, found), MX_SUCCESS);
  EXPECT_STREQ(found, own);

  EXPECT_EQ(mx_raw_set_map_version(a_, 0, 0x010203040506, 7, 2, 1), MX_SUCCESS);
  mx_mapper_state_t state;
  EXPECT_EQ(mx__get_mapper_state(0, &state), MX_SUCCESS);
  EXPECT_EQ(state.map_version, 7U);
  EXPECT_EQ(state.mapper_mac[0], 1);
  EXPECT_EQ(state.mapper_mac[5], 6);
  EXPECT_EQ(mx_raw_set_map_version(a_, 0, 0, 0, 0, 0), MX_SUCCESS);
}

TEST_F(Raw, facts_and_nothings) {
  std::uint32_t ports = 0;
  mx_line_speed_t speed = MX_SPEED_2G;
  EXPECT_EQ(mx_raw_num_ports(a_, &ports), MX_SUCCESS);
  EXPECT_EQ(ports, 1U);
  EXPECT_EQ(mx_raw_line_speed(a_, &speed), MX_SUCCESS);
  EXPECT_EQ(speed, MX_SPEED_10G);
  EXPECT_EQ(mx_raw_set_route_begin(a_), MX_SUCCESS);
  EXPECT_EQ(mx_raw_set_route_end(a_), MX_SUCCESS);
  EXPECT_EQ(mx_raw_clear_routes(a_, 1, 0), MX_SUCCESS);
  EXPECT_EQ(mx_raw_set_nic_reply_info(a_, nullptr, 0), MX_SUCCESS);
  EXPECT_EQ(mx_raw_remove_peer(a_, 1), MX_FAILURE);
}

}  // namespace
}  // namespace omx::mx_tests

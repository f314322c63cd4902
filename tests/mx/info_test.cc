// SPDX-License-Identifier: BSD-3-Clause
// mx_get_info (docs/spec/mx-api.md 6, docs/spec/mx-clients.md 26).
#include <cstring>

#include "mx_pair.h"
#include "open-mx.h"
#include "protocol/counters.h"

namespace omx::mx_tests {
namespace {

class Info : public Pair {
 protected:
  static std::uint32_t number(mx_get_info_key_t key, mx_endpoint_t endpoint = nullptr,
                              const void* in = nullptr, std::uint32_t in_len = 0) {
    std::uint32_t value = 0xdeadbeef;
    EXPECT_EQ(mx_get_info(endpoint, key, const_cast<void*>(in), in_len, &value, sizeof value), MX_SUCCESS)
        << key;
    return value;
  }
};

TEST_F(Info, numbers) {
  EXPECT_EQ(number(MX_NIC_COUNT), 2U);
  EXPECT_EQ(number(MX_MAX_NATIVE_ENDPOINTS), 256U);
  EXPECT_EQ(number(MX_NATIVE_REQUESTS), 0xffffffffU);
  EXPECT_EQ(number(MX_COUNTERS_COUNT), protocol::kCounterCount);
  EXPECT_EQ(number(MX_PORT_COUNT), 1U);
  EXPECT_EQ(number(MX_PIO_SEND_MAX), 128U);
  EXPECT_EQ(number(MX_COPY_SEND_MAX), 32768U);
  EXPECT_EQ(number(MX_COPY_SEND_MAX, a_), 32768U);
  EXPECT_EQ(number(MX_NET_TYPE), static_cast<std::uint32_t>(MX_NET_ETHER));
  const int board = 1;  // as Open MPI asks
  EXPECT_EQ(number(MX_LINE_SPEED, nullptr, &board, sizeof board),
            static_cast<std::uint32_t>(MX_SPEED_OPEN_MX));
  EXPECT_EQ(number(MX_NUMA_NODE, nullptr, &board, sizeof board), 0xffffffffU);  // a virtual cable has none
  EXPECT_EQ(number(MX_NUMA_NODE, a_), 0xffffffffU);
}

TEST_F(Info, nic_ids_end_with_zero) {
  std::uint64_t ids[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(mx_get_info(nullptr, MX_NIC_IDS, nullptr, 0, ids, sizeof ids - 1), MX_BAD_INFO_LENGTH);
  EXPECT_EQ(mx_get_info(nullptr, MX_NIC_IDS, nullptr, 0, ids, sizeof ids), MX_SUCCESS);
  EXPECT_EQ(ids[0], nic(a_));
  EXPECT_EQ(ids[1], nic(b_));
  EXPECT_EQ(ids[2], 0U);
}

TEST_F(Info, strings_are_cut) {
  const std::uint8_t board = 0;
  for (const mx_get_info_key_t key : {MX_PRODUCT_CODE, MX_PART_NUMBER, MX_SERIAL_NUMBER}) {
    char text[32];
    std::memset(text, 'x', sizeof text);
    EXPECT_EQ(mx_get_info(nullptr, key, const_cast<std::uint8_t*>(&board), 1, text, sizeof text), MX_SUCCESS);
    EXPECT_STREQ(text, "N/A (Open-MX)");
    std::memset(text, 'x', sizeof text);
    EXPECT_EQ(mx_get_info(nullptr, key, const_cast<std::uint8_t*>(&board), 1, text, 4), MX_SUCCESS);
    EXPECT_STREQ(text, "N/A");
    EXPECT_EQ(text[4], 'x');
    EXPECT_EQ(mx_get_info(nullptr, key, const_cast<std::uint8_t*>(&board), 1, text, 0), MX_BAD_INFO_LENGTH);
  }
}

TEST_F(Info, every_key_checks_its_output) {
  std::uint8_t board = 0;
  for (int key = MX_NIC_COUNT; key <= MX_LINE_SPEED; key++) {
    const auto k = static_cast<mx_get_info_key_t>(key);
    std::uint8_t nothing;
    EXPECT_EQ(mx_get_info(nullptr, k, &board, 1, nullptr, 100000), MX_BAD_INFO_VAL) << key;
    EXPECT_EQ(mx_get_info(nullptr, k, &board, 1, &nothing, 0), MX_BAD_INFO_LENGTH) << key;
  }
  EXPECT_EQ(mx_get_info(nullptr, static_cast<mx_get_info_key_t>(0), nullptr, 0, &board, 1), MX_BAD_INFO_KEY);
  EXPECT_EQ(mx_get_info(nullptr, static_cast<mx_get_info_key_t>(17), nullptr, 0, &board, 1), MX_BAD_INFO_KEY);
}

TEST_F(Info, boards_are_checked) {
  std::uint8_t board = 2;
  std::uint32_t value;
  EXPECT_EQ(mx_get_info(nullptr, MX_NUMA_NODE, &board, 1, &value, sizeof value), MX_BOARD_UNKNOWN);
  EXPECT_EQ(mx_get_info(nullptr, MX_NUMA_NODE, nullptr, 0, &value, sizeof value), MX_BAD_INFO_VAL);
  EXPECT_EQ(mx_get_info(nullptr, MX_COUNTERS_VALUES, nullptr, 0, &value, sizeof value), MX_BAD_INFO_VAL);
}

TEST_F(Info, counters) {
  const std::uint32_t count = number(MX_COUNTERS_COUNT);
  std::vector<char> labels(count * MX_MAX_STR_LEN, 'x');
  std::vector<std::uint32_t> values(count), all(count);
  const auto bytes = [](const auto& v) { return static_cast<std::uint32_t>(v.size() * sizeof v[0]); };
  EXPECT_EQ(mx_get_info(nullptr, MX_COUNTERS_LABELS, nullptr, 0, labels.data(), bytes(labels)), MX_SUCCESS);
  EXPECT_STREQ(labels.data(), "Send Tiny");
  for (std::uint32_t i = 0; i < count; i++)
    EXPECT_LT(std::strlen(&labels[std::size_t{i} * MX_MAX_STR_LEN]), std::size_t{MX_MAX_STR_LEN});

  for (int i = 0; i < 3; i++) send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(mx_get_info(a_, MX_COUNTERS_VALUES, nullptr, 0, values.data(), bytes(values)), MX_SUCCESS);
  EXPECT_GE(values[0], 3U);  // more if some frames were sent again
  const mx_endpoint_t second = open(0);
  send_forgotten(second, connect(second, b_), pattern(10), 1);
  std::uint8_t board = 0;
  EXPECT_EQ(mx_get_info(nullptr, MX_COUNTERS_VALUES, &board, 1, all.data(), bytes(all)), MX_SUCCESS);
  EXPECT_GT(all[0], values[0]);
}

TEST_F(Info, native_keys) {
  std::uint32_t value = 0;
  EXPECT_EQ(omx_get_info(nullptr, OMX_INFO_BOARD_COUNT, nullptr, 0, &value, sizeof value), OMX_SUCCESS);
  EXPECT_EQ(value, 2U);
  const auto endpoint = reinterpret_cast<omx_endpoint_t>(b_);
  char text[OMX_HOSTNAMELEN_MAX];
  EXPECT_EQ(omx_get_info(endpoint, OMX_INFO_BOARD_HOSTNAME, nullptr, 0, text, sizeof text), OMX_SUCCESS);
  EXPECT_STREQ(text, "host:1");
  EXPECT_EQ(omx_get_info(endpoint, OMX_INFO_BOARD_IFACENAME, nullptr, 0, text, sizeof text), OMX_SUCCESS);
  EXPECT_EQ(link::nic_of(text), nic(b_));
  const std::uint8_t first = 0;
  EXPECT_EQ(omx_get_info(nullptr, OMX_INFO_COUNTER_LABEL, &first, 1, text, sizeof text), OMX_SUCCESS);
  EXPECT_STREQ(text, "Send Tiny");
  const std::uint8_t beyond = 250;
  EXPECT_EQ(omx_get_info(nullptr, OMX_INFO_COUNTER_LABEL, &beyond, 1, text, sizeof text), OMX_BAD_INFO_VAL);
  EXPECT_EQ(omx_get_info(nullptr, static_cast<omx_info_key_t>(10), nullptr, 0, text, sizeof text),
            OMX_BAD_INFO_KEY);
}

}  // namespace
}  // namespace omx::mx_tests

// SPDX-License-Identifier: BSD-3-Clause
#include "mx/info_calls.h"
#include "wire/packets.h"

namespace omx::mx {

namespace {

// The text for what only Myricom's boards have (docs/spec/mx-api.md 6).
constexpr std::string_view kNotAvailable = "N/A (Open-MX)";

int mx_info(InfoQuery& query, mx_get_info_key_t key) {
  switch (key) {
    case MX_NIC_COUNT:
      return query.number(query.board_count());
    case MX_NIC_IDS:
      return query.nic_ids();
    case MX_MAX_NATIVE_ENDPOINTS:
      return query.number(query.settings().endpoints_max);
    case MX_NATIVE_REQUESTS:
      return query.number(0xffffffff);  // no limit
    case MX_COUNTERS_COUNT:
      return query.number(protocol::kCounterCount);
    case MX_COUNTERS_LABELS:
      return query.counter_labels();
    case MX_COUNTERS_VALUES:
      return query.counter_values();
    case MX_PRODUCT_CODE:
    case MX_PART_NUMBER:
    case MX_SERIAL_NUMBER:
      return query.text(kNotAvailable);
    case MX_PORT_COUNT:
      return query.number(1);
    case MX_PIO_SEND_MAX:
      return query.number(wire::kSmallMax);
    case MX_COPY_SEND_MAX:
      return query.number(query.copy_send_max());
    case MX_NUMA_NODE:
      return query.numa_node();
    case MX_NET_TYPE:
      return query.number(MX_NET_ETHER);
    case MX_LINE_SPEED:
      return query.number(query.settings().protocol.mode == wire::Mode::mxoe ? MX_SPEED_10G
                                                                             : MX_SPEED_OPEN_MX);
  }
  return query.bad_key(static_cast<int>(key));
}

}  // namespace

}  // namespace omx::mx

extern "C" mx_return_t mx_get_info(mx_endpoint_t ep, mx_get_info_key_t key, void* in_val, uint32_t in_len,
                                   void* out_val, uint32_t out_len) {
  using omx::mx::InfoQuery;
  return omx::mx::info_call<mx_return_t>(__func__, ep, in_val, in_len, out_val, out_len,
                                         [key](InfoQuery& query) { return omx::mx::mx_info(query, key); });
}

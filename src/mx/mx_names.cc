// SPDX-License-Identifier: BSD-3-Clause
#include "mx/names_calls.h"

using namespace omx::mx;
using omx::runtime::Process;

extern "C" {

mx_return_t mx_board_number_to_nic_id(uint32_t board_number, uint64_t* nic_id) {
  return library_call<mx_return_t>(
      __func__, [&](Call& call, Process& p) { return board_nic(call, p, board_number, nic_id); });
}

mx_return_t mx_nic_id_to_board_number(uint64_t nic_id, uint32_t* board_number) {
  return library_call<mx_return_t>(
      __func__, [&](Call& call, Process& p) { return nic_board(call, p, nic_id, board_number); });
}

mx_return_t mx_hostname_to_nic_id(char* hostname, uint64_t* nic_id) {
  return library_call<mx_return_t>(
      __func__, [&](Call& call, Process& p) { return name_nic(call, p, hostname, nic_id); });
}

mx_return_t mx_nic_id_to_hostname(uint64_t nic_id, char* hostname) {
  return library_call<mx_return_t>(
      __func__, [&](Call& call, Process& p) { return nic_name(call, p, nic_id, hostname); });
}

}  // extern "C"

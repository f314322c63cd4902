// SPDX-License-Identifier: BSD-3-Clause
// perf_stranger HOST: says hello to the server of `omx perf` there with a message that has no bytes.
#include <myriexpress.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { kKey = 0x6f6d7870, kTimeoutMs = 10000 };  // the key is that of omx perf
  mx_endpoint_t endpoint;
  mx_endpoint_addr_t server;
  mx_request_t request;
  mx_status_t status;
  uint64_t nic = 0;
  uint32_t done = 0;
  if (argc != 2) return 2;
  mx_init(); /* a failed call prints its error and exits */
  mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, 1, NULL, 0, &endpoint);
  mx_hostname_to_nic_id(argv[1], &nic);
  mx_connect(endpoint, nic, 0, kKey, kTimeoutMs, &server);
  mx_issend(endpoint, NULL, 0, server, 1ULL << 56, NULL, &request);
  mx_wait(endpoint, &request, kTimeoutMs, &status, &done);
  printf("%s\n", done && status.code == MX_STATUS_SUCCESS ? "heard" : "not heard");
  mx_close_endpoint(endpoint);
  mx_finalize();
  return 0;
}

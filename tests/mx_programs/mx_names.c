/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks that names and NIC ids are inverse, and mean the same on both hosts. The sender's argument names the
 * receiver. */
#include <unistd.h>

#include "pair.h"

enum { NAMES = 2 };

static uint64_t nic_of(const char* text) {
  char name[MX_MAX_HOSTNAME_LEN];
  uint64_t nic = 0;
  snprintf(name, sizeof name, "%s", text);
  CHECK_MX(mx_hostname_to_nic_id(name, &nic));
  return nic;
}

/* Writes the name as "host:board", whatever form was asked for. */
static void name_of(uint64_t nic, char* name) {
  CHECK_MX(mx_nic_id_to_hostname(nic, name));
  CHECK(strlen(name) > 2 && !strcmp(name + strlen(name) - 2, ":0"));
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  struct {
    char name[MX_MAX_HOSTNAME_LEN];
    uint64_t nic;
  } known[NAMES], theirs[NAMES];
  char self[MX_MAX_HOSTNAME_LEN], back[MX_MAX_HOSTNAME_LEN];
  uint64_t own = 0, other = 0;
  memset(known, 0, sizeof known);

  CHECK_MX(mx_board_number_to_nic_id(0, &own));
  CHECK_MX(mx_decompose_endpoint_addr(pair.other, &other, NULL));
  CHECK(own != other);
  CHECK(gethostname(self, sizeof self) == 0);
  name_of(own, back);
  CHECK(!strncmp(back, self, strlen(self)) && !strcmp(back + strlen(self), ":0"));
  CHECK(nic_of(self) == own && nic_of(back) == own && nic_of("localhost") == own);
  if (pair.is_sender) CHECK(nic_of(pair.other_name) == other);

  /* Puts the receiver's NIC first, so that both hosts have the same list. */
  known[pair.is_sender ? 0 : 1].nic = other;
  known[pair.is_sender ? 1 : 0].nic = own;
  for (int i = 0; i < NAMES; i++) {
    name_of(known[i].nic, known[i].name);
    CHECK(nic_of(known[i].name) == known[i].nic);
  }
  mx_request_t receive = pair_receive(&pair, theirs, sizeof theirs, 1);
  pair_finish(&pair, pair_send(&pair, known, sizeof known, 1));
  pair_finish(&pair, receive);
  CHECK(!memcmp(known, theirs, sizeof known));
  pair_close(&pair);
  return 0;
}

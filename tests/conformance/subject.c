// SPDX-License-Identifier: BSD-3-Clause
// The side under test: an MX program that executes lines from its standard input, and answers each with one
// line. It makes progress between lines. tests/conformance/subject.py is the other end of the pipe.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "myriexpress.h"

enum { kSlots = 64, kMargin = 64, kUntouched = 0xEE };

struct slot {
  mx_request_t request;
  unsigned char* data;
  uint32_t length;
  unsigned seed;
  int receives;
};

static mx_endpoint_t endpoint;
static mx_endpoint_addr_t address;  // destination of the next send
static mx_endpoint_addr_t source;   // of the last message received
static struct slot slots[kSlots];

static unsigned char pattern(uint32_t i, unsigned seed) {
  return (unsigned char)(i * 31U + (i >> 8) + seed * 7U);
}

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void answer_code(mx_return_t code) {
  if (code == MX_SUCCESS)
    printf("ok\n");
  else
    printf("error %d\n", (int)code);
}

static struct slot* slot_renew(unsigned number, uint32_t length, unsigned seed, int receives) {
  struct slot* const slot = &slots[number % kSlots];
  free(slot->data);
  *slot = (struct slot){.length = length, .seed = seed, .receives = receives};
  slot->data = malloc((size_t)length + kMargin);
  if (!slot->data) abort();
  if (receives)
    memset(slot->data, kUntouched, (size_t)length + kMargin);
  else
    for (uint32_t i = 0; i < length; i++) slot->data[i] = pattern(i, seed);
  return slot;
}

// Returns whether the delivered data are the pattern, and no byte behind them was written.
static const char* verdict(const struct slot* slot, uint32_t delivered) {
  if (!slot->receives) return "sent";
  for (uint32_t i = 0; i < delivered; i++)
    if (slot->data[i] != pattern(i, slot->seed)) return "wrong";
  for (uint32_t i = slot->length; i < slot->length + kMargin; i++)
    if (slot->data[i] != kUntouched) return "overrun";
  return "good";
}

static void finish(struct slot* slot, unsigned timeout_ms) {
  const uint64_t end = now_ms() + timeout_ms;
  mx_status_t status;
  uint32_t done = 0;
  memset(&status, 0, sizeof status);
  if (!slot->request) {
    printf("nothing\n");
    return;
  }
  do {
    if (mx_test(endpoint, &slot->request, &status, &done) != MX_SUCCESS) break;
  } while (!done && now_ms() < end);
  if (!done) {
    printf("pending\n");
    return;
  }
  if (slot->receives) source = status.source;
  if (!slot->data && status.code == MX_STATUS_SUCCESS) address = status.source;
  printf("done %d %llx %u %u %s\n", (int)status.code, (unsigned long long)status.match_info,
         status.msg_length, status.xfer_length, slot->data ? verdict(slot, status.xfer_length) : "connected");
}

static void open_endpoint(unsigned id, unsigned key) {
  uint64_t nic = 0;
  const mx_return_t code = mx_open_endpoint(0, id, key, NULL, 0, &endpoint);
  mx_board_number_to_nic_id(0, &nic);
  if (code == MX_SUCCESS)
    printf("opened %llx\n", (unsigned long long)nic);
  else
    answer_code(code);
}

static void close_endpoint(void) {
  const mx_return_t code = mx_close_endpoint(endpoint);
  endpoint = NULL;
  for (unsigned i = 0; i < kSlots; i++) {
    free(slots[i].data);
    slots[i] = (struct slot){0};
  }
  answer_code(code);
}

static void start_connect(unsigned number, uint64_t nic, unsigned id, unsigned key) {
  struct slot* const slot = &slots[number % kSlots];
  free(slot->data);
  *slot = (struct slot){0};
  answer_code(mx_iconnect(endpoint, nic, id, key, number, NULL, &slot->request));
}

static void start_send(unsigned number, uint64_t match, unsigned length, unsigned seed, int synchronous) {
  struct slot* const slot = slot_renew(number, length, seed, 0);
  mx_segment_t segment = {slot->data, length};
  answer_code(
      (synchronous ? mx_issend : mx_isend)(endpoint, &segment, 1, address, match, NULL, &slot->request));
}

static void start_receive(unsigned number, uint64_t match, uint64_t mask, unsigned room, unsigned seed) {
  struct slot* const slot = slot_renew(number, room, seed, 1);
  mx_segment_t segment = {slot->data, room};
  answer_code(mx_irecv(endpoint, &segment, 1, match, mask, NULL, &slot->request));
}

// Sends many short messages without completions. Number i has match information `match` + i.
static void burst(unsigned count, uint64_t match, unsigned length) {
  static unsigned char data[4096];
  mx_segment_t segment = {data, length};
  mx_return_t code = MX_SUCCESS;
  for (uint32_t i = 0; i < length; i++) data[i] = pattern(i, 0);
  for (unsigned i = 0; i < count && code == MX_SUCCESS; i++)
    code = mx_isend(endpoint, &segment, 1, address, match + i, NULL, NULL);
  answer_code(code);
}

static void probe(uint64_t match, uint64_t mask) {
  mx_status_t status;
  uint32_t found = 0;
  const mx_return_t code = mx_iprobe(endpoint, match, mask, &status, &found);
  if (code != MX_SUCCESS)
    answer_code(code);
  else if (found)
    printf("found %llx %u\n", (unsigned long long)status.match_info, status.msg_length);
  else
    printf("nothing\n");
}

static void host_name(uint64_t nic) {
  char name[MX_MAX_HOSTNAME_LEN] = "";
  const mx_return_t code = mx_nic_id_to_hostname(nic, name);
  if (code == MX_SUCCESS)
    printf("name %s\n", name);
  else
    answer_code(code);
}

static void host_nic(char* name) {
  uint64_t nic = 0;
  const mx_return_t code = mx_hostname_to_nic_id(name, &nic);
  if (code == MX_SUCCESS)
    printf("nic %llx\n", (unsigned long long)nic);
  else
    answer_code(code);
}

static int obey(const char* line) {
  unsigned a = 0, b = 0, c = 0;
  unsigned long long match = 0, mask = 0;
  char text[MX_MAX_HOSTNAME_LEN];
  if (sscanf(line, "open %u %u", &a, &b) == 2)
    open_endpoint(a, b);
  else if (sscanf(line, "connect %u %llx %u %u", &a, &match, &b, &c) == 4)
    start_connect(a, match, b, c);
  else if (sscanf(line, "send %u %llx %u %u", &a, &match, &b, &c) == 4)
    start_send(a, match, b, c, 0);
  else if (sscanf(line, "ssend %u %llx %u %u", &a, &match, &b, &c) == 4)
    start_send(a, match, b, c, 1);
  else if (sscanf(line, "recv %u %llx %llx %u %u", &a, &match, &mask, &b, &c) == 5)
    start_receive(a, match, mask, b, c);
  else if (sscanf(line, "wait %u %u", &a, &b) == 2)
    finish(&slots[a % kSlots], b);
  else if (sscanf(line, "burst %u %llx %u", &a, &match, &b) == 3 && b <= 4096)
    burst(a, match, b);
  else if (sscanf(line, "probe %llx %llx", &match, &mask) == 2)
    probe(match, mask);
  else if (sscanf(line, "name %llx", &match) == 1)
    host_name(match);
  else if (sscanf(line, "nic %79s", text) == 1)
    host_nic(text);
  else if (!strcmp(line, "answer"))  // the next sends go to the sender of the last message
    address = source, printf("ok\n");
  else if (!strcmp(line, "disconnect"))
    answer_code(mx_disconnect(endpoint, address));
  else if (!strcmp(line, "close"))
    close_endpoint();
  else if (!strcmp(line, "end"))
    return 0;
  else
    printf("unknown command: %s\n", line);
  return 1;
}

int main(void) {
  static char line[256];
  size_t held = 0;
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  setvbuf(stdout, NULL, _IOLBF, 0);
  mx_set_error_handler(MX_ERRORS_RETURN);
  const mx_return_t code = mx_init();
  if (code != MX_SUCCESS) {
    printf("mx_init: %s\n", mx_strerror(code));
    return 1;
  }
  printf("ready\n");
  for (;;) {
    if (poll(&input, 1, 1) == 1) {
      // Reads single bytes, because a line must not stay in a buffer that poll() does not see.
      if (held + 1 >= sizeof line || read(STDIN_FILENO, &line[held], 1) != 1) break;
      if (line[held] != '\n') {
        held++;
        continue;
      }
      line[held] = 0;
      held = 0;
      if (!obey(line)) break;
    }
    if (endpoint) mx_progress(endpoint);
  }
  mx_finalize();
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two hosts say hello over Open-MX. Without an argument the program waits for a sender, and answers it. With
 * the receiver's name ("h1", "h1:0") or NIC id ("02:00:00:00:00:01") it sends.
 *
 *   host1$ ./hello
 *   host2$ ./hello host1
 */
#include <myriexpress.h>

#include <stdio.h>
#include <stdlib.h>

enum {
  RECEIVER_ENDPOINT = 1,
  KEY = 0x4f4d58 /* a peer must know it to connect */
};

/* Three message classes: inside one frame, as a few frames into a buffer, fetched by the receiver. */
static const struct {
  const char* name;
  uint32_t length;
} kinds[] = {{"tiny", 24}, {"medium", 20000}, {"large", 4000000}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* How long to wait for the other side, in milliseconds. */
static uint32_t patience = MX_INFINITE;

static void fail(const char* what) {
  fprintf(stderr, "hello: %s\n", what);
  exit(1);
}

static void check(mx_return_t code, const char* what) {
  if (code == MX_SUCCESS) return;
  fprintf(stderr, "hello: %s: %s\n", what, mx_strerror(code));
  exit(1);
}

static unsigned char letter(uint32_t kind, uint32_t i) {
  return (unsigned char)(i * 31 + i / 257 + kind);
}

/* Waits until the request is done. Returns its status, which names the peer. */
static mx_status_t finish(mx_endpoint_t endpoint, mx_request_t* request) {
  mx_status_t status;
  uint32_t done = 0;
  check(mx_wait(endpoint, request, patience, &status, &done), "mx_wait");
  if (!done) fail("the other side did not answer in time");
  if (status.code != MX_STATUS_SUCCESS) fail(mx_strstatus(status.code));
  return status;
}

static void send_message(mx_endpoint_t endpoint, mx_endpoint_addr_t to, uint32_t kind,
                         unsigned char* buffer) {
  mx_segment_t segment = {buffer, kinds[kind].length};
  mx_request_t request;
  for (uint32_t i = 0; i < segment.segment_length; i++) buffer[i] = letter(kind, i);
  check(mx_isend(endpoint, &segment, 1, to, kind, NULL, &request), "mx_isend");
  finish(endpoint, &request);
  printf("sent a %s message of %u bytes\n", kinds[kind].name, segment.segment_length);
}

/* Receives a message, checks every byte, and returns its sender. */
static mx_endpoint_addr_t receive_message(mx_endpoint_t endpoint, uint32_t kind, unsigned char* buffer) {
  mx_segment_t segment = {buffer, kinds[kind].length};
  mx_request_t request;
  check(mx_irecv(endpoint, &segment, 1, kind, MX_MATCH_MASK_NONE, NULL, &request), "mx_irecv");
  mx_status_t status = finish(endpoint, &request);
  if (status.xfer_length != segment.segment_length) fail("a message of another length arrived");
  for (uint32_t i = 0; i < segment.segment_length; i++)
    if (buffer[i] != letter(kind, i)) fail("a wrong byte arrived");
  printf("received a %s message of %u bytes, all of them right\n", kinds[kind].name, status.xfer_length);
  return status.source;
}

static uint64_t nic_of(char* name) {
  unsigned b[6];
  uint64_t nic = 0;
  if (sscanf(name, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) == 6) {
    for (int i = 0; i < 6; i++) nic = nic << 8 | b[i];
    return nic;
  }
  check(mx_hostname_to_nic_id(name, &nic), name);
  return nic;
}

static void run_sender(mx_endpoint_t endpoint, char* receiver, unsigned char* buffer) {
  mx_endpoint_addr_t address;
  patience = 10000;
  check(mx_connect(endpoint, nic_of(receiver), RECEIVER_ENDPOINT, KEY, patience, &address), "mx_connect");
  printf("connected to %s\n", receiver);
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    send_message(endpoint, address, kind, buffer);
    receive_message(endpoint, kind, buffer);
  }
}

static void run_receiver(mx_endpoint_t endpoint, unsigned char* buffer) {
  mx_endpoint_addr_t own;
  uint64_t nic;
  uint32_t id;
  mx_get_endpoint_addr(endpoint, &own);
  mx_decompose_endpoint_addr(own, &nic, &id);
  printf("waiting on %02x:%02x:%02x:%02x:%02x:%02x\n", (unsigned)(nic >> 40) & 255,
         (unsigned)(nic >> 32) & 255, (unsigned)(nic >> 24) & 255, (unsigned)(nic >> 16) & 255,
         (unsigned)(nic >> 8) & 255, (unsigned)nic & 255);
  fflush(stdout);
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    mx_endpoint_addr_t sender = receive_message(endpoint, kind, buffer);
    send_message(endpoint, sender, kind, buffer); /* a sender's address needs no connect */
  }
}

int main(int argc, char** argv) {
  mx_endpoint_t endpoint;
  unsigned char* buffer = malloc(kinds[KINDS - 1].length);
  if (!buffer) fail("out of memory");

  mx_set_error_handler(MX_ERRORS_RETURN); /* errors come back as codes; the default is to exit */
  check(mx_init(), "mx_init");
  check(mx_open_endpoint(MX_ANY_NIC, argc > 1 ? MX_ANY_ENDPOINT : RECEIVER_ENDPOINT, KEY, NULL, 0, &endpoint),
        "mx_open_endpoint");
  if (argc > 1)
    run_sender(endpoint, argv[1], buffer);
  else
    run_receiver(endpoint, buffer);
  mx_close_endpoint(endpoint);
  mx_finalize();
  free(buffer);
  printf("done\n");
  return 0;
}

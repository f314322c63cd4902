/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the test programs: two processes that know each other, on two hosts or one. Without an argument a
 * program is the receiver, with the receiver's host name the sender, and with "self" both at once, on one
 * endpoint. Any mismatch ends the program with status 1. */
#ifndef PAIR_H
#define PAIR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mx_extensions.h"
#include "myriexpress.h"

enum { PAIR_TIMEOUT_MS = 20000, PAIR_KEY = 0x7e57 };
#define PAIR_MATCH_BARRIER 0xbabe000000000000ULL /* programs use lower match information */

#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) pair_fail(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_MX(call)                                  \
  do {                                                  \
    mx_return_t check_code = (call);                    \
    if (check_code != MX_SUCCESS) {                     \
      fprintf(stderr, "%s: ", mx_strerror(check_code)); \
      pair_fail(__FILE__, __LINE__, #call);             \
    }                                                   \
  } while (0)

struct pair {
  mx_endpoint_t endpoint;
  mx_endpoint_addr_t other;
  int is_sender;
  int is_receiver;  /* the program can be both, with "self" */
  char* other_name; /* the sender's argument, otherwise NULL */
};

void pair_fail(const char* file, int line, const char* what);
/* Initialises the library, opens an endpoint and connects both ways. */
struct pair pair_open(int argc, char** argv);
/* Initialises the library and opens an endpoint, without connecting. */
struct pair pair_start(int argc, char** argv);
/* Returns the address of the receiver's endpoint. Waits if the endpoint is not open yet. */
mx_endpoint_addr_t pair_connect(mx_endpoint_t endpoint, char* host);
/* Closes the endpoint without waiting for the other side. */
void pair_end(struct pair* pair);
/* Closes the endpoint when the other side has come here, too. */
void pair_close(struct pair* pair);
/* Returns when both sides have come here. */
void pair_barrier(struct pair* pair);

mx_request_t pair_send(struct pair* pair, void* data, uint32_t length, uint64_t match_info);
mx_request_t pair_receive(struct pair* pair, void* data, uint32_t length, uint64_t match_info);
/* Waits until the request is done, whatever its status. */
mx_status_t pair_wait(struct pair* pair, mx_request_t request);
/* Waits until the request is done. It must have succeeded. */
mx_status_t pair_finish(struct pair* pair, mx_request_t request);

/* Fills memory with a pattern that shows misplaced bytes. */
void pattern_fill(unsigned char* data, size_t length, unsigned seed);
void pattern_check(const unsigned char* data, size_t length, unsigned seed);
void* memory(size_t length);
/* Returns the next number of a sequence that is the same in every process. */
unsigned random_next(unsigned* state);

#endif /* PAIR_H */

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the test programs share: two processes, on two hosts or one, that know each other. Without an argument
 * a program is the receiver, with the receiver's host name the sender, and with "self" both at once, on one
 * endpoint. Any mismatch ends the program with status 1. */
#ifndef PAIR_H
#define PAIR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mx_extensions.h"
#include "myriexpress.h"

enum { PAIR_TIMEOUT_MS = 20000, PAIR_KEY = 0x7e57 };
#define PAIR_MATCH_BARRIER 0xbabe000000000000ULL /* programs use match information below it */

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
  int is_receiver;  /* both, to itself */
  char* other_name; /* the sender's argument, else NULL */
};

void pair_fail(const char* file, int line, const char* what);
/* Initialises, opens, connects both ways. */
struct pair pair_open(int argc, char** argv);
/* Initialises and opens; connects nobody. */
struct pair pair_start(int argc, char** argv);
/* The address of the receiver's endpoint, which may not be there yet. */
mx_endpoint_addr_t pair_connect(mx_endpoint_t endpoint, char* host);
/* Closes, without waiting for the other. */
void pair_end(struct pair* pair);
/* Closes, when the other has come here too. */
void pair_close(struct pair* pair);
/* Both come here before either goes on. */
void pair_barrier(struct pair* pair);

mx_request_t pair_send(struct pair* pair, void* data, uint32_t length, uint64_t match_info);
mx_request_t pair_receive(struct pair* pair, void* data, uint32_t length, uint64_t match_info);
/* Waits until the request is done; whatever its status. */
mx_status_t pair_wait(struct pair* pair, mx_request_t request);
/* The same, and it must have succeeded. */
mx_status_t pair_finish(struct pair* pair, mx_request_t request);

/* A pattern that shows misplaced bytes. */
void pattern_fill(unsigned char* data, size_t length, unsigned seed);
void pattern_check(const unsigned char* data, size_t length, unsigned seed);
void* memory(size_t length);
/* The same numbers in every process. */
unsigned random_next(unsigned* state);

#endif /* PAIR_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * A long and bad cable between two interfaces. Frames that come by one leave by the other after a delay, at a
 * limited rate. Some are lost or held back. For kernels without netem, and for frames that bypass queueing
 * disciplines.
 *
 *   wire PORT1 PORT2 MTU DELAY_NS BITS_PER_SECOND QUEUE_BYTES LOSS REORDER HELD_NS SEED
 *
 * LOSS and REORDER are fractions from 0 to 1. A signal ends the program. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum { kBatch = 64, kHeads = 64, kFramesMost = 65536, kBuffer = 8 << 20 };

struct frame {
  uint64_t due; /* when the frame leaves */
  uint64_t number;
  uint32_t length;
  unsigned char data[];
};

/* One direction. Frames under way form a heap, with the one that leaves first at its top. */
struct direction {
  int in, out;
  uint64_t free_at; /* when all frames that wait for the rate have passed */
  uint64_t random, number;
  struct frame* heap[kFramesMost];
  size_t count;
};

static uint32_t frame_most;
static uint64_t delay, rate, queue_bytes, held;
static double loss, reorder;
static struct frame* unused[2 * kFramesMost];
static size_t unused_count;

static void die(const char* what) {
  fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the next number of splitmix64. */
static double draw(struct direction* d) {
  uint64_t x = d->random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static int earlier(const struct frame* a, const struct frame* b) {
  return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void heap_add(struct direction* d, struct frame* frame) {
  size_t at = d->count++;
  for (; at > 0 && earlier(frame, d->heap[(at - 1) / 2]); at = (at - 1) / 2)
    d->heap[at] = d->heap[(at - 1) / 2];
  d->heap[at] = frame;
}

static struct frame* heap_take(struct direction* d) {
  struct frame* const top = d->heap[0];
  struct frame* const last = d->heap[--d->count];
  size_t at = 0;
  for (size_t child = 1; child < d->count; child = 2 * at + 1) {
    if (child + 1 < d->count && earlier(d->heap[child + 1], d->heap[child])) child++;
    if (!earlier(d->heap[child], last)) break;
    d->heap[at] = d->heap[child];
    at = child;
  }
  d->heap[at] = last;
  return top;
}

static struct frame* frame_new(void) {
  if (unused_count > 0) return unused[--unused_count];
  struct frame* const frame = malloc(sizeof *frame + frame_most);
  if (!frame) die("memory");
  return frame;
}

/* Takes a frame from the receiving side. Returns 0 if it is lost. Then its memory may be used again. */
static int accept_frame(struct direction* d, struct frame* frame, uint64_t now) {
  const uint64_t waits = d->free_at > now ? d->free_at - now : 0;
  if (draw(d) < loss || d->count == kFramesMost) return 0;
  if (rate > 0) {
    if ((double)waits * (double)rate / 8e9 + frame->length > (double)queue_bytes) return 0;
    d->free_at = (waits ? d->free_at : now) + (uint64_t)((frame->length + 24) * 8e9 / (double)rate);
  } else {
    d->free_at = now;
  }
  frame->due = d->free_at + delay;
  if (draw(d) < reorder) frame->due += (uint64_t)(draw(d) * (double)held);
  frame->number = d->number++;
  heap_add(d, frame);
  return 1;
}

static void receive(struct direction* d) {
  static struct frame* frames[kBatch];
  struct mmsghdr messages[kBatch];
  struct iovec pieces[kBatch];
  for (int i = 0; i < kBatch; i++) {
    if (!frames[i]) frames[i] = frame_new();
    pieces[i] = (struct iovec){frames[i]->data, frame_most};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
  }
  const int count = recvmmsg(d->in, messages, kBatch, MSG_DONTWAIT | MSG_TRUNC, NULL);
  const uint64_t now = now_ns();
  for (int i = 0; i < count; i++) {
    frames[i]->length = messages[i].msg_len;
    if (messages[i].msg_len <= frame_most && accept_frame(d, frames[i], now)) frames[i] = NULL;
  }
}

static void leave(struct direction* d) {
  struct mmsghdr messages[kBatch];
  struct iovec pieces[kBatch];
  struct frame* frames[kBatch];
  unsigned count = 0;
  const uint64_t now = now_ns();
  while (count < kBatch && d->count > 0 && d->heap[0]->due <= now) {
    struct frame* const frame = frames[count] = heap_take(d);
    pieces[count] = (struct iovec){frame->data, frame->length};
    messages[count].msg_hdr = (struct msghdr){.msg_iov = &pieces[count], .msg_iovlen = 1};
    count++;
  }
  for (unsigned sent = 0; sent < count;) {
    const int n = sendmmsg(d->out, messages + sent, count - sent, 0);
    sent += n > 0 ? (unsigned)n : 1; /* a frame that the other end refuses is lost */
  }
  for (unsigned i = 0; i < count; i++) unused[unused_count++] = frames[i];
}

static int port_open(const char* name) {
  const int one = 1, bytes = kBuffer;
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) die("packet socket");
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) die("PACKET_IGNORE_OUTGOING");
  const struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
  if (bind(fd, (const struct sockaddr*)&address, sizeof address) < 0) die(name);
  return fd;
}

int main(int argc, char** argv) {
  if (argc != 11) {
    fprintf(stderr, "wire: ten arguments are needed\n");
    return 2;
  }
  static struct direction directions[2];
  const int ports[2] = {port_open(argv[1]), port_open(argv[2])};
  frame_most = (uint32_t)strtoul(argv[3], NULL, 10) + kHeads;
  delay = strtoull(argv[4], NULL, 10);
  rate = strtoull(argv[5], NULL, 10);
  queue_bytes = strtoull(argv[6], NULL, 10);
  loss = strtod(argv[7], NULL);
  reorder = strtod(argv[8], NULL);
  held = strtoull(argv[9], NULL, 10);
  for (int i = 0; i < 2; i++) {
    directions[i].in = ports[i];
    directions[i].out = ports[1 - i];
    directions[i].random = strtoull(argv[10], NULL, 10) * 2 + (uint64_t)i;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct pollfd wanted[2] = {{ports[0], POLLIN, 0}, {ports[1], POLLIN, 0}};
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < 2; i++)
      if (directions[i].count > 0 && directions[i].heap[0]->due < next) next = directions[i].heap[0]->due;
    const uint64_t now = now_ns();
    const uint64_t wait = next > now ? next - now : 0;
    const struct timespec timeout = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
    if (ppoll(wanted, 2, next == UINT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR) die("poll");
    for (int i = 0; i < 2; i++) {
      if (wanted[i].revents) receive(&directions[i]);
      leave(&directions[i]);
    }
  }
}

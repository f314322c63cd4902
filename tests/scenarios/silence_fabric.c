// SPDX-License-Identifier: BSD-3-Clause
// A plain libfabric program with numbered messages, for tests in which a host falls silent or a server
// restarts.
//
//   omx_silence_fabric serve ENDPOINT
//       receives numbers, and answers those that ask for it
//   omx_silence_fabric stream ADDRESS HOW COUNT
//       sends COUNT numbers, one a millisecond; HOW: inject or send
//   omx_silence_fabric restart ADDRESS HOW END
//       continues while the server ends and another one takes its place; END: killed or closed
//   omx_silence_fabric wait ADDRESS SOURCE MS
//       receives a message that never comes, and after MS sends one; SOURCE: directed or any
//
// The client prints each number that an error names, counts the errors without a name (an injected message
// has no context), and prints the sums at the end. Status 3: an error was reported.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kSlots = 64, kNameMost = 64, kNumbersMost = 20000, kFirst = 100, kAfter = 200 };
enum { kAnswer = 1, kLeave = 2, kKilled = 4, kEnd = 8 };  // requests of a message to the server

struct message {
  uint64_t number, asks, name_bytes;
  char name[kNameMost];
};
struct slot {
  struct fi_context2 context;  // must be first, as it is the operation's context
  struct message message;
};

static struct fid_ep* ep;
static struct fid_av* av;
static struct fid_cq* cq;
static struct slot slots[kSlots];
static struct fi_context2 sends[kNumbersMost];
static struct message self;
static long sent, named, unnamed, answers;

static void say(const char* text) {
  printf("%s pid %d\n", text, (int)getpid());
}

static void require(long code, const char* what) {
  if (code >= 0) return;
  printf("%s: %s\n", what, fi_strerror((int)-code));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void open_endpoint(const char* service) {
  struct fi_info *hints = fi_allocinfo(), *info;
  hints->caps = FI_TAGGED | FI_DIRECTED_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->fabric_attr->prov_name = strdup("omx");
  hints->ep_attr->type = FI_EP_RDM;
  require(fi_getinfo(FI_VERSION(1, 9), NULL, service, service ? FI_SOURCE : 0, hints, &info), "fi_getinfo");
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
  struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
  require(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  require(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  require(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
  require(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
  require(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
  require(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
  require(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  require(fi_enable(ep), "fi_enable");
  size_t length = kNameMost;
  require(fi_getname(&ep->fid, self.name, &length), "fi_getname");
  self.name_bytes = length;
}

static void post(struct slot* slot, fi_addr_t from) {
  require(fi_trecv(ep, &slot->message, sizeof slot->message, NULL, from, 0, ~0ull, &slot->context),
          "fi_trecv");
}

static void reported(uint64_t number, int error) {
  if (number)
    printf("reported %lu: %s\n", (unsigned long)number, fi_strerror(error));
  else
    printf("reported one without a name: %s\n", fi_strerror(error));
  number ? named++ : unnamed++;
}

// Reads one entry of the completion queue. Returns the slot that a message came to, or null.
static struct slot* poll_queue(void) {
  struct fi_cq_tagged_entry entry;
  const ssize_t got = fi_cq_read(cq, &entry, 1);
  if (got == 1 && entry.flags & FI_RECV) return entry.op_context;
  if (got != -FI_EAVAIL) {
    if (got < 0 && got != -FI_EAGAIN) require(got, "fi_cq_read");
    return NULL;
  }
  struct fi_cq_err_entry error = {0};
  require(fi_cq_readerr(cq, &error, 0), "fi_cq_readerr");
  struct fi_context2* const context = error.op_context;
  if (context >= sends && context < sends + kNumbersMost) {
    reported((uint64_t)(context - sends), error.err);
  } else if (error.flags & FI_RECV && context) {
    printf("receive failed: %s\n", fi_strerror(error.err));
    exit(3);
  } else {
    reported(0, error.err);
  }
  return NULL;
}

// Sends the next number, or reports that it was refused.
static void send_number(fi_addr_t to, int inject, uint64_t asks) {
  struct message message = self;
  message.number = (uint64_t)++sent;
  message.asks = asks;
  static struct message kept[kNumbersMost];
  if (sent >= kNumbersMost) require(-FI_ENOMEM, "numbers");
  kept[sent] = message;
  ssize_t code;
  for (;;) {
    code = inject ? fi_tinject(ep, &message, sizeof message, to, 1)
                  : fi_tsend(ep, &kept[sent], sizeof message, NULL, to, 1, &sends[sent]);
    if (code != -FI_EAGAIN) break;
    poll_queue();
  }
  if (code) reported(message.number, (int)-code);
}

// Takes answers until there are `wanted` of them, or the time is over.
static void take_answers(long wanted, double seconds) {
  const double end = now() + seconds;
  while (answers < wanted && now() < end) {
    struct slot* const slot = poll_queue();
    if (!slot) continue;
    answers++;
    post(slot, FI_ADDR_UNSPEC);
  }
}

static int summary(void) {
  printf("sent %ld, reported %ld by name and %ld without\n", sent, named, unnamed);
  return named + unnamed ? 3 : 0;
}

// Prints the number of a message for a server, and reports a hole.
static struct message got(struct slot* slot) {
  static uint64_t last;
  const struct message message = slot->message;
  post(slot, FI_ADDR_UNSPEC);
  if (last && message.number != last + 1)
    printf("hole: received %lu where %lu was next\n", (unsigned long)message.number, (unsigned long)last + 1);
  last = message.number;
  printf("got %lu\n", (unsigned long)last);
  return message;
}

// Receives messages that come while the last answer is under way.
static void serve_on(double seconds) {
  const double end = now() + seconds;
  for (;;) {
    struct slot* const slot = poll_queue();
    if (slot)
      got(slot);
    else if (now() >= end)
      return;  // the process was killed, and nothing of it is left
  }
}

static int serve(const char* endpoint) {
  fi_addr_t client = FI_ADDR_NOTAVAIL;
  open_endpoint(endpoint);
  for (int i = 0; i < kSlots; i++) post(&slots[i], FI_ADDR_UNSPEC);
  say("ready");
  for (;;) {
    struct slot* const slot = poll_queue();
    if (!slot) continue;
    const struct message message = got(slot);
    if (message.asks & kAnswer) {
      if (client == FI_ADDR_NOTAVAIL)
        require(fi_av_insert(av, message.name, 1, &client, 0, NULL) - 1, "fi_av_insert");
      // The completion says that the answer has arrived, so nothing is under way when the server ends.
      require(fi_tsend(ep, &self, sizeof self, NULL, client, 2, &sends[0]), "fi_tsend");
    }
    if (message.asks & kLeave) {
      serve_on(0.2);
      if (message.asks & kKilled) raise(SIGKILL);
      require(fi_close(&ep->fid), "fi_close");
      return 0;
    }
    if (message.asks & kEnd) {
      serve_on(0.5);
      return 0;
    }
  }
}

static int stream(fi_addr_t server, int inject, long count) {
  for (long i = 0; i < count && named + unnamed < 20; i++) {
    send_number(server, inject, i == count - 1 ? kEnd : 0);
    if (i == 100) say("streaming");
    const double next = now() + 0.001;
    do poll_queue();
    while (now() < next);
  }
  // Late errors: the last messages may have been for another instance, which has 3 s to answer.
  take_answers(1, 5);
  return summary();
}

static int restart(fi_addr_t server, int inject, int killed) {
  const uint64_t end_of_first = kAnswer | kLeave | (killed ? kKilled : 0);
  for (int i = 0; i < kSlots; i++) post(&slots[i], FI_ADDR_UNSPEC);
  for (long i = 1; i <= kFirst; i++) {
    send_number(server, inject, i == kFirst ? end_of_first : kAnswer);
    take_answers(i, 10);
  }
  if (answers < kFirst) require(-FI_ETIMEDOUT, "no answer from the first server");
  say("alone");
  const double end = now() + 20;
  while (answers < kFirst + kAfter && now() < end) {
    send_number(server, inject, kAnswer);
    take_answers(kFirst + kAfter, 0.005);
  }
  if (answers < kFirst + kAfter) printf("only %ld answers\n", answers);
  send_number(server, inject, kEnd);
  take_answers(kNumbersMost, 1);
  return summary();
}

static int wait_for_message(fi_addr_t server, int directed, long ms) {
  for (int i = 0; i < kSlots; i++) post(&slots[i], i && directed ? server : FI_ADDR_UNSPEC);
  send_number(server, 0, kAnswer);
  take_answers(1, 10);
  if (!answers) require(-FI_ETIMEDOUT, "no answer");
  say("waiting");
  take_answers(2, (double)ms * 1e-3);
  for (int i = 0; i < 100 && named + unnamed == 0; i++) {
    send_number(server, 0, 0);
    take_answers(2, 0.1);
  }
  return summary();
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (!strcmp(argv[1], "serve")) return serve(argv[2]);
  if (argc < 4) return 1;
  open_endpoint(NULL);
  // The address "fi_omx://MAC/ENDPOINT" names no session, so it stands for any instance there.
  char* const slash = strrchr(argv[2], '/');
  fi_addr_t server = FI_ADDR_NOTAVAIL;
  if (!slash) return 1;
  *slash = 0;
  const int inserted = fi_av_insertsvc(av, argv[2], slash + 1, &server, 0, NULL);
  if (inserted != 1) {
    printf("the address is refused: %s\n", fi_strerror(inserted < 0 ? -inserted : FI_EINVAL));
    return 3;
  }
  say("started");
  if (!strcmp(argv[1], "stream"))
    return stream(server, !strcmp(argv[3], "inject"), argc > 4 ? atol(argv[4]) : 1);
  if (!strcmp(argv[1], "restart"))
    return restart(server, !strcmp(argv[3], "inject"), argc > 4 && !strcmp(argv[4], "killed"));
  if (!strcmp(argv[1], "wait"))
    return wait_for_message(server, !strcmp(argv[3], "directed"), argc > 4 ? atol(argv[4]) : 1000);
  return 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// A program that starts as libfabric's own tests do. The server gets no address, or its own. The client gets
// the server's address. Both take port 9228 unless they get another.
//
//   usual_start [OPTIONS]             the server
//   usual_start [OPTIONS] SERVER      the client
//     -p PROVIDER  -s OWN_ADDRESS  -b PORT (server)  -o PORT (client)  -F unspec|sockaddr_in|sockaddr_in6|str
//     -e msg|tagged|rma  -S BYTES  -I COUNT
//
// They exchange COUNT messages each way and check every byte. With rma the client writes them into the
// server's memory and reads them back. Status 0: all was right. Status 61: the provider offers nothing
// (FI_ENODATA).
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kNameMost = 256, kTag = 0x5157 };

static struct {
  const char *provider, *own, *own_port, *peer, *peer_port, *kind;
  uint32_t format;
  size_t bytes;
  unsigned count;
} options = {"omx", NULL, NULL, NULL, "9228", "msg", FI_FORMAT_UNSPEC, 1000, 100};

static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_av* vector;
static struct fid_cq* queue;
static struct fid_ep* endpoint;
static struct fid_mr* region;
static fi_addr_t peer = FI_ADDR_NOTAVAIL;
static char *out, *in;  // both of room() bytes
static unsigned sent, received;
static struct fi_context2 send_context, receive_context;

struct memory {  // of the server, which tells the client
  uint64_t address, key;
};

static void fail_unless(int good, const char* what, long status) {
  if (good) return;
  fprintf(stderr, "usual_start: %s: %s\n", what, fi_strerror((int)-status));
  exit(status == -FI_ENODATA ? FI_ENODATA : 1);
}

static void must(const char* what, long status) {
  fail_unless(status == 0, what, status);
}

static size_t room(void) {
  return options.bytes > kNameMost ? options.bytes : kNameMost;
}

static uint32_t format_of(const char* name) {
  static const struct {
    const char* name;
    uint32_t format;
  } formats[] = {{"unspec", FI_FORMAT_UNSPEC},
                 {"sockaddr_in", FI_SOCKADDR_IN},
                 {"sockaddr_in6", FI_SOCKADDR_IN6},
                 {"str", FI_ADDR_STR}};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(name, formats[i].name) == 0) return formats[i].format;
  fprintf(stderr, "usual_start: -F %s\n", name);
  exit(2);
}

static void options_read(int argc, char** argv) {
  int option;
  while ((option = getopt(argc, argv, "p:s:b:o:F:e:S:I:")) != -1) {
    switch (option) {
      case 'p':
        options.provider = optarg;
        break;
      case 's':
        options.own = optarg;
        break;
      case 'b':
        options.own_port = optarg;
        break;
      case 'o':
        options.peer_port = optarg;
        break;
      case 'F':
        options.format = format_of(optarg);
        break;
      case 'e':
        options.kind = optarg;
        break;
      case 'S':
        options.bytes = strtoul(optarg, NULL, 10);
        break;
      case 'I':
        options.count = (unsigned)strtoul(optarg, NULL, 10);
        break;
      default:
        exit(2);
    }
  }
  options.peer = argv[optind];
  if (!options.peer && !options.own_port) options.own_port = "9228";
}

static int is(const char* kind) {
  return strcmp(options.kind, kind) == 0;
}

static struct fi_info* hints_make(void) {
  struct fi_info* hints = fi_allocinfo();
  hints->caps = is("tagged") ? FI_TAGGED : is("rma") ? FI_MSG | FI_RMA : FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->addr_format = options.format;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup(options.provider);
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->tx_attr->tclass = FI_TC_LOW_LATENCY;
  return hints;
}

static void info_find(void) {
  struct fi_info *hints = hints_make(), *own = NULL;
  const uint32_t version = FI_VERSION(1, 17);
  if (!options.peer) {
    must("fi_getinfo", fi_getinfo(version, options.own, options.own_port, FI_SOURCE, hints, &info));
  } else {
    if (options.own || options.own_port) {
      must("fi_getinfo of the own address",
           fi_getinfo(version, options.own, options.own_port, FI_SOURCE, hints, &own));
      hints->addr_format = own->addr_format;
      hints->src_addr = memcpy(malloc(own->src_addrlen), own->src_addr, own->src_addrlen);
      hints->src_addrlen = own->src_addrlen;
      fi_freeinfo(own);
    }
    must("fi_getinfo", fi_getinfo(version, options.peer, options.peer_port, 0, hints, &info));
  }
  fi_freeinfo(hints);
}

static void open_all(void) {
  struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_NONE};
  struct fi_av_attr av_attr = {.type = info->domain_attr->av_type, .count = 1};
  must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
  must("fi_domain", fi_domain(fabric, info, &domain, NULL));
  must("fi_cq_open", fi_cq_open(domain, &cq_attr, &queue, NULL));
  must("fi_av_open", fi_av_open(domain, &av_attr, &vector, NULL));
  must("fi_endpoint", fi_endpoint(domain, info, &endpoint, NULL));
  must("fi_ep_bind", fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV));
  must("fi_ep_bind", fi_ep_bind(endpoint, &vector->fid, 0));
  must("fi_enable", fi_enable(endpoint));
  out = calloc(2, room());
  in = out + room();
  if (is("rma"))
    must("fi_mr_reg",
         fi_mr_reg(domain, out, 2 * room(), FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE, 0, 17, 0,
                   &region, NULL));
}

static void queue_read(void) {
  struct fi_cq_entry entry;
  const ssize_t got = fi_cq_read(queue, &entry, 1);
  if (got == -FI_EAGAIN) return;
  struct fi_cq_err_entry error = {0};
  if (got == -FI_EAVAIL) fi_cq_readerr(queue, &error, 0);
  fail_unless(got == 1, "completion", got == -FI_EAVAIL ? -error.err : got);
  if (entry.op_context == &receive_context)
    received++;
  else
    sent++;
}

#define REPEATED(what, call)                               \
  do {                                                     \
    ssize_t status_;                                       \
    while ((status_ = (call)) == -FI_EAGAIN) queue_read(); \
    must(what, status_);                                   \
  } while (0)

static void receive_post(void) {
  if (is("tagged"))
    REPEATED("fi_trecv", fi_trecv(endpoint, in, room(), NULL, FI_ADDR_UNSPEC, kTag, 0, &receive_context));
  else
    REPEATED("fi_recv", fi_recv(endpoint, in, room(), NULL, FI_ADDR_UNSPEC, &receive_context));
}

static void message_send(size_t bytes) {
  const unsigned before = sent;
  if (is("tagged"))
    REPEATED("fi_tsend", fi_tsend(endpoint, out, bytes, NULL, peer, kTag, &send_context));
  else
    REPEATED("fi_send", fi_send(endpoint, out, bytes, NULL, peer, &send_context));
  while (sent == before) queue_read();
}

static void message_await(unsigned number) {
  while (received < number) queue_read();
}

static void insert(const void* address) {
  const void* const list = info->addr_format == FI_ADDR_STR ? (const void*)&address : address;
  const int inserted = fi_av_insert(vector, list, 1, &peer, 0, NULL);
  fail_unless(inserted == 1, "fi_av_insert", inserted < 0 ? inserted : -FI_EINVAL);
}

// The server learns the client's address from the first message, and answers with what the client needs.
static void meet(void) {
  size_t length = kNameMost;
  receive_post();
  if (options.peer) {
    insert(info->dest_addr);
    must("fi_getname", fi_getname(&endpoint->fid, out, &length));
    message_send(length);
    message_await(1);
  } else {
    message_await(1);
    insert(in);
    if (region) {
      const struct memory memory = {info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)out : 0,
                                    fi_mr_key(region)};
      memcpy(out, &memory, sizeof memory);
    }
    receive_post();  // for the client's next
    message_send(sizeof(struct memory));
  }
}

static void fill(unsigned seed) {
  for (size_t i = 0; i < options.bytes; i++) out[i] = (char)(seed * 31 + i * 7);
}

static void check(unsigned seed) {
  for (size_t i = 0; i < options.bytes; i++)
    fail_unless(in[i] == (char)(seed * 31 + i * 7), "a byte is wrong", -FI_EIO);
}

static void client_messages(void) {
  for (unsigned i = 0; i < options.count; i++) {
    receive_post();
    fill(i);
    message_send(options.bytes);
    message_await(2 + i);
    check(i);
  }
}

static void server_messages(void) {
  for (unsigned i = 0; i < options.count; i++) {
    message_await(2 + i);
    check(i);
    memcpy(out, in, options.bytes);
    if (i + 1 < options.count) receive_post();
    message_send(options.bytes);
  }
}

static void client_accesses(void) {
  struct memory memory;
  void* const descriptor = fi_mr_desc(region);
  memcpy(&memory, in, sizeof memory);
  for (unsigned i = 0; i < options.count; i++) {
    unsigned before = sent;
    fill(i);
    REPEATED("fi_write", fi_write(endpoint, out, options.bytes, descriptor, peer, memory.address, memory.key,
                                  &send_context));
    while (sent == before) queue_read();
    before = sent;
    REPEATED("fi_read", fi_read(endpoint, in, options.bytes, descriptor, peer, memory.address, memory.key,
                                &send_context));
    while (sent == before) queue_read();
    check(i);
  }
  message_send(1);  // the end
}

static void close_all(void) {
  if (region) fi_close(&region->fid);
  fi_close(&endpoint->fid);
  fi_close(&vector->fid);
  fi_close(&queue->fid);
  fi_close(&domain->fid);
  fi_close(&fabric->fid);
  fi_freeinfo(info);
  free(out);
}

int main(int argc, char** argv) {
  options_read(argc, argv);
  info_find();
  open_all();
  printf("%s ready\n", options.peer ? "client" : "server");
  fflush(stdout);
  meet();
  if (is("rma") && options.peer)
    client_accesses();
  else if (is("rma"))
    message_await(2);
  else if (options.peer)
    client_messages();
  else
    server_messages();
  printf("all right\n");
  close_all();
  return 0;
}

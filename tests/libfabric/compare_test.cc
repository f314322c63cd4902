// SPDX-License-Identifier: BSD-3-Clause
// Compares each feature with libfabric's tcp;ofi_rxm, for which most programs are written. What that
// provider accepts is accepted here, or is in the list of differences with the reason. With OMX_TEST_TABLE=1
// the answers are printed as the table of docs/reference/libfabric.md.
#include <arpa/inet.h>

#include <cstring>

#include "libfabric/versions.h"
#include "networked.h"

namespace omx::fabric::test {
namespace {

constexpr const char* kOther = "tcp;ofi_rxm";

struct Question {
  std::string name;
  std::function<std::string(const char* provider)> ask;  // "yes", "no" or a value
  const char* difference = nullptr;  // why the answer is no although the other provider says yes
};

Info hints_for(const char* provider) {
  Info h = hints();
  ::free(h->fabric_attr->prov_name);
  h->fabric_attr->prov_name = ::strdup(provider);
  h->mode = FI_CONTEXT | FI_CONTEXT2;
  h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  return h;
}

Info first_offer(const fi_info* wanted, const char* node = nullptr, const char* service = nullptr,
                 std::uint64_t flags = 0) {
  fi_info* found = nullptr;
  return Info(fi_getinfo(FI_VERSION(1, 17), node, service, flags, wanted, &found) == 0 ? found : nullptr);
}

std::string yes_no(bool good) {
  return good ? "yes" : "no";
}

Question wish(std::string name, std::function<void(fi_info&)> change, const char* difference = nullptr) {
  return {std::move(name),
          [change = std::move(change)](const char* provider) {
            const Info wanted = hints_for(provider);
            change(*wanted);
            return yes_no(first_offer(wanted.get()) != nullptr);
          },
          difference};
}

Question named(std::string name, const char* node, const char* service, std::uint64_t flags,
               const char* difference = nullptr) {
  return {std::move(name),
          [=](const char* provider) {
            const Info wanted = hints_for(provider);
            return yes_no(first_offer(wanted.get(), node, service, flags) != nullptr);
          },
          difference};
}

Question fact(std::string name, std::function<std::string(const fi_info&)> read) {
  return {std::move(name), [read = std::move(read)](const char* provider) {
            const Info wanted = hints_for(provider);
            const Info offer = first_offer(wanted.get());
            return offer ? read(*offer) : std::string("no");
          }};
}

// Open objects of one offer, closed with it.
struct Objects {
  Objects(const char* provider, std::uint64_t caps) {
    const Info wanted = hints_for(provider);
    wanted->caps = caps;
    wanted->domain_attr->name = ::strdup("v0");
    info = first_offer(wanted.get());
    if (!info || fi_fabric(info->fabric_attr, &fabric, nullptr) != 0) return;
    if (fi_domain(fabric, info.get(), &domain, nullptr) != 0) domain = nullptr;
  }
  ~Objects() {
    if (domain) fi_close(&domain->fid);
    if (fabric) fi_close(&fabric->fid);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  Info info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
};

Question vector_opens(std::string name, fi_av_type type, std::uint64_t flags = 0,
                      const char* shared = nullptr) {
  return {std::move(name), [=](const char* provider) {
            const Objects at(provider, FI_MSG);
            fi_av_attr wanted{};
            wanted.type = type;
            wanted.flags = flags;
            wanted.name = shared;
            fid_av* vector = nullptr;
            const bool good = at.domain && fi_av_open(at.domain, &wanted, &vector, nullptr) == 0;
            if (good) fi_close(&vector->fid);
            return yes_no(good);
          }};
}

Question queue_waits(std::string name, fi_wait_obj object, const char* difference = nullptr) {
  return {std::move(name),
          [object](const char* provider) {
            const Objects at(provider, FI_MSG);
            fi_cq_attr wanted{};
            wanted.wait_obj = object;
            fid_cq* queue = nullptr;
            const bool good = at.domain && fi_cq_open(at.domain, &wanted, &queue, nullptr) == 0;
            if (good) fi_close(&queue->fid);
            return yes_no(good);
          },
          difference};
}

// Returns an endpoint with those capabilities, whose queue is bound with those flags. With `counted` a
// counter is bound instead.
Question endpoint_enables(std::string name, std::uint64_t caps, std::uint64_t flags, bool counted = false) {
  return {std::move(name), [=](const char* provider) {
            const Objects at(provider, caps);
            fi_av_attr vector_attr{};
            fi_cq_attr queue_attr{};
            fi_cntr_attr counter_attr{};
            fid_av* vector = nullptr;
            fid_cq* queue = nullptr;
            fid_cntr* counter = nullptr;
            fid_ep* endpoint = nullptr;
            if (!at.domain || fi_av_open(at.domain, &vector_attr, &vector, nullptr) != 0 ||
                fi_cq_open(at.domain, &queue_attr, &queue, nullptr) != 0 ||
                fi_cntr_open(at.domain, &counter_attr, &counter, nullptr) != 0 ||
                fi_endpoint(at.domain, at.info.get(), &endpoint, nullptr) != 0)
              return std::string("no");
            EXPECT_EQ(fi_ep_bind(endpoint, &vector->fid, 0), 0);
            if (flags) {
              EXPECT_EQ(fi_ep_bind(endpoint, &queue->fid, flags), 0);
            }
            if (counted) {
              EXPECT_EQ(fi_ep_bind(endpoint, &counter->fid, FI_SEND | FI_RECV), 0);
            }
            const int status = fi_enable(endpoint);
            for (fid* object : {&endpoint->fid, &counter->fid, &queue->fid, &vector->fid}) fi_close(object);
            return status == 0 ? std::string("yes")
                               : std::string(status == -FI_ENOCQ ? "no (FI_ENOCQ)" : "no");
          }};
}

std::string bits(std::uint64_t value, fi_type type) {
  std::string text = fi_tostr(&value, type);
  for (std::size_t at = 0; (at = text.find("FI_", at)) != std::string::npos;) text.erase(at, 3);
  return text.empty() ? "none" : text;
}

std::string size_text(std::size_t size) {
  return size == SIZE_MAX ? "any" : std::to_string(size);
}

// Returns an answer as a cell of a table.
std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

#define WISH(expression, ...) wish(#expression, [](fi_info& i) { i.expression; } __VA_OPT__(, ) __VA_ARGS__)

std::vector<Question> names_questions() {
  constexpr const char* kNotOurs =
      "an address of another host is no source; the endpoint could not be opened";
  return {
      named("no node, service 9228, FI_SOURCE", nullptr, "9228", FI_SOURCE),
      named("own IP address, service 9228, FI_SOURCE", "10.77.0.1", "9228", FI_SOURCE),
      named("own IP address, no service, FI_SOURCE", "10.77.0.1", nullptr, FI_SOURCE),
      named("0.0.0.0, service 9228, FI_SOURCE", "0.0.0.0", "9228", FI_SOURCE),
      named("localhost, service 9228, FI_SOURCE", "localhost", "9228", FI_SOURCE),
      named("a peer's IP address, FI_SOURCE", "10.77.0.9", "9228", FI_SOURCE, kNotOurs),
      named("a peer's IP address, service 9228", "10.77.0.9", "9228", 0),
      named("a peer's IP address, no service", "10.77.0.9", nullptr, 0),
      named("own IP address, service 9228", "10.77.0.1", "9228", 0),
      named("127.0.0.1, service 9228", "127.0.0.1", "9228", 0),
      named("no node, service 9228", nullptr, "9228", 0),
      named("name of an interface, FI_SOURCE", "v0", "9228", FI_SOURCE),
      named("MAC address, service 9228", "02:00:00:00:00:09", "9228", 0),
      named("service 65535", "10.77.0.9", "65535", 0),
      named("service 70000", "10.77.0.9", "70000", 0,
            "it is no port; tcp takes what is left of it in 16 bits"),
      named("unknown service", "10.77.0.9", "no-such-service", 0),
  };
}

sockaddr_in socket_of(const char* ip, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, ip, &address.sin_addr);
  return address;
}

void give(void*& out, std::size_t& length, const sockaddr_in& address) {
  out = ::malloc(length = sizeof address);
  std::memcpy(out, &address, length);
}

std::vector<Question> address_questions() {
  return {
      fact("addr_format without a wish",
           [](const fi_info& i) { return bits(i.addr_format, FI_TYPE_ADDR_FORMAT); }),
      WISH(addr_format = FI_SOCKADDR),
      WISH(addr_format = FI_SOCKADDR_IN),
      WISH(addr_format = FI_ADDR_STR),
      wish("src_addr: own address and port, as FI_SOCKADDR_IN",
           [](fi_info& i) {
             i.addr_format = FI_SOCKADDR_IN;
             give(i.src_addr, i.src_addrlen, socket_of("10.77.0.1", 9228));
           }),
      wish("the same without addr_format",
           [](fi_info& i) { give(i.src_addr, i.src_addrlen, socket_of("10.77.0.1", 9228)); }),
      wish("dest_addr: a peer's address and port",
           [](fi_info& i) {
             i.addr_format = FI_SOCKADDR_IN;
             give(i.dest_addr, i.dest_addrlen, socket_of("10.77.0.9", 9228));
           }),
      vector_opens("FI_AV_MAP", FI_AV_MAP),
      vector_opens("FI_AV_TABLE", FI_AV_TABLE),
      vector_opens("FI_AV_UNSPEC", FI_AV_UNSPEC),
      vector_opens("vector with FI_EVENT", FI_AV_MAP, FI_EVENT),
      vector_opens("vector with FI_READ", FI_AV_MAP, FI_READ),
      vector_opens("vector with a name", FI_AV_MAP, 0, "vector"),
  };
}

std::vector<Question> capability_questions() {
  return {
      WISH(caps = FI_MSG),
      WISH(caps = FI_TAGGED),
      WISH(caps = FI_RMA),
      WISH(caps = FI_ATOMIC),
      WISH(caps = FI_MSG | FI_SEND),
      WISH(caps = FI_MSG | FI_RECV),
      WISH(caps = FI_MSG | FI_MULTI_RECV),
      WISH(caps = FI_MSG | FI_DIRECTED_RECV),
      WISH(caps = FI_MSG | FI_SOURCE),
      WISH(caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR),
      WISH(caps = FI_RMA | FI_RMA_EVENT),
      WISH(caps = FI_LOCAL_COMM | FI_REMOTE_COMM),
      WISH(caps = FI_COLLECTIVE | FI_MSG, "collective operations are left to the MPI library"),
      WISH(caps = FI_MSG | FI_FENCE),
      WISH(caps = FI_MSG | FI_TRIGGER),
      WISH(caps = FI_MSG | FI_HMEM),
      WISH(caps = FI_MSG | FI_VARIABLE_MSG),
      WISH(caps = FI_MSG | FI_NAMED_RX_CTX),
      WISH(caps = FI_MSG | FI_MULTICAST),
      endpoint_enables("FI_MSG with a queue for both directions", FI_MSG, FI_TRANSMIT | FI_RECV),
      endpoint_enables("FI_MSG with a transmit queue only", FI_MSG, FI_TRANSMIT),
      endpoint_enables("FI_MSG with a receive queue only", FI_MSG, FI_RECV),
      endpoint_enables("FI_MSG, FI_SEND with a transmit queue only", FI_MSG | FI_SEND, FI_TRANSMIT),
      endpoint_enables("FI_MSG, FI_RECV with a receive queue only", FI_MSG | FI_RECV, FI_RECV),
      endpoint_enables("FI_MSG with a counter only", FI_MSG, 0, true),
      endpoint_enables("FI_RMA with a transmit queue only", FI_RMA, FI_TRANSMIT),
  };
}

std::vector<Question> endpoint_questions() {
  return {
      WISH(ep_attr->type = FI_EP_MSG),
      WISH(ep_attr->type = FI_EP_DGRAM),
      fact("protocol", [](const fi_info& i) { return bits(i.ep_attr->protocol, FI_TYPE_PROTOCOL); }),
      WISH(ep_attr->protocol = FI_PROTO_RXM, "that is what tcp;ofi_rxm speaks"),
      fact("max_msg_size", [](const fi_info& i) { return size_text(i.ep_attr->max_msg_size); }),
      WISH(ep_attr->max_msg_size = 1ULL << 33, "a message's length has 32 bits"),
      WISH(ep_attr->msg_prefix_size = 8, "there is no prefix; tcp does not look at it"),
      WISH(ep_attr->tx_ctx_cnt = 2),
      WISH(ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT),
      WISH(ep_attr->mem_tag_format = ~0ULL),
      fact("inject_size", [](const fi_info& i) { return size_text(i.tx_attr->inject_size); }),
      WISH(tx_attr->inject_size = 4096),
      WISH(tx_attr->inject_size = 16384, "injected data are copied; more is not"),
      fact("tx_attr->size, rx_attr->size",
           [](const fi_info& i) { return size_text(i.tx_attr->size) + ", " + size_text(i.rx_attr->size); }),
      WISH(tx_attr->size = 65536),
      fact("iov_limit, rma_iov_limit",
           [](const fi_info& i) {
             return size_text(i.tx_attr->iov_limit) + ", " + size_text(i.tx_attr->rma_iov_limit);
           }),
      WISH(rx_attr->total_buffered_recv = 1),
  };
}

std::vector<Question> order_questions() {
  constexpr const char* kClasses =
      "the data of reads and long writes come later, and what is sent behind them does not wait";
  return {
      fact("msg_order", [](const fi_info& i) { return bits(i.tx_attr->msg_order, FI_TYPE_MSG_ORDER); }),
      WISH(tx_attr->msg_order = FI_ORDER_SAS),
      WISH(tx_attr->msg_order = FI_ORDER_SAW, kClasses),
      WISH(tx_attr->msg_order = FI_ORDER_WAS, kClasses),
      WISH(tx_attr->msg_order = FI_ORDER_RAS, kClasses),
      WISH(rx_attr->msg_order = FI_ORDER_SAW, kClasses),
      WISH(tx_attr->msg_order = FI_ORDER_WAW),
      WISH(tx_attr->msg_order = FI_ORDER_WAR),
      WISH(tx_attr->msg_order = FI_ORDER_ATOMIC_WAW),
      fact("max_order_raw_size, _war_, _waw_",
           [](const fi_info& i) {
             return size_text(i.ep_attr->max_order_raw_size) + ", " +
                    size_text(i.ep_attr->max_order_war_size) + ", " +
                    size_text(i.ep_attr->max_order_waw_size);
           }),
      WISH(ep_attr->max_order_waw_size = 1 << 20, "longer accesses are fetched, and need not keep an order"),
      wish("tx_attr->comp_order = FI_ORDER_STRICT", [](fi_info& i) { i.tx_attr->comp_order = 0x1FF; }),
      wish("rx_attr->comp_order = FI_ORDER_STRICT", [](fi_info& i) { i.rx_attr->comp_order = 0x1FF; }),
      WISH(tx_attr->op_flags = FI_COMPLETION | FI_INJECT),
      WISH(tx_attr->op_flags = FI_INJECT_COMPLETE),
      WISH(tx_attr->op_flags = FI_TRANSMIT_COMPLETE),
      WISH(tx_attr->op_flags = FI_DELIVERY_COMPLETE),
      WISH(tx_attr->op_flags = FI_MATCH_COMPLETE),
      WISH(tx_attr->op_flags = FI_COMMIT_COMPLETE),
      WISH(rx_attr->op_flags = FI_MULTI_RECV),
      queue_waits("completion queue: FI_WAIT_NONE", FI_WAIT_NONE),
      queue_waits("FI_WAIT_UNSPEC", FI_WAIT_UNSPEC),
      queue_waits("FI_WAIT_FD", FI_WAIT_FD),
      queue_waits("FI_WAIT_POLLFD", FI_WAIT_POLLFD),
      queue_waits("FI_WAIT_YIELD", FI_WAIT_YIELD),
      queue_waits("FI_WAIT_MUTEX_COND", FI_WAIT_MUTEX_COND),
  };
}

std::vector<Question> domain_questions() {
  constexpr const char* kScalable = "an endpoint has one context; tcp echoes what it cannot open";
  return {
      fact("threading without a wish",
           [](const fi_info& i) { return bits(i.domain_attr->threading, FI_TYPE_THREADING); }),
      WISH(domain_attr->threading = FI_THREAD_SAFE),
      WISH(domain_attr->threading = FI_THREAD_DOMAIN),
      WISH(domain_attr->threading = FI_THREAD_COMPLETION),
      fact("control_progress, data_progress",
           [](const fi_info& i) {
             return bits(i.domain_attr->control_progress, FI_TYPE_PROGRESS) + ", " +
                    bits(i.domain_attr->data_progress, FI_TYPE_PROGRESS);
           }),
      WISH(domain_attr->data_progress = FI_PROGRESS_AUTO),
      WISH(domain_attr->data_progress = FI_PROGRESS_MANUAL),
      WISH(domain_attr->resource_mgmt = FI_RM_ENABLED),
      WISH(domain_attr->resource_mgmt = FI_RM_DISABLED),
      fact("mr_mode needed",
           [](const fi_info& i) {
             return i.domain_attr->mr_mode
                        ? bits(static_cast<unsigned>(i.domain_attr->mr_mode), FI_TYPE_MR_MODE)
                        : std::string("none");
           }),
      WISH(domain_attr->mr_mode = 0),
      wish("domain_attr->mr_mode = FI_MR_BASIC", [](fi_info& i) { i.domain_attr->mr_mode = kMrBasic; }),
      wish("domain_attr->mr_mode = FI_MR_SCALABLE", [](fi_info& i) { i.domain_attr->mr_mode = kMrScalable; }),
      WISH(domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_RMA_EVENT),
      fact("mr_key_size, mr_iov_limit",
           [](const fi_info& i) {
             return size_text(i.domain_attr->mr_key_size) + ", " + size_text(i.domain_attr->mr_iov_limit);
           }),
      fact("cq_data_size", [](const fi_info& i) { return size_text(i.domain_attr->cq_data_size); }),
      fact("ep_cnt", [](const fi_info& i) { return size_text(i.domain_attr->ep_cnt); }),
      WISH(domain_attr->ep_cnt = 1000, "an interface has 256 endpoints"),
      WISH(domain_attr->max_ep_tx_ctx = 2, kScalable),
      WISH(domain_attr->max_ep_stx_ctx = 1, kScalable),
      WISH(domain_attr->max_ep_srx_ctx = 1, kScalable),
      WISH(domain_attr->cntr_cnt = 100),
      WISH(domain_attr->max_err_data = 64),
      WISH(domain_attr->auth_key_size = 4, "there are no keys; tcp does not look at it"),
      wish(
          "domain_attr->name = \"eth7\"", [](fi_info& i) { i.domain_attr->name = ::strdup("eth7"); },
          "there is no such interface; tcp does not look at it"),
      wish(
          "fabric_attr->name = \"other\"", [](fi_info& i) { i.fabric_attr->name = ::strdup("other"); },
          "there is no such fabric; tcp does not look at it"),
  };
}

class Compared : public NetworkedTest {
 protected:
  void SetUp() override {
    NetworkedTest::SetUp();
    if (IsSkipped()) return;
    // Other versions of libfabric have another tcp provider, which accepts more, or less.
    if (fi_version() != FI_VERSION(1, 17))
      GTEST_SKIP() << "the differences are those to libfabric 1.17, and this is " << FI_MAJOR(fi_version())
                   << "." << FI_MINOR(fi_version());
    const Info wanted = hints_for(kOther);
    if (!first_offer(wanted.get())) GTEST_SKIP() << "this libfabric has no " << kOther;
  }

  static void compare(const char* title, const std::vector<Question>& questions) {
    const bool prints = std::getenv("OMX_TEST_TABLE") != nullptr;
    if (prints) std::printf("\n| %s | omx | %s | difference |\n|---|---|---|---|\n", title, kOther);
    for (const Question& question : questions) {
      const std::string ours = question.ask("omx"), theirs = question.ask(kOther);
      const bool lacking = theirs == "yes" && ours != "yes";
      EXPECT_EQ(lacking, question.difference != nullptr)
          << question.name << ": omx " << ours << ", " << kOther << " " << theirs;
      if (prints)
        std::printf("| %s | %s | %s | %s |\n", escaped(question.name).c_str(), ours.c_str(), theirs.c_str(),
                    question.difference ? question.difference : "");
    }
  }
};

TEST_F(Compared, names) {
  compare("node and service", names_questions());
}

TEST_F(Compared, addresses) {
  compare("addresses", address_questions());
}

TEST_F(Compared, capabilities) {
  compare("capabilities", capability_questions());
}

TEST_F(Compared, endpoints) {
  compare("endpoints and messages", endpoint_questions());
}

TEST_F(Compared, orders_and_completions) {
  compare("order and completions", order_questions());
}

TEST_F(Compared, domains) {
  compare("domains and memory", domain_questions());
}

}  // namespace
}  // namespace omx::fabric::test

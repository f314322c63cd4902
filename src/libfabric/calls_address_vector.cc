// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_address_vector.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "libfabric/address_vector.h"
#include "libfabric/domain.h"
#include "libfabric/event_queue.h"
#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "libfabric/service.h"
#include "libfabric/versions.h"
#include "runtime/board/resolver.h"

namespace omx::fabric {

namespace {

AddressVector& vector_of(fid_av* vector) {
  return static_cast<AddressVector&>(*vector);
}

AddressVector& vector_of(fid* object) {
  return vector_of(reinterpret_cast<fid_av*>(object));
}

// Returns whether the address is of a process whose link is of another kind than ours. The user is warned at
// once, because a message to it would never arrive.
bool other_kind(const runtime::Board& board, NicId nic) {
  if (runtime::by_udp(nic) == board.udp) return false;
  log(LogLevel::warn,
      "{}: the address {} is of a process that sends {}, and this process sends {}: nothing passes between "
      "them; set OMX_LINK=udp for all processes of the job, or give all of them CAP_NET_RAW or a broker (omx "
      "info)",
      board.interface.name, runtime::by_udp(nic) ? runtime::address_name(nic) : mac_format(nic),
      board.udp ? "raw frames" : "by UDP", board.udp ? "by UDP" : "raw frames");
  return true;
}

constexpr std::uint64_t kInsertFlags = FI_MORE | FI_SYNC_ERR | kUserId;

// Returns 0 if an insertion may begin, or a negative error code.
int insertion_refused(const AddressVector& vector, std::uint64_t flags) {
  if (flags & ~kInsertFlags) return refuse(FI_LOG_AV, FI_EBADFLAGS, "fi_av_insert: a flag is not known");
  if (flags & kUserId) return refuse(FI_LOG_AV, FI_ENOSYS, "fi_av_insert: FI_AV_USER_ID is not implemented");
  if (vector.queue_missing())
    return refuse(FI_LOG_AV, FI_ENOEQ, "fi_av_insert: FI_EVENT was asked for; bind an event queue first");
  return 0;
}

// Reports of an insertion of several addresses, in each of the three ways to ask.
class Insertion {
 public:
  Insertion(AddressVector& vector, fi_addr_t* numbers, std::uint64_t flags, void* context)
      : vector_(vector),
        numbers_(numbers),
        statuses_(flags & FI_SYNC_ERR ? static_cast<int*>(context) : nullptr),
        context_(context) {}

  void add(const AddressResult& address) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    int status = FI_EINVAL;
    if (!address) {
      warn(FI_LOG_AV, fmt::format("address {} not inserted: {}", at_, address.error().why));
      status = address.error().code;
    } else if (address->nic == 0) {
      warn(FI_LOG_AV, fmt::format("address {} not inserted: it names no host", at_));
    } else if (other_kind(vector_.domain().board(), address->nic)) {
      status = FI_EADDRNOTAVAIL;
    } else if (address->endpoint == kAnyId) {
      warn(FI_LOG_AV, fmt::format("address {} not inserted: it names no endpoint", at_));
    } else {
      number = vector_.insert(*address);
      status = number == FI_ADDR_NOTAVAIL ? FI_ENOMEM : 0;
    }
    if (numbers_) numbers_[at_] = number;
    if (statuses_) statuses_[at_] = status;
    if (status)
      failed(status);
    else
      good_++;
    at_++;
  }
  // Returns the number of addresses that were taken. Where there is an event queue, the number goes there.
  int end() {
    EventQueue* queue = vector_.event_queue();
    if (!queue) return good_;
    fi_eq_entry entry{&vector_.fid, context_, static_cast<std::uint64_t>(good_)};
    queue->push(FI_AV_COMPLETE, &entry, sizeof entry);
    return 0;
  }

 private:
  void failed(int status) {
    EventQueue* queue = vector_.event_queue();
    if (!queue) return;
    fi_eq_err_entry error{};
    error.fid = &vector_.fid;
    error.context = context_;
    error.data = static_cast<std::uint64_t>(at_);
    error.err = status;
    queue->push_error(error);
  }

  AddressVector& vector_;
  fi_addr_t* numbers_;
  int* statuses_;
  void* context_;
  int at_ = 0, good_ = 0;
};

int insert(fid_av* object, const void* addresses, std::size_t count, fi_addr_t* numbers, std::uint64_t flags,
           void* context) {
  return fenced([&] {
    AddressVector& vector = vector_of(object);
    if (const int refused = insertion_refused(vector, flags)) return refused;
    if (count > 0 && !addresses) return refuse(FI_LOG_AV, FI_EINVAL, "fi_av_insert: no addresses are given");
    Insertion insertion(vector, numbers, flags, context);
    for (std::size_t i = 0; i < count; i++) {
      if (vector.format() == FI_ADDR_STR) {
        const char* text = static_cast<const char* const*>(addresses)[i];
        insertion.add(address_read(text, SIZE_MAX, FI_ADDR_STR));
      } else {
        const std::size_t bytes = address_bytes(vector.format());
        insertion.add(
            address_read(static_cast<const std::byte*>(addresses) + i * bytes, bytes, vector.format()));
      }
    }
    return insertion.end();
  });
}

// Returns the address of a host by name.
AddressResult node_find(AddressVector& vector, const std::string& node) {
  if (const auto address = address_parse(node)) return *address;
  runtime::Process& process = vector.domain().process();
  const auto found = process.host_find(node);
  if (!found) return tl::unexpected(AddressError{found.error().message, FI_EHOSTUNREACH});
  return address_of_host(process, node, *found, vector.format());
}

// Returns the address of the endpoint of a host that a service stands for.
AddressResult service_of(AddressResult host, std::uint32_t port) {
  if (port > UINT16_MAX) return tl::unexpected(AddressError{fmt::format("service {} is above 65535", port)});
  if (host) host->port_set(static_cast<std::uint16_t>(port));
  return host;
}

int insert_service(fid_av* object, const char* node, const char* service, fi_addr_t* number,
                   std::uint64_t flags, void* context) {
  return fenced([&] {
    AddressVector& vector = vector_of(object);
    if (const int refused = insertion_refused(vector, flags)) return refused;
    const auto port = service ? service_port(service) : std::nullopt;
    if (!node || !port)
      return refuse(FI_LOG_AV, FI_EINVAL, "fi_av_insertsvc: node and service must name a host and a port");
    Insertion insertion(vector, number, flags, context);
    insertion.add(service_of(node_find(vector, node), *port));
    return insertion.end();
  });
}

// Inserts node7, node8, node9 ... for "node7". Services count up in the same way.
int insert_symmetric(fid_av* object, const char* node, std::size_t nodes, const char* service,
                     std::size_t services, fi_addr_t* numbers, std::uint64_t flags, void* context) {
  return fenced([&] {
    AddressVector& vector = vector_of(object);
    if (const int refused = insertion_refused(vector, flags)) return refused;
    if (!node || !service)
      return refuse(FI_LOG_AV, FI_EINVAL, "fi_av_insertsym: no node or no service is given");
    const std::string_view name(node);
    const std::size_t stem = name.find_last_not_of("0123456789") + 1;
    const auto first_service = service_port(service);
    if (!first_service || (stem == name.size() && nodes > 1) || name.size() - stem > 9)
      return refuse(FI_LOG_AV, FI_EINVAL,
                    "fi_av_insertsym: the node must end in a number, and the service be a port");
    const unsigned long first = stem < name.size() ? std::strtoul(node + stem, nullptr, 10) : 0;
    const int width = static_cast<int>(name.size() - stem);
    Insertion insertion(vector, numbers, flags, context);
    for (std::size_t n = 0; n < nodes; n++) {
      std::string host(name.substr(0, stem));
      if (width > 0) host += fmt::format("{:0{}}", first + n, width);
      const AddressResult found = node_find(vector, host);  // may wait for the network
      for (std::size_t s = 0; s < services; s++)
        insertion.add(service_of(found, static_cast<std::uint32_t>(*first_service + s)));
    }
    return insertion.end();
  });
}

int remove(fid_av* object, fi_addr_t* numbers, std::size_t count, std::uint64_t flags) {
  if (flags) return -FI_EBADFLAGS;
  if (count > 0 && !numbers) return -FI_EINVAL;
  int result = 0;
  for (std::size_t i = 0; i < count; i++)
    if (const int error = vector_of(object).remove(numbers[i])) result = error;
  return result;
}

int lookup(fid_av* object, fi_addr_t number, void* address, std::size_t* length) {
  const AddressVector::Entry* entry = vector_of(object).entry(number);
  if (!entry) return -FI_EINVAL;
  // A longer address is cut off. The caller sees that by the length.
  const int error = address_write(entry->address, vector_of(object).format(), address, length);
  return error == -FI_ETOOSMALL ? 0 : error;
}

const char* text(fid_av* object, const void* address, char* out, std::size_t* length) {
  const std::string written = address_show(address, vector_of(object).format());
  std::snprintf(out, *length, "%s", written.c_str());
  *length = written.size() + 1;
  return out;
}

int no_set(fid_av*, fi_av_set_attr*, fid_av_set**, void*) {
  return -FI_ENOSYS;
}

int close(fid* object) {
  AddressVector& vector = vector_of(object);
  if (vector.references.any()) return -FI_EBUSY;
  delete &vector;
  return 0;
}

int bind(fid* object, fid* other, std::uint64_t) {
  if (other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
  return vector_of(object).event_queue_bind(*static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(other)));
}

const fi_ops kOps = closing_ops(close, bind);
constexpr auto kVectorOps = ops_of<fi_ops_av>([](auto& ops) {
  ops.insert = insert;
  ops.insertsvc = insert_service;
  ops.insertsym = insert_symmetric;
  ops.remove = remove;
  ops.lookup = lookup;
  ops.straddr = text;
  ops.av_set = no_set;
});

}  // namespace

int address_vector_open(fid_domain* object, fi_av_attr* attr, fid_av** opened, void* context) {
  return fenced([&] {
    Domain& domain = domain_of(object);
    if (!attr) return refuse(FI_LOG_AV, FI_EINVAL, "fi_av_open: no attributes are given");
    // A name asks for a table that processes share. MPICH asks for one, but works without it.
    if (attr->name)
      return refuse(FI_LOG_AV, FI_ENOSYS, "fi_av_open: processes do not share address vectors by name");
    if (attr->flags & ~std::uint64_t{FI_EVENT | FI_SYMMETRIC | FI_READ})
      return refuse(FI_LOG_AV, FI_EBADFLAGS, "fi_av_open: a flag is not known");
    if (attr->rx_ctx_bits)
      return refuse(FI_LOG_AV, FI_ENOSYS, "fi_av_open: endpoints have one receive context (rx_ctx_bits)");
    if (attr->type != FI_AV_UNSPEC && domain.av_type() != FI_AV_UNSPEC && attr->type != domain.av_type())
      return refuse(FI_LOG_AV, FI_EINVAL, "fi_av_open: the domain was opened with another type of vector");
    auto* vector = new AddressVector(domain, domain.address_format(), attr->flags & FI_EVENT);
    vector->fid = {FI_CLASS_AV, context, table(kOps)};
    vector->ops = table(kVectorOps);
    if (attr->type == FI_AV_UNSPEC)
      attr->type = domain.av_type() == FI_AV_UNSPEC ? FI_AV_TABLE : domain.av_type();
    *opened = vector;
    return 0;
  });
}

}  // namespace omx::fabric

// SPDX-License-Identifier: BSD-3-Clause
// fi_getinfo. Called four times for each call of the application (libfabric.md 1.4), so it must be cheap and
// leave nothing behind.
#include "libfabric/info.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.h"
#include "libfabric/decline.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

// An error of opening now instead of later (libfabric.md 6.8).
std::string obstacle(const std::vector<runtime::Board>& boards) {
  if (boards_by_udp(boards)) return {};
  const int error = runtime::frames_possible();
  if (error == 0) return {};
  if (error == EPERM || error == EACCES) {
    return "no permission to send Ethernet frames: run as root or give the program CAP_NET_RAW (setcap "
           "cap_net_raw+ep PROGRAM, or --cap-add NET_RAW for a container), or set OMX_LINK=udp";
  }
  return fmt::format("no packet socket: {}", std::strerror(error));
}

struct Ends {
  std::optional<Address> source, destination;
};

// An interface, a MAC or fi_omx:// address, or a host's name.
Expected<Address, std::string> node_find(runtime::Process& process, const char* node, bool own) {
  if (auto address = address_parse(node)) return *address;
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.name == node || board.hostname == node) return Address{.nic = board.interface.nic};
  }
  if (own) return tl::unexpected(fmt::format("node {} is no interface of this host", shown(node)));
  const auto nic = process.nic_of(node);
  if (!nic) return tl::unexpected(nic.error().message);
  return Address{.nic = *nic};
}

// Fills `ends` with the addresses that are named. Returns what is wrong with them; empty: nothing.
std::string ends_find(runtime::Process& process, const char* node, const char* service, std::uint64_t flags,
                      const fi_info* hints, Ends& ends) {
  if (hints && hints->src_addr) {
    ends.source = address_read(hints->src_addr, hints->src_addrlen, hints->addr_format);
    if (!ends.source) return "src_addr is no address of this provider";
  }
  if (hints && hints->dest_addr && !node) {
    ends.destination = address_read(hints->dest_addr, hints->dest_addrlen, hints->addr_format);
    if (!ends.destination) return "dest_addr is no address of this provider";
  }
  const bool own = flags & FI_SOURCE;
  std::optional<std::uint16_t> id;
  if (service && !(id = endpoint_parse(service)) && (node || !own))
    return fmt::format("service {} is no endpoint number", shown(service));
  if (node) {
    auto address = node_find(process, node, own);
    if (!address) return address.error();
    if (id) address->endpoint = *id;
    if (!own && address->endpoint == kAnyId) address->endpoint = 0;
    (own ? ends.source : ends.destination) = *address;
  } else if (own && id) {
    if (!ends.source) ends.source = Address{};
    ends.source->endpoint = *id;
  }
  return {};
}

// False: the source is another board's.
bool source_fits(const runtime::Board& board, const Ends& ends) {
  return !ends.source || ends.source->nic == 0 || ends.source->nic == board.interface.nic;
}

// False: no memory.
bool ends_fill(fi_info& offer, const runtime::Board& board, const Ends& ends) {
  Address source = ends.source.value_or(Address{});
  source.nic = board.interface.nic;
  offer.src_addr = address_new(source, offer.addr_format, offer.src_addrlen);
  if (ends.destination)
    offer.dest_addr = address_new(*ends.destination, offer.addr_format, offer.dest_addrlen);
  return offer.src_addr && (offer.dest_addr || !ends.destination);
}

// A board, or all of them together.
struct Place {
  const runtime::Board* board;
  bool all;
};

std::vector<Place> places_of(const runtime::Process& process) {
  std::vector<Place> places;
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.up) places.push_back({&board, false});
  }
  if (const runtime::Board* first = board_of_all(process)) places.push_back({first, true});
  return places;
}

std::string nothing_up(const runtime::Process& process) {
  std::string names;
  for (const runtime::Board& board : process.boards())
    names += (names.empty() ? "" : ", ") + board.interface.name;
  return fmt::format("no interface is up ({}); bring one up with \"ip link set dev NAME up\"", names);
}

// nullptr: no memory.
fi_info* place_info(const Place& place) {
  fi_info* offer = info_of_board(*place.board);
  if (!offer || !place.all) return offer;
  std::free(offer->domain_attr->name);
  offer->domain_attr->name = ::strdup(kAllBoards);
  if (offer->domain_attr->name) return offer;
  fi_freeinfo(offer);
  return nullptr;
}

// Of several interfaces, what one that was asked for lacks says more than that others were not asked for.
void refusal_note(const char* refused, const char*& reason) {
  if (!reason || std::strcmp(reason, kOtherDomain) == 0) reason = refused;
}

int offers_collect(const std::vector<Place>& places, std::uint32_t version, const fi_info* hints,
                   const Ends& ends, fi_info** found, const char*& reason) {
  fi_info** tail = found;
  for (const Place& place : places) {
    if (!source_fits(*place.board, ends)) {
      refusal_note("src_addr (another interface)", reason);
      continue;
    }
    fi_info* offer = place_info(place);
    const char* refused = offer && hints ? info_cut(*offer, *hints, version) : nullptr;
    if (refused) {
      info(FI_LOG_CORE, fmt::format("{}: not offered: {}", offer->domain_attr->name, refused));
      refusal_note(refused, reason);
      fi_freeinfo(offer);
      continue;
    }
    if (!offer || !ends_fill(*offer, *place.board, ends)) {
      fi_freeinfo(offer);
      fi_freeinfo(*found);
      *found = nullptr;
      return -FI_ENOMEM;
    }
    if (!hints && FI_VERSION_LT(version, FI_VERSION(1, 5))) offer->domain_attr->mr_mode = FI_MR_SCALABLE;
    *tail = offer;
    tail = &offer->next;
  }
  return *found ? 0 : -FI_ENODATA;
}

// Whether it is about an endpoint of another type, as utility providers ask on behalf of the application.
bool other_type(const fi_info* hints) {
  return hints && hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC && hints->ep_attr->type != FI_EP_RDM;
}

int answer(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
           const fi_info* hints, fi_info** found) {
  if (version > kInterface) {
    decline(
        fmt::format("the program asks for libfabric's interface {}.{}, of which this provider knows {}.{} "
                    "and older; use a newer Open-MX, or a program that asks for less",
                    FI_MAJOR(version), FI_MINOR(version), FI_MAJOR(kInterface), FI_MINOR(kInterface)),
        caller_of(hints, flags));
    return -FI_ENODATA;
  }
  const auto process = runtime_of_process();
  if (!process) {
    decline(process.error().message, caller_of(hints, flags));
    return -FI_ENODATA;
  }
  if (const std::string why = obstacle((*process)->boards()); !why.empty()) {
    decline(why, caller_of(hints, flags));
    return -FI_ENODATA;
  }
  const std::vector<Place> places = places_of(**process);
  if (places.empty()) {
    decline(nothing_up(**process), caller_of(hints, flags));
    return -FI_ENODATA;
  }
  Ends ends;
  if (const std::string why = ends_find(**process, node, service, flags, hints, ends); !why.empty()) {
    decline_request("offers nothing for this request: " + why, caller_of(hints, flags));
    return -FI_ENODATA;
  }
  const char* reason = nullptr;
  const int status = offers_collect(places, version, hints, ends, found, reason);
  if (status == -FI_ENODATA && reason)
    decline_request(fmt::format("offers nothing for these hints, as it cannot meet {}; \"fi_info -p omx -v\" "
                                "shows what it has",
                                reason),
                    caller_of(hints, flags));
  if (status == 0 && hints && hints->caps) request_served();
  return status;
}

}  // namespace

int getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
            const fi_info* hints, fi_info** found) {
  return fenced([&] {
    *found = nullptr;
    if (other_type(hints)) {
      const std::string why = "not offered: ep_attr->type (FI_EP_RDM is)";
      const bool itself = hints->fabric_attr && hints->fabric_attr->prov_name;
      decline_request(why, itself ? caller_of(hints, flags) : Caller::looks_around);
      return -FI_ENODATA;
    }
    return answer(version, node, service, flags, hints, found);
  });
}

}  // namespace omx::fabric

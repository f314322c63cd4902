// SPDX-License-Identifier: BSD-3-Clause
// libfabric calls fi_getinfo four times for each call of the application (docs/spec/libfabric.md 1.4), so it
// must be cheap and leave nothing behind.
#include "libfabric/info.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "libfabric/capabilities.h"
#include "libfabric/decline.h"
#include "libfabric/fence.h"
#include "libfabric/info_board.h"
#include "libfabric/info_ends.h"
#include "libfabric/info_hints.h"
#include "libfabric/provider.h"
#include "libfabric/runtime_process.h"
#include "libfabric/versions.h"

namespace omx::fabric {

namespace {

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using InfoPointer = std::unique_ptr<fi_info, FreeInfo>;

// Returns an error that opening an endpoint would have, so that it is known now (docs/spec/libfabric.md 6.8).
std::string obstacle(const std::vector<runtime::Board>& boards) {
  static std::atomic<bool> possible{false};  // a try takes 20 ms, and programs ask many times
  if (boards_by_udp(boards) || boards_granted(boards) || possible.load(std::memory_order_relaxed)) return {};
  const int error = runtime::frames_possible();
  if (error == 0) {
    possible.store(true, std::memory_order_relaxed);
    return {};
  }
  if (error == EPERM || error == EACCES) {
    return "no permission to send Ethernet frames: run as root or give the program CAP_NET_RAW (setcap "
           "cap_net_raw+ep PROGRAM, or --cap-add NET_RAW for a container), or start the broker (systemctl "
           "start omxd.socket), or set OMX_LINK=udp";
  }
  return fmt::format("no packet socket: {}", std::strerror(error));
}

// A board, or all of them together.
struct Place {
  const runtime::Board* board;
  bool all;
  const char* name() const { return all ? kAllBoards : board->interface.name.c_str(); }
};

std::vector<Place> places_of(const runtime::Process& process) {
  std::vector<Place> places;
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.up) places.push_back({&board, false});
  }
  if (const runtime::Board* first = board_of_all(process)) places.push_back({first, true});
  return places;
}

// Returns why the place is not offered to a program that did not choose. nullptr: it is offered. MPI
// libraries give the interfaces to the ranks of a host in turn, and ranks in two networks do not reach each
// other.
const char* unmeant(const Place& place, const Place& first, const std::vector<link::HostAddress>& own) {
  if (place.all) return "domain_attr->name (the domain of all interfaces must be named)";
  if (place.board == first.board || runtime::boards_share_network(*place.board, *first.board, own))
    return nullptr;
  return "domain_attr->name (it shares no IP network with the first one; name it, or set FI_OMX_IFACE)";
}

// Returns whether the interface was chosen: by the user's settings, or by a name or an address of the caller.
// A caller that asks for no capability only lists what there is, and sees all.
bool place_chosen(const runtime::Settings& settings, const fi_info* hints, const Ends& ends) {
  if (!settings.interfaces.empty() || !hints || !hints->caps) return true;
  if (hints->domain_attr && hints->domain_attr->name) return true;
  return ends.way || (ends.source && ends.source->nic != 0);
}

std::string nothing_up(const runtime::Process& process) {
  std::string names;
  for (const runtime::Board& board : process.boards())
    names += (names.empty() ? "" : ", ") + board.interface.name;
  return fmt::format("no interface is up ({}); bring one up with \"ip link set dev NAME up\"", names);
}

// Returns the offer of a place. nullptr: no memory.
fi_info* place_info(const Place& place) {
  fi_info* offer = info_of_board(*place.board);
  if (!offer || !place.all) return offer;
  std::free(offer->domain_attr->name);
  offer->domain_attr->name = ::strdup(kAllBoards);
  if (offer->domain_attr->name) return offer;
  fi_freeinfo(offer);
  return nullptr;
}

// Notes why a place is not offered. What an interface lacks that was asked for says more than that others
// were not asked for.
void refusal_note(const char* refused, const char*& reason) {
  const bool other =
      reason && (std::strcmp(reason, kOtherDomain) == 0 || std::strcmp(reason, kOtherSource) == 0 ||
                 std::strcmp(reason, kOtherWay) == 0);
  if (!reason || other) reason = refused;
}

// Adds the place's offer to the list. Returns what is refused. nullptr: nothing.
const char* offer_add(const Place& place, std::uint32_t version, const fi_info& hints, std::uint32_t format,
                      const Ends& ends, std::vector<InfoPointer>& offers) {
  if (const char* refused = ends_refusal(*place.board, place.all, ends)) return refused;
  const std::uint32_t concrete = format_offered(*place.board, format);
  if (concrete == 0) return "addr_format (no such IP address of this interface carries messages)";
  InfoPointer offer(place_info(place));
  if (!offer) throw std::bad_alloc();
  offer->addr_format = concrete;
  if (const char* refused = info_cut(*offer, hints, version)) return refused;
  if (!ends_fill(*offer, *place.board, ends)) return "addr_format (no IP address of dest_addr is known)";
  offers.push_back(std::move(offer));
  return nullptr;
}

std::vector<InfoPointer> offers_collect(const std::vector<Place>& places, bool chosen, std::uint32_t version,
                                        const fi_info* hints, const Ends& ends, const char*& reason) {
  const fi_info none{};
  const auto own = chosen || places.size() == 1 ? std::vector<link::HostAddress>() : link::host_addresses();
  // A caller without hints sees everything. Addresses of sockets stand last, because programs take the first
  // offer.
  std::vector<std::uint32_t> formats = {hints ? hints->addr_format : std::uint32_t{FI_FORMAT_UNSPEC}};
  if (!hints) formats.insert(formats.end(), {FI_SOCKADDR_IN, FI_SOCKADDR_IN6});
  std::vector<InfoPointer> offers;
  for (const std::uint32_t format : formats) {
    for (const Place& place : places) {
      const char* refused = chosen ? nullptr : unmeant(place, places.front(), own);
      if (!refused) refused = offer_add(place, version, hints ? *hints : none, format, ends, offers);
      if (!refused) continue;
      info(FI_LOG_CORE, fmt::format("{}: not offered: {}", place.name(), refused));
      refusal_note(refused, reason);
    }
  }
  return offers;
}

// Returns the offers as fi_getinfo does. nullptr: there are none.
fi_info* offers_link(std::vector<InfoPointer> offers) {
  fi_info* first = nullptr;
  for (auto offer = offers.rbegin(); offer != offers.rend(); ++offer) {
    (*offer)->next = first;
    first = offer->release();
  }
  return first;
}

// Returns whether the hints are about an endpoint of another type. Utility providers ask so on behalf of the
// application.
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
  const auto ends = ends_find(**process, node, service, flags, hints);
  if (!ends) {
    decline_request("offers nothing for this request: " + ends.error(), caller_of(hints, flags));
    return -FI_ENODATA;
  }
  const char* reason = nullptr;
  const bool chosen = place_chosen((*process)->settings(), hints, *ends);
  *found = offers_link(offers_collect(places, chosen, version, hints, *ends, reason));
  if (!*found && reason)
    decline_request(fmt::format("offers nothing for these hints, as it cannot meet {}; \"fi_info -p omx -v\" "
                                "shows what it has",
                                reason),
                    reason == kAccelerators ? Caller::looks_around : caller_of(hints, flags));
  if (*found && hints && hints->caps) request_served();
  return *found ? 0 : -FI_ENODATA;
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

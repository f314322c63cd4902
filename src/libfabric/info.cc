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

#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

// Whether the caller asked for this very provider.
bool named(const fi_info* hints) {
  const auto has = [](const char* text) { return text && *text != '^' && std::strstr(text, "omx"); };
  return has(std::getenv("FI_PROVIDER")) ||
         (hints && hints->fabric_attr && has(hints->fabric_attr->prov_name));
}

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
std::optional<Address> node_find(runtime::Process& process, const char* node, bool own) {
  if (auto address = address_parse(node)) return address;
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.name == node || board.hostname == node) return Address{.nic = board.interface.nic};
  }
  if (own) return std::nullopt;
  const auto nic = process.nic_of(node);
  if (!nic) {
    info(FI_LOG_CORE, nic.error().message);
    return std::nullopt;
  }
  return Address{.nic = *nic};
}

// False: they name nothing that we know.
bool ends_find(runtime::Process& process, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, Ends& ends) {
  if (hints && hints->src_addr) {
    ends.source = address_read(hints->src_addr, hints->src_addrlen, hints->addr_format);
    if (!ends.source) return false;
  }
  if (hints && hints->dest_addr && !node) {
    ends.destination = address_read(hints->dest_addr, hints->dest_addrlen, hints->addr_format);
    if (!ends.destination) return false;
  }
  const bool own = flags & FI_SOURCE;
  std::optional<std::uint16_t> id;
  if (service && !(id = endpoint_parse(service)) && (node || !own)) return false;
  if (node) {
    auto address = node_find(process, node, own);
    if (!address) return false;
    if (id) address->endpoint = *id;
    if (!own && address->endpoint == kAnyId) address->endpoint = 0;
    (own ? ends.source : ends.destination) = address;
  } else if (own && id) {
    if (!ends.source) ends.source = Address{};
    ends.source->endpoint = *id;
  }
  return true;
}

// False: the source is another board's, or there is no memory.
bool ends_fill(fi_info& offer, const runtime::Board& board, const Ends& ends) {
  Address source = ends.source.value_or(Address{});
  if (source.nic != 0 && source.nic != board.interface.nic) return false;
  source.nic = board.interface.nic;
  offer.src_addr = address_new(source, offer.addr_format, offer.src_addrlen);
  if (ends.destination)
    offer.dest_addr = address_new(*ends.destination, offer.addr_format, offer.dest_addrlen);
  return offer.src_addr && (offer.dest_addr || !ends.destination);
}

int offers_collect(runtime::Process& process, std::uint32_t version, const fi_info* hints, const Ends& ends,
                   fi_info** found) {
  fi_info** tail = found;
  std::vector<std::pair<const runtime::Board*, bool>> places;  // whether with all others
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.up) places.emplace_back(&board, false);
  }
  if (const runtime::Board* first = board_of_all(process)) places.emplace_back(first, true);
  for (const auto& [place, all] : places) {
    const runtime::Board& board = *place;
    fi_info* offer = info_of_board(board);
    if (offer && all) {
      std::free(offer->domain_attr->name);
      offer->domain_attr->name = ::strdup(kAllBoards);
    }
    if (!offer || !offer->domain_attr->name) {
      fi_freeinfo(offer);
      fi_freeinfo(*found);
      *found = nullptr;
      return -FI_ENOMEM;
    }
    const char* refused = hints ? info_cut(*offer, *hints, version) : nullptr;
    if (refused) info(FI_LOG_CORE, fmt::format("{}: not offered: {}", offer->domain_attr->name, refused));
    if (refused || !ends_fill(*offer, board, ends)) {
      fi_freeinfo(offer);
      continue;
    }
    if (!hints && FI_VERSION_LT(version, FI_VERSION(1, 5))) offer->domain_attr->mr_mode = FI_MR_SCALABLE;
    *tail = offer;
    tail = &offer->next;
  }
  return *found ? 0 : -FI_ENODATA;
}

}  // namespace

int getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
            const fi_info* hints, fi_info** found) {
  return fenced([&] {
    *found = nullptr;
    // What utility providers ask on behalf of the application.
    if (hints && hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC && hints->ep_attr->type != FI_EP_RDM)
      return -FI_ENODATA;
    const auto process = runtime_of_process();
    if (!process) {
      decline(process.error().message, named(hints));
      return -FI_ENODATA;
    }
    if (const std::string why = obstacle((*process)->boards()); !why.empty()) {
      decline(why, named(hints));
      return -FI_ENODATA;
    }
    Ends ends;
    if (!ends_find(**process, node, service, flags, hints, ends)) return -FI_ENODATA;
    return offers_collect(**process, version, hints, ends, found);
  });
}

}  // namespace omx::fabric

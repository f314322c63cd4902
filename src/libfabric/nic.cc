// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/nic.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "libfabric/object_calls.h"

namespace omx::fabric {

namespace {

struct Nic : fid_nic {
  explicit Nic(const runtime::Board& b);
  runtime::Board board;
  fi_device_attr device{};
  fi_bus_attr bus{};
  fi_link_attr link{};
  std::string address;
};

Nic& nic_of(const fid* object) {
  return *static_cast<Nic*>(reinterpret_cast<fid_nic*>(const_cast<fid*>(object)));
}

int nic_close(fid* object) {
  delete &nic_of(object);
  return 0;
}

int nic_control(fid* object, int command, void* argument) {
  if (command != FI_DUP) return -FI_ENOSYS;
  fid_nic* copy = nic_of_board(nic_of(object).board);
  if (!copy) return -FI_ENOMEM;
  *static_cast<fid_nic**>(argument) = copy;
  return 0;
}

// Appends the text. libfabric describes the rest of an fi_info in the same buffer.
int nic_text(const fid* object, char* out, std::size_t length) {
  const Nic& nic = nic_of(object);
  const link::Interface& i = nic.board.interface;
  const auto or_none = [](const std::string& text) { return text.empty() ? "(null)" : text.c_str(); };
  const std::string text = fmt::format(
      "    nic:\n        fi_device_attr:\n            name: {}\n            driver: {}\n            kind: "
      "{}\n"
      "            numa_node: {}\n        fi_bus_attr:\n            pci: {}\n        fi_link_attr:\n"
      "            address: {}\n            mtu: {}\n            speed: {}\n            state: {}\n"
      "            network_type: {}\n",
      or_none(i.name), or_none(i.driver), or_none(i.kind), i.numa_node, or_none(i.pci_address), nic.address,
      nic.link.mtu, nic.link.speed, nic.link.state == FI_LINK_UP ? "FI_LINK_UP" : "FI_LINK_DOWN",
      nic.link.network_type);
  const std::size_t used = ::strnlen(out, length);
  return std::snprintf(out + used, length - used, "%s", text.c_str());
}

const fi_ops kNicOps = {sizeof(fi_ops), nic_close, no_bind, nic_control, no_ops_open, nic_text, nullptr};

char* text_of(std::string& text) {
  return text.empty() ? nullptr : text.data();
}

Nic::Nic(const runtime::Board& b) : fid_nic{}, board(b), address(mac_format(b.interface.nic)) {
  static char kNetwork[] = "Ethernet";
  fid.fclass = FI_CLASS_NIC;
  fid.ops = table(kNicOps);
  link::Interface& i = board.interface;
  device.name = text_of(i.name);
  device.driver = text_of(i.driver);
  unsigned domain_id = 0, bus_id = 0, device_id = 0, function = 0;
  if (std::sscanf(i.pci_address.c_str(), "%x:%x:%x.%x", &domain_id, &bus_id, &device_id, &function) == 4) {
    bus.bus_type = FI_BUS_PCI;
    bus.attr.pci = {static_cast<std::uint16_t>(domain_id), static_cast<std::uint8_t>(bus_id),
                    static_cast<std::uint8_t>(device_id), static_cast<std::uint8_t>(function)};
  }
  link.address = text_of(address);
  link.mtu = i.mtu;
  link.speed = i.speed_mbps > 0 ? static_cast<std::size_t>(i.speed_mbps) * 1'000'000 : 0;
  link.state = i.up && i.running ? FI_LINK_UP : FI_LINK_DOWN;
  link.network_type = kNetwork;
  device_attr = &device;
  bus_attr = &bus;
  link_attr = &link;
}

}  // namespace

fid_nic* nic_of_board(const runtime::Board& board) {
  return new (std::nothrow) Nic(board);
}

}  // namespace omx::fabric

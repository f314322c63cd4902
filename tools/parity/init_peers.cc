// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/init_peers.h"

#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_environment.h"
#include "runtime/board/peer_table.h"
#include "tools/parity/parity.h"
#include "tools/parity/peers_file.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_init_peers";
constexpr int kMxFailure = 2;

int usage() {
  fmt::print(
      stderr,
      "omx_init_peers [options]\nomx_init_peers [options] FILE\nomx_init_peers [options] MAC NAME\n"
      " -a\tadd to the peers that are known (default)\n -c\tforget all remote peers first\n"
      " -d\tmark the table as configured: no effect, it always is\n -v\tsay also what stays\n -h\tthis text\n"
      "Peers are kept in OMX_PEERS_FILE (/etc/open-mx/peers); FILE has lines MAC NAME.\n");
  return kParityFailed;
}

Result<std::vector<runtime::Peer>> peers_given(int count, char** arguments) {
  if (count == 0) return std::vector<runtime::Peer>{};
  if (count == 2)
    return runtime::peers_parse(fmt::format("{} {}", arguments[0], arguments[1]), "the command line");
  const auto text = text_file_read(arguments[0]);
  if (!text) {
    return fail(kMxFailure, fmt::format("cannot read {}: {}", shown(arguments[0], kPathShown),
                                        text_file_error(text.error())));
  }
  return runtime::peers_parse(*text, arguments[0]);
}

int failure_tell(const Failure& failure) {
  parity_failed(kName, "{}", failure.message);
  return failure.mx_code ? failure.mx_code : kMxFailure;
}

struct Options {
  bool clear = false, mark = false, verbose = false;
};

void peer_set(PeersFile& file, const runtime::Peer& peer, bool verbose) {
  const std::string before = file.name_of(peer.nic), mac = mac_format(peer.nic);
  if (before.empty()) {
    fmt::print("Added peer {} {}\n", mac, peer.name);
  } else if (before != peer.name) {
    fmt::print("Renamed peer {} from {} to {}\n", mac, before, peer.name);
  } else if (verbose) {
    fmt::print("Kept peer {} {}\n", mac, peer.name);
  }
  file.set(peer.nic, peer.name);
}

int run(const Options& options, int count, char** arguments) {
  const auto settings = runtime::settings_load();
  if (!settings) return failure_tell(settings.error());
  const auto peers = peers_given(count, arguments);
  if (!peers) return failure_tell(peers.error());
  auto file = PeersFile::load(*settings);
  if (!file) return failure_tell(file.error());
  if (options.clear) {
    std::vector<NicId> own;
    for (const link::Interface& i : link::interfaces_list()) own.push_back(i.nic);
    fmt::print("Cleared {} remote peers\n", file->keep_only(own));
  }
  for (const runtime::Peer& peer : *peers) peer_set(*file, peer, options.verbose);
  if (options.clear || !peers->empty()) {
    if (const auto saved = file->save(); !saved) return failure_tell(saved.error());
  }
  if (options.mark) fmt::print("Peer table is ready, as always: there is no mapper to wait for\n");
  return 0;
}

}  // namespace

int parity_init_peers(int argc, char** argv) {
  Options options;
  for (int option; (option = parity_option(kName, argc, argv, "acdvh")) != -1;) {
    if (option == 'c') {
      options.clear = true;
    } else if (option == 'a') {
      options.clear = false;
    } else if (option == 'd') {
      options.mark = true;
    } else if (option == 'v') {
      options.verbose = true;
    } else {
      return usage();
    }
  }
  if (argc - optind > 2) return usage();
  return run(options, argc - optind, argv + optind);
}

}  // namespace omx::tools

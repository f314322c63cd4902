// SPDX-License-Identifier: BSD-3-Clause
// Writes the seeds: settings_make_corpus FOLDER. A letter for the parser, then its text.
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

struct Seed {
  const char* name;
  const char* text;
};

constexpr Seed kSeeds[] = {
    {"file",
     "f# all kinds\nwire_mode = mxoe\nspin_us = 7\nunexp_bytes = 64M\npeer_timeout_ms = 0\nresends_max = "
     "1000\n"
     "interfaces=eth0,eth1\r\nverbose_prefix = \"# %H[0-3] \"\nctxids = 8,56\nany_endpoint = any\n"},
    {"file_numbers",
     "frndv_threshold = 1G\nring_bytes = 65536\nsend_buffer_bytes = 0\nmedium_sendq = 1\nverbose = 2\n"},
    {"file_texts",
     "fhostname = node1\npeers_file = /tmp/peers\npeers = 02:00:00:00:00:01 a:0\nfatal_errors = off\n"},
    {"file_twice", "fspin_us = 3\nspin_us = 4\n"},
    {"file_unknown", "fOMX_SPIN_US = 3\n"},
    {"file_no_value", "fwire_mode mxoe\n"},
    {"environment",
     "eOMX_WIRE_MODE=omx\nMX_IMM_ACK=3\nMX_MAX_RETRIES=5\nMX_ZOMBIE=7\nMX_VERBOSE=1\nOMX_CTXIDS=16,48\nOMX_"
     "TYPO=1\n"},
    {"environment_alias",
     "eOMX_IGNORE_MX_ENV=0\nMX_DISABLE_SHMEM=yes\nMX_ZOMBIE_SEND=\nMX_ERRORS_ARE_FATAL=maybe\n"},
    {"environment_bad", "eOMX_SPIN_US=soon\nOMX_TEST_X=1\n"},
    {"prefix", "x%H/%B(%b)#%e@%p 100%% %H[0-1]%B[3-9]!"},
    {"prefix_short", "x1"},
    {"prefix_bad", "x%H[2-1]"},
    {"peers", "p# cluster\n02:00:00:00:00:01 node1:0\n02-00-00-00-00-02\tnode2:0 # second\n\n"},
    {"peers_bad", "p02:00:00:00:00:01 a:0\n02:00:00:00:00:01 b:0\n"},
    {"peers_name", "p02:00:00:00:00:01 a:0 b\n"},
    {"interfaces", "ieth0, br0"},
    {"interfaces_all", "iall"},
    {"interfaces_unknown", "ieth7"},
    {"interfaces_mac", "i02:4f:4d:58:00:01"},
    {"interfaces_network", "i10.77.0.0/16,fd4f::1"},
    {"interfaces_pci", "i0000:3b:00.0"},
    {"interfaces_speed", "ispeed>=10g,speed=25000"},
    {"interfaces_malformed", "i10.77.0.0/33"},
    {"rails_all", "rall"},
    {"rails_names", "reth0, eth1"},
    {"rails_words", "rspeed>=10g 02:4f:4d:58:00:02"},
    {"rails_loopback", "rlo,eth0"},
    {"rails_unknown", "reth7"},
    {"mac", "m02:00:0a:BC:de:f0"},
    {"bindings",
     "b# comment\nboard 02:00:00:00:00:01 ep 0 irq 45 mask 00000004\nboard 02:00:00:00:00:01 ep 255 irq - "
     "mask 1,00000002\n"},
    {"bindings_bad", "bboard 02:00:00:00:00:01 ep 256 irq 45 mask 0\n"},
    {"file_binding", "fprocess_binding = 4,0-2\n"},
    {"environment_binding", "eOMX_PROCESS_BINDING=file:/etc/open-mx/bindings\n"},
    {"environment_binding_all", "eOMX_PROCESS_BINDING=all:7\n"},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: settings_make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const Seed& seed : kSeeds)
    std::ofstream(folder / (std::string(seed.name) + ".txt"), std::ios::binary) << seed.text;
  return 0;
}

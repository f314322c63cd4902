// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/cmd_bugreport.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_name.h"
#include "base/own_fd.h"
#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_environment.h"
#include "runtime/board/peer_table.h"
#include "tools/bugreport/command_sections.h"
#include "tools/bugreport/keyed_hash.h"
#include "tools/bugreport/pseudonyms.h"
#include "tools/bugreport/report_facts.h"
#include "tools/info/host_facts.h"

namespace omx::tools {

namespace {

constexpr std::size_t kTableMost = 64 << 20;
constexpr uid_t kUserFirst = 1000;  // as in /etc/login.defs

struct BugreportOptions {
  std::string file = "-";
  std::string key_file;
  bool names = false;
};

constexpr const char* kMasked =
    "Replaced are MAC addresses and IP addresses, the names of this host, of hosts in /etc/hosts and of "
    "peers,\n"
    "and the names of this user and of users with open endpoints. Other names stay. Reports with the same\n"
    "key (--key) have the same replacements. omx bugreport --names leaves names and addresses.\n";
constexpr const char* kNamed =
    "Names of hosts and users, MAC addresses and IP addresses are in it (--names).\n";

std::string head(bool names) {
  return fmt::format(
      "Report of omx bugreport\n\n"
      "It holds: version and build, system, interfaces and drivers, omx info, settings that differ from\n"
      "their default, variables of Open-MX, MX and libfabric, omx check, counters, what the processes of\n"
      "this user wait for (omx dump), libfabric's providers, the version of mpirun, lines of the kernel's\n"
      "log about interfaces and ended processes, and the end of the log file.\n"
      "It does not hold: other variables, match information, contents of messages.\n{}"
      "Read it before you send it.\n",
      names ? kNamed : kMasked);
}

// Returns the processes that have an endpoint open.
std::vector<runtime::ClaimHolder> holders(const HostFacts& host) {
  std::vector<runtime::ClaimHolder> all;
  if (!host.process) return all;
  for (const runtime::Board& board : host.process->boards()) {
    for (const OpenEndpoint& open : endpoints_open(board, host.settings)) all.push_back(open.holder);
  }
  return all;
}

// Returns the processes of this user among them, each once.
std::set<pid_t> own_processes(const std::vector<runtime::ClaimHolder>& all) {
  std::set<pid_t> pids;
  for (const runtime::ClaimHolder& holder : all) {
    if (holder.pid > 0 && holder.uid == ::geteuid()) pids.insert(holder.pid);
  }
  return pids;
}

// Leaves users of the system alone, whose names are words of many sentences.
void user_add(Pseudonyms& pseudonyms, const passwd* user) {
  if (!user || user->pw_uid < kUserFirst) return;
  pseudonyms.add_folder(user->pw_dir, "~");
  pseudonyms.add_user(user->pw_name);
}

// Adds the hosts of the tables, whose lines may be malformed: then no process could be made.
void hosts_add(Pseudonyms& pseudonyms) {
  const char* const file = std::getenv("OMX_PEERS_FILE");
  const char* const listed = std::getenv("OMX_PEERS");
  std::string tables = listed ? listed : "";
  std::replace(tables.begin(), tables.end(), ',', '\n');
  for (const std::string& path :
       {std::string(file ? file : runtime::kDefaultPeersFile), std::string("/etc/hosts")})
    tables += '\n' + text_file_read(path, kTableMost).value_or("");
  for (const std::string& name : words_in_table(tables)) pseudonyms.add_host(name);
  pseudonyms.add_host(host_name(""));
}

std::string masked(const std::string& text, const HashKey& key, const HostFacts* host,
                   const std::vector<runtime::ClaimHolder>& all) {
  Pseudonyms pseudonyms(key);
  hosts_add(pseudonyms);
  if (host && host->process) {
    for (const runtime::Peer& peer : host->process->peers().all()) pseudonyms.add_host(peer.name);
  }
  user_add(pseudonyms, ::getpwuid(::getuid()));
  if (const char* const before = std::getenv("SUDO_USER")) user_add(pseudonyms, ::getpwnam(before));
  for (const runtime::ClaimHolder& holder : all) user_add(pseudonyms, ::getpwuid(holder.uid));
  return pseudonyms.mask(text);
}

// Returns the key of the words in the file of --key, or why there is none. A word in the command line would
// be seen by all users of the host (ps).
Expected<HashKey, std::string> key_read(const std::string& file) {
  const std::string name = shown(file, kPathShown);
  const auto text = text_file_read(file);
  if (!text) return tl::unexpected(fmt::format("cannot read {}: {}", name, text_file_error(text.error())));
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t begin = text->find_first_not_of(kSpace), end = text->find_last_not_of(kSpace);
  if (begin == std::string::npos)
    return tl::unexpected(fmt::format("{} is empty; write a secret word into it", name));
  return hash_key_of(std::string_view(*text).substr(begin, end + 1 - begin));
}

std::string report_text(bool names, const HashKey& key) {
  const CommandSections commands;
  std::string text = section("build", build_facts());
  text += section("system", system_facts());
  text += section("interfaces", interface_facts());
  text += section("environment", environment_facts());
  const auto settings = runtime::settings_load();
  text += section("settings that differ from their default",
                  settings ? settings_facts(*settings) : settings.error().message);
  // Lines of the report's own commands belong into the report, and would displace those of the programs.
  const std::string log = settings ? log_file_facts(*settings) : "";
  if (settings && !settings->log_file.empty()) ::setenv("OMX_LOG_FILE", "", 1);
  const auto host = host_facts_find();
  const auto all = host ? holders(*host) : std::vector<runtime::ClaimHolder>{};
  text += commands.own({"info"});
  text += commands.own({"info", "--json"});
  text += commands.own({"check"});
  text += commands.own({"counters"});
  for (const pid_t pid : own_processes(all)) text += commands.own({"dump", std::to_string(pid)});
  text += commands.run({"fi_info", "--version"});
  text += commands.run({"fi_info", "--list"});
  text += commands.run({"mpirun", "--version"});
  text += section("kernel's log", kernel_log_facts());
  text += section("log file", log);
  text = without_match_info(text);
  if (names) return head(true) + text;
  return head(false) + masked(text, key, host ? &*host : nullptr, all);
}

// Writes the whole text. Returns an error number.
int text_write(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Writes the report into a new file that only this user can read. Returns an error number.
int file_write(const std::string& file, const std::string& text) {
  const OwnFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.open()) return errno;
  const int error = text_write(fd.get(), text);
  if (error) ::unlink(file.c_str());  // half a report could be taken for a whole one
  return error;
}

int bugreport_run(const BugreportOptions& options) {
  // The caller chooses what PATH finds, and would get the rights of the program's owner for it.
  if (::getuid() != ::geteuid() || ::getgid() != ::getegid())
    return failed("bugreport",
                  "it starts other programs, which must not get the rights of a setuid program; run a copy "
                  "of omx without them");
  const auto key = options.key_file.empty() ? Expected<HashKey, std::string>(hash_key_random())
                                            : key_read(options.key_file);
  if (!key) return failed("bugreport", "{}", key.error());
  const std::string text = report_text(options.names, *key);
  if (options.file == "-") {
    const int error = text_write(STDOUT_FILENO, text);
    return error ? failed("bugreport", "cannot write: {}", std::strerror(error)) : kOk;
  }
  if (const int error = file_write(options.file, text)) {
    return failed("bugreport", "cannot write {}: {}; name a new file, or - for the standard output",
                  shown(options.file, kPathShown), std::strerror(error));
  }
  fmt::print("{} has the report; read it before you send it\n", shown(options.file, kPathShown));
  return kOk;
}

}  // namespace

Command bugreport_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("bugreport", "collect what a report of a fault needs, in one text");
  auto options = std::make_shared<BugreportOptions>();
  app->add_option("file", options->file, "a new file (default: -, the standard output)");
  CLI::Option* key =
      app->add_option("--key", options->key_file,
                      "a file with a secret word; reports with the same word have the same replacements")
          ->check([](const std::string& file) { return file.empty() ? "it must not be empty" : ""; });
  app->add_flag("--names", options->names, "leave names of hosts and users, MAC and IP addresses in it")
      ->excludes(key);
  return {app, [options] { return bugreport_run(*options); }};
}

}  // namespace omx::tools

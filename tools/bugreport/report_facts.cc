// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/report_facts.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/log_file.h"
#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_rows.h"
#include "netdev/interfaces.h"

namespace omx::tools {

namespace {

constexpr std::size_t kKernelLines = 100;
constexpr std::size_t kLogLines = 200;
constexpr std::size_t kLogFiles = 4;
constexpr std::size_t kLogFileMost = 64 << 20;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string first_line_with(const std::string& path, std::string_view beginning) {
  const auto text = text_file_read(path);
  if (!text) return fmt::format("{}: {}\n", path, text_file_error(text.error()));
  for (const std::string& line : lines_of(*text)) {
    if (line.starts_with(beginning)) return line + '\n';
  }
  return {};
}

std::string entry(const std::string& path) {
  const auto line = line_read(path);
  return line ? *line : std::string("?");
}

std::string driver_of(const std::string& folder) {
  std::error_code error;
  const auto driver = std::filesystem::read_symlink(folder + "/device/driver", error);
  return error ? std::string("none") : driver.filename().string();
}

// Returns the kernel's log, or nothing with an error number.
std::string kernel_log(int& error) {
  constexpr int kReadAll = 3, kSize = 10;
  const int size = ::klogctl(kSize, nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max(size, 0)), '\0');
  const int got = size < 0 ? -1 : ::klogctl(kReadAll, text.data(), size);
  error = got < 0 ? errno : 0;
  text.resize(static_cast<std::size_t>(std::max(got, 0)));
  return text;
}

std::vector<std::string> kernel_words() {
  std::vector<std::string> words{"segfault", "Out of memory", "oom-kill", "traps:", "idxd", "omx"};
  for (const link::Interface& interface : link::interfaces_list()) {
    if (interface.name == "lo") continue;
    words.push_back(interface.name);
    const std::string driver = driver_of("/sys/class/net/" + interface.name);
    if (driver != "none") words.push_back(driver);
  }
  return words;
}

// Returns the files of a pattern of OMX_LOG_FILE, those of all processes of this host, the newest last.
std::vector<std::string> log_files(const std::string& named) {
  std::string pattern;
  for (std::size_t at = 0; at < named.size(); at++) {
    // "%%" must not be taken for the beginning of "%%p".
    const std::string pair = named.substr(at, 2);
    if (pair == "%p")
      pattern += '*';
    else if (pair.size() == 2 && pair[0] == '%')
      pattern += pair;
    else
      pattern += named[at];
    if (pair.size() == 2 && pair[0] == '%') at++;
  }
  const auto name = log_file_name(pattern);
  if (!name) return {};
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(name->c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  const auto facts_of = [](const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? facts : decltype(facts){};
  };
  // The commands of the report itself make empty ones.
  std::erase_if(files, [&](const std::string& path) { return facts_of(path).st_size == 0; });
  std::stable_sort(files.begin(), files.end(), [&](const std::string& a, const std::string& b) {
    return facts_of(a).st_mtim.tv_sec < facts_of(b).st_mtim.tv_sec;
  });
  if (files.size() > kLogFiles) files.erase(files.begin(), files.end() - kLogFiles);
  return files;
}

}  // namespace

std::string build_facts() {
  return fmt::format("Open-MX {}\nbuilt as {} by {} {}\noptions: {}\n", OMX_VERSION, OMX_BUILD_TYPE,
                     OMX_COMPILER, __VERSION__, OMX_BUILD_OPTIONS);
}

std::string system_facts() {
  std::string text;
  utsname kernel{};
  if (::uname(&kernel) == 0)
    text += fmt::format("{} {} {} {}\n", kernel.sysname, kernel.release, kernel.version, kernel.machine);
  text += first_line_with("/etc/os-release", "PRETTY_NAME=");
  text += first_line_with("/proc/cpuinfo", "model name");
  text += fmt::format("processors: {}\n", ::sysconf(_SC_NPROCESSORS_ONLN));
  text += first_line_with("/proc/meminfo", "MemTotal");
  text += first_line_with("/proc/meminfo", "MemAvailable");
  text += first_line_with("/proc/self/limits", "Max open files");
  text += first_line_with("/proc/self/limits", "Max processes");
  text += first_line_with("/proc/self/limits", "Max locked memory");
  text += first_line_with("/proc/self/status", "CapEff");
  text += first_line_with("/proc/self/status", "Seccomp");
  text += first_line_with("/proc/self/status", "Cpus_allowed_list");
  text += fmt::format("kernel.yama.ptrace_scope = {}\n", entry("/proc/sys/kernel/yama/ptrace_scope"));
  return text + fmt::format("net.core.rmem_max = {}\n", entry("/proc/sys/net/core/rmem_max"));
}

std::string interface_facts() {
  std::string text;
  for (const link::Interface& interface : link::interfaces_list()) {
    const std::string folder = "/sys/class/net/" + interface.name;
    const std::string driver = driver_of(folder);
    text += fmt::format("{}: {}, MTU {}, speed {}, driver {} (version {})\n", interface.name,
                        entry(folder + "/operstate"), entry(folder + "/mtu"), entry(folder + "/speed"),
                        driver, entry("/sys/module/" + driver + "/version"));
  }
  return text;
}

std::string environment_facts() {
  std::string text;
  for (char** variable = environ; variable && *variable; variable++) {
    const std::string_view entry(*variable);
    for (const std::string_view prefix : {"OMX_", "MX_", "FI_"}) {
      if (entry.starts_with(prefix)) text += shown(entry, 1000) + '\n';
    }
  }
  return text.empty() ? "none is set\n" : text;
}

std::string kernel_log_facts() {
  int error = 0;
  const std::string log = kernel_log(error);
  if (error)
    return fmt::format("cannot be read: {} (kernel.dmesg_restrict); run this as root\n",
                       std::strerror(error));
  const std::vector<std::string> words = kernel_words();
  std::string text;
  for (const std::string& line : lines_of(log)) {
    const auto in_line = [&](const std::string& word) { return line.find(word) != std::string::npos; };
    if (std::any_of(words.begin(), words.end(), in_line)) text += line + '\n';
  }
  return last_lines(text, kKernelLines);
}

std::string log_file_facts(const runtime::Settings& settings) {
  if (settings.log_file.empty()) return "OMX_LOG_FILE is not set\n";
  std::string text;
  for (const std::string& file : log_files(settings.log_file)) {
    const auto content = text_file_read(file, kLogFileMost);
    text += fmt::format("{}:\n{}", file,
                        content ? last_lines(*content, kLogLines) : text_file_error(content.error()) + '\n');
  }
  return text.empty() ? "there is no such file\n" : text;
}

std::string settings_facts(const runtime::Settings& settings) {
  std::string text;
  for (const runtime::SettingRow& row : runtime::settings_rows(settings)) {
    if (row.origin != "default")
      text += fmt::format("{}={} (from: {})\n", row.variable, row.value, row.origin);
  }
  return text.empty() ? "all have their default\n" : text;
}

std::vector<std::string> words_in_table(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(text)) {
    const std::string content = line.substr(0, line.find('#'));
    for (const std::string_view word : words_of(content)) names.emplace_back(word);
  }
  return names;
}

std::string last_lines(const std::string& text, std::size_t most) {
  const std::vector<std::string> lines = lines_of(text);
  std::string result;
  for (std::size_t i = lines.size() > most ? lines.size() - most : 0; i < lines.size(); i++)
    result += lines[i] + '\n';
  return result;
}

}  // namespace omx::tools

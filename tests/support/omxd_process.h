// SPDX-License-Identifier: BSD-3-Clause
// The broker as a process of a test, with a folder of its own. Its mounts end with the test's process.
#pragma once

#include <sys/types.h>

#include <string>

namespace omx::broker {

class OmxdProcess {
 public:
  // `program` is the path of omxd.
  explicit OmxdProcess(std::string program) : program_(std::move(program)) {}
  ~OmxdProcess();  // kills the broker, and removes what it left
  OmxdProcess(const OmxdProcess&) = delete;
  OmxdProcess& operator=(const OmxdProcess&) = delete;

  // Starts the broker. Returns whether it serves; otherwise the log says why not.
  bool start(const std::string& policy);
  void policy_write(const std::string& policy) const;
  // Ends the broker with a signal. Returns its exit status, or minus the signal that ended it.
  int end(int signal);
  // Runs the program with these arguments. Returns its exit status.
  int run_once(const std::string& arguments) const;

  pid_t pid() const { return pid_; }
  std::string socket() const { return folder_ + "/run/broker"; }
  // Returns where the private network of an interface is mounted.
  std::string network(const std::string& interface) const { return folder_ + "/run/net/" + interface; }
  std::string log() const;
  bool log_says(const std::string& text) const { return log().find(text) != std::string::npos; }
  // Returns whether the log says that this machine cannot seal sockets.
  bool unable() const { return log_says("cgroup v2") || log_says("CONFIG_CGROUP_BPF"); }

 private:
  bool folder_make();
  pid_t launch(const std::string& arguments) const;

  std::string program_;
  std::string folder_;
  pid_t pid_ = -1;
};

// Takes CAP_NET_RAW from the calling thread and those that it starts. Returns whether that was possible.
bool net_raw_drop();

}  // namespace omx::broker

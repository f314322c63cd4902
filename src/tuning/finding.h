// SPDX-License-Identifier: BSD-3-Clause
// What facts mean for message passing, and what improves them. Pure functions of the facts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuning/facts.h"
#include "tuning/setting.h"

namespace omx::tuning {

enum class Verdict { ok, better, unknown };

// "ok", "could be better", "unknown".
std::string_view verdict_text(Verdict verdict);

struct Change {
  Setting setting;
  std::string former;
  std::string wanted;
};

struct Finding {
  explicit Finding(std::string about, std::string found = "unknown")
      : subject(std::move(about)), value(std::move(found)) {}

  std::string subject;
  std::string value;
  Verdict verdict = Verdict::unknown;
  std::string meaning;                // one sentence
  std::vector<std::string> commands;  // that improve it, by hand; empty when nothing is to be done
  std::vector<Change> changes;        // the same for `omx tune`, in this order; empty: only by hand
  std::vector<Setting> guards;        // what drivers may change along with it, and is to be given back too
};

// In the order in which the changes are to be made: what resets the interface first.
std::vector<Finding> interface_judge(const InterfaceFacts& facts, const HostFacts& host);
std::vector<Finding> host_judge(const HostFacts& facts);

// Parts of interface_judge.
Finding coalescing_judge(const InterfaceFacts& facts);
Finding deferral_judge(const InterfaceFacts& facts);
Finding suspension_judge(const InterfaceFacts& facts);
Finding interrupts_judge(const InterfaceFacts& facts, const HostFacts& host);
Finding channels_judge(const InterfaceFacts& facts, const HostFacts& host);
Finding rings_judge(const InterfaceFacts& facts);
Finding rps_judge(const InterfaceFacts& facts);
Finding xps_judge(const InterfaceFacts& facts, const HostFacts& host);

}  // namespace omx::tuning

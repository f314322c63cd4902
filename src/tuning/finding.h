// SPDX-License-Identifier: BSD-3-Clause
// What facts mean for message passing, and what improves them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace omx::tuning

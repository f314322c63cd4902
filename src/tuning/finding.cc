// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/finding.h"

namespace omx::tuning {

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::better:
      return "could be better";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

}  // namespace omx::tuning

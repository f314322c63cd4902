// SPDX-License-Identifier: BSD-3-Clause
// Every engine that the common tests are run with.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "copy/engine.h"

namespace omx::copy {

// An engine and what it needs around it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual CopyEngine& engine() = 0;
};

struct SubjectKind {
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
};
inline std::ostream& operator<<(std::ostream& out, const SubjectKind& kind) {
  return out << kind.name;
}

std::vector<SubjectKind> subject_kinds();

}  // namespace omx::copy

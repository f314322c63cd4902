// SPDX-License-Identifier: BSD-3-Clause
// Recognises the child of a fork without a system call. There an engine has neither its helper thread nor its
// device: the mapping is not inherited, and the kernel refuses other address spaces (copy-offload.md 4).
#pragma once

namespace omx::copy {

class ForkMark {
 public:
  ForkMark();
  // Whether a fork lies between the making of this object and now.
  bool forked() const;

 private:
  unsigned made_at_;
};

}  // namespace omx::copy

// SPDX-License-Identifier: BSD-3-Clause
// omx_hostname: shows or changes the name of a board. A new name goes into the peers file, which names our
// own boards as well as other hosts'.
#pragma once

namespace omx::tools {

int parity_hostname(int argc, char** argv);

}  // namespace omx::tools

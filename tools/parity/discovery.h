// SPDX-License-Identifier: BSD-3-Clause
// omxoed: the discovery daemon. Open-MX hosts like this one find each other without a daemon. Hosts of
// Open-MX 1.x and MX accept connections only from NICs that a daemon announced to them (docs/spec/wire.md
// 4.13), so this one announces ours. While no endpoint is open it also answers for the host's names and
// refuses connections.
#pragma once

namespace omx::tools {

int parity_discovery(int argc, char** argv);

}  // namespace omx::tools

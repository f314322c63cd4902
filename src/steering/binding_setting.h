// SPDX-License-Identifier: BSD-3-Clause
// OMX_PROCESS_BINDING: who says on which processor a thread that opens an endpoint runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx::steering {

enum class BindingMode : std::uint8_t { off, automatic, listed, file };

// Where Open-MX 1.x had it, too. Anybody may write there: see binding_file.h.
inline constexpr const char* kBindingFile = "/tmp/open-mx.bindings.dat";

struct BindingSetting {
  BindingMode mode = BindingMode::off;
  std::vector<int> processors;      // listed: of endpoint e, number e modulo their count
  std::string path = kBindingFile;  // file: which
};

// "off", "auto", "all:3", "0,2,4", "file" or "file:PATH"; nullopt: none of them.
std::optional<BindingSetting> binding_setting_parse(std::string_view text);
std::string binding_setting_text(const BindingSetting& setting);
inline constexpr const char* kBindingAccepted =
    "off, auto, all:N, processors like 0,2,4-7 (by endpoint number, modulo their count), file or file:PATH "
    "(omx "
    "prepare-binding writes one)";

}  // namespace omx::steering

// SPDX-License-Identifier: BSD-3-Clause
// OMX_PROCESS_BINDING: chooses the processor for a thread that opens an endpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx::steering {

enum class BindingMode : std::uint8_t { off, automatic, listed, file };

// Open-MX 1.x used this file, too. Any user may write to its folder: see binding_file.h.
inline constexpr const char* kBindingFile = "/tmp/open-mx.bindings.dat";

struct BindingSetting {
  BindingMode mode = BindingMode::off;
  std::vector<int> processors;      // listed: endpoint e runs on number e modulo their count
  std::string path = kBindingFile;  // file: its path
};

// Parses "off", "auto", "all:3", "0,2,4", "file" or "file:PATH". Returns nullopt for other text.
std::optional<BindingSetting> binding_setting_parse(std::string_view text);
std::string binding_setting_text(const BindingSetting& setting);
inline constexpr const char* kBindingAccepted =
    "off, auto, all:N, processors like 0,2,4-7 (by endpoint number, modulo their count), file or file:PATH "
    "(omx "
    "prepare-binding writes one)";

}  // namespace omx::steering

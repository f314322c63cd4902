// SPDX-License-Identifier: BSD-3-Clause
// Checks of the command lines of simulations. CLI11 takes -1 and too large numbers as unsigned ones.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace omx::bench {

constexpr int kUsage = 2;

// Returns a whole number, or nothing for any other text.
inline std::optional<std::uint64_t> whole_number_of(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || read != end) return std::nullopt;
  return value;
}

// Returns a check that accepts whole numbers of a range.
inline CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = whole_number_of(text);
        if (value && *value >= least && *value <= most) return {};
        return fmt::format("{} is not a whole number from {} to {}", text, least, most);
      },
      fmt::format("{{{}..{}}}", least, most));
}

// Returns the bytes of a size, which a unit may follow, or nothing for any other text.
inline std::optional<std::uint64_t> byte_size_of(std::string text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  try {
    if (!CLI::AsSizeValue(false)(text).empty()) return std::nullopt;
  } catch (const CLI::ValidationError&) {  // no such unit
    return std::nullopt;
  }
  return whole_number_of(text);
}

// Returns a transformation that accepts sizes of a range and makes numbers of bytes of them.
inline CLI::Validator byte_size(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = byte_size_of(text);
        if (!value || *value < least || *value > most)
          return fmt::format("{} is not a size from {} to {} bytes; K, M or G may follow", text, least, most);
        text = fmt::to_string(*value);
        return {};
      },
      "SIZE");
}

// Reads a command line. Returns the exit status if the program is to end now, after --help or wrong usage.
inline std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string problem = error.what();
    if (app.get_require_subcommand_min() > 0 && app.get_subcommands().empty()) {
      problem.clear();
      for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        problem += (problem.empty() ? "name a command: " : ", ") + command->get_name();
    }
    fmt::print(stderr, "{}: {}; --help shows what is accepted\n", app.get_name(), problem);
    return kUsage;
  }
}

}  // namespace omx::bench

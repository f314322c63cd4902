// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings_rows.h"

#include <utility>

#include "config/settings_table.h"

namespace omx::runtime {

std::vector<SettingRow> settings_rows(const Settings& settings) {
  std::vector<SettingRow> rows;
  const Settings defaults;
  for (std::size_t i = 0; i < tunables().size(); i++) {
    const Tunable& tunable = tunables()[i];
    SettingRow row{
        tunable.variable, tunable.aliases, tunable.help, tunable.print(settings), "", tunable.accepted(), ""};
    if (tunable.in_file) row.key = tunable_key(tunable.variable);
    if (i < settings.origins.size()) row.origin = settings.origins[i];
    // Two rows may set one field.
    const bool untouched = !tunable.in_file || row.value == tunable.print(defaults);
    if (row.origin.empty()) row.origin = untouched ? "default" : "another setting";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace omx::runtime

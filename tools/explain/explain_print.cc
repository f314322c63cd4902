// SPDX-License-Identifier: BSD-3-Clause
#include "tools/explain/explain_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

using messages::Entry;

constexpr std::size_t kColumns = 100;

// Returns the texts of an entry as people read them, with an ellipsis for what differs.
std::vector<std::string> texts_of(const Entry& entry) {
  std::vector<std::string> texts;
  for (std::string_view rest = entry.texts; !rest.empty();) {
    std::string text(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(text.size() + 1);
    for (std::size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at))
      text.replace(at, 2, "…");
    texts.push_back(std::move(text));
  }
  return texts;
}

// Returns the text in lines of at most kColumns, behind a label of the first one.
std::string paragraph(std::string_view label, std::string_view text) {
  std::string result, line(label);
  const std::string margin(label.size(), ' ');
  for (const std::string_view word : words_of(text)) {
    if (line.size() + 1 + word.size() > kColumns && line.size() > margin.size()) {
      result += line + '\n';
      line = margin;
    }
    line += ' ';
    line += word;
  }
  return result + line + '\n';
}

}  // namespace

std::string explain_list(const std::vector<const Entry*>& entries) {
  std::string text;
  for (const messages::Section* section : messages::sections()) {
    std::string lines;
    for (const Entry& entry : section->entries) {
      if (std::find(entries.begin(), entries.end(), &entry) != entries.end())
        lines += fmt::format("  {}  {}\n", entry_id(entry), entry.title);
    }
    if (!lines.empty()) text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", section->title, lines);
  }
  return text;
}

std::string explain_text(const Entry& entry) {
  std::string text = fmt::format("{}: {}\n\n", entry_id(entry), entry.title);
  text += paragraph("  meaning:", entry.meaning);
  text += paragraph("  causes: ", entry.causes);
  text += paragraph("  remedy: ", entry.remedy);
  text += "\nIt is printed as, or with:\n";
  for (const std::string& said : texts_of(entry)) text += paragraph(" ", said);
  return text;
}

std::string explain_json(const std::vector<const Entry*>& entries) {
  JsonWriter json;
  json.object([&] {
    json.array("messages", [&] {
      for (const Entry* entry : entries) {
        json.object([&] {
          json.field("id", entry_id(*entry));
          json.field("title", entry->title);
          json.field("meaning", entry->meaning);
          json.field("causes", entry->causes);
          json.field("remedy", entry->remedy);
          json.array("texts", [&] {
            for (const std::string& text : texts_of(*entry)) json.element(text);
          });
        });
      }
    });
  });
  return json.take();
}

std::string explain_markdown() {
  std::string text;
  for (const messages::Section* section : messages::sections()) {
    text += fmt::format("\n## {}\n", section->title);
    for (const Entry& entry : section->entries) {
      text += fmt::format("\n### {}: {}\n\n", entry_id(entry), entry.title);
      for (const std::string& said : texts_of(entry)) text += fmt::format("* `{}`\n", said);
      text += fmt::format("\n{} *Causes:* {} *Remedy:* {}\n", entry.meaning, entry.causes, entry.remedy);
    }
  }
  return text;
}

}  // namespace omx::tools

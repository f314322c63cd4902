// SPDX-License-Identifier: BSD-3-Clause
#include "tools/explain/cmd_explain.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "tools/explain/explain_find.h"
#include "tools/explain/explain_print.h"

namespace omx::tools {

namespace {

struct ExplainOptions {
  std::vector<std::string> words;
  bool json = false;
  bool markdown = false;
};

int explain_run(const ExplainOptions& options) {
  const std::string query = fmt::format("{}", fmt::join(options.words, " "));
  if (query.find_first_not_of(' ') == std::string::npos) {
    fmt::print("{}", options.json       ? explain_json(messages_all())
                     : options.markdown ? explain_markdown()
                                        : explain_list(messages_all()));
    return kOk;
  }
  if (options.markdown) {
    failed("explain", "--markdown writes all messages; leave out \"{}\"", shown(query));
    return kUsage;
  }
  const Explained found = explain_find(query);
  if (found.entries.empty()) {
    if (found.number > 0)
      return failed("explain", "there is no message E{}; omx explain lists all", found.number);
    return failed("explain", "no message has the words \"{}\"; give fewer, or omx explain lists all",
                  shown(query));
  }
  if (options.json) {
    fmt::print("{}", explain_json(found.entries));
  } else if (found.entries.size() == 1) {
    fmt::print("{}", explain_text(*found.entries.front()));
  } else {
    fmt::print("{}\nomx explain NUMBER explains one of them.\n", explain_list(found.entries));
  }
  return kOk;
}

}  // namespace

Command explain_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("explain", "what an error or a warning means, and what to do");
  auto options = std::make_shared<ExplainOptions>();
  app->add_option("message", options->words,
                  "its number (E401), words of it, or the line as printed (default: list all)");
  app->add_flag("--json", options->json, "print a JSON document");
  app->add_flag("--markdown", options->markdown, "print all messages as docs/reference/errors.md has them");
  return {app, [options] { return explain_run(*options); }};
}

}  // namespace omx::tools

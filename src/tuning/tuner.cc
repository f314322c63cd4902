// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "steering/interrupts.h"

namespace omx::tuning {

namespace {

class Applier {
 public:
  Applier(const Machine& machine, Ledger& ledger, const link::Interface* interface, const Report& report)
      : machine_(machine), ledger_(ledger), interface_(interface), report_(report) {}

  Result<void> finding(const Finding& finding) {
    bool guarded = false;
    for (const Change& change : finding.changes) {
      const auto former = setting_read(machine_, change.setting);
      if (!former) {
        refused(change.setting, fmt::format("cannot be read: {}", std::strerror(former.error())));
        continue;
      }
      if (*former == change.wanted) continue;
      if (!guarded) {
        if (auto saved = guards_save(finding.guards); !saved) return saved;
        guarded = true;
      }
      if (auto saved = save(change.setting, *former); !saved) return saved;
      write(change, *former);
    }
    return {};
  }

  const Applied& applied() const { return applied_; }

 private:
  Result<void> save(const Setting& setting, const std::string& former) {
    Saved saved{setting, 0, 0, former};
    if (interface_) {
      saved.index = interface_->index;
      saved.nic = interface_->nic;
    }
    return ledger_.add(saved);
  }

  Result<void> guards_save(const std::vector<Setting>& guards) {
    for (const Setting& guard : guards) {
      const auto former = setting_read(machine_, guard);
      if (!former) continue;  // a value that cannot be read was not set by choice
      if (auto saved = save(guard, *former); !saved) return saved;
    }
    return {};
  }

  void write(const Change& change, const std::string& former) {
    const int error = setting_write(machine_, change.setting, change.wanted);
    const auto now = setting_read(machine_, change.setting);
    if (error) {
      refused(change.setting, fmt::format("stays {}: {} is refused ({})", now.value_or(former), change.wanted,
                                          std::strerror(error)));
    } else if (now && *now == former) {
      refused(change.setting,
              fmt::format("stays {}: {} is accepted but not taken over", former, change.wanted));
    } else {
      applied_.changed++;
      const std::string result = now.value_or(change.wanted);
      report_(fmt::format("{}: {} -> {}{}", setting_text(change.setting), former, result,
                          result == change.wanted ? "" : fmt::format(" (asked for {})", change.wanted)));
    }
  }

  void refused(const Setting& setting, const std::string& why) {
    applied_.refused++;
    report_(fmt::format("{} {}", setting_text(setting), why));
  }

  const Machine& machine_;
  Ledger& ledger_;
  const link::Interface* interface_;
  const Report& report_;
  Applied applied_;
};

// A value that is being restored.
struct Return {
  Saved saved;
  Setting setting;   // with the interface's present name
  std::string gone;  // why the setting does not exist any more; empty: it exists
  std::string was;   // value before the restoration; empty: nothing had to be done
  int error = 0;
};

Return return_of(const Machine& machine, const Saved& saved, const std::vector<link::Interface>& interfaces) {
  Return r{saved, saved.setting, {}, {}, 0};
  if (saved.setting.kind == SettingKind::host_file) return r;
  const auto at = std::find_if(interfaces.begin(), interfaces.end(),
                               [&](const link::Interface& i) { return saved_of(saved, i); });
  if (at == interfaces.end()) {
    r.gone = "the interface is gone, and its settings with it";
    return r;
  }
  r.setting.interface = at->name;
  const bool needs_sysfs =
      saved.setting.kind == SettingKind::device_file || saved.setting.kind == SettingKind::irq;
  if (needs_sysfs && !steering::sysfs_shows(machine.root, *at)) {
    r.error = EXDEV;
    return r;
  }
  if (saved.setting.kind == SettingKind::napi) {
    const auto now = setting_read(machine, r.setting);
    if (!now && now.error() == ENOENT) r.gone = "the queue is gone, and its settings with it";
  }
  if (saved.setting.kind != SettingKind::irq) return r;
  const auto interrupts = steering::interrupts_read(machine.root, *at);
  if (std::none_of(interrupts.begin(), interrupts.end(),
                   [&](const steering::Interrupt& i) { return i.number == saved.setting.name; })) {
    r.gone = "the interface has other interrupts now";
  }
  return r;
}

void give_back(const Machine& machine, Return& r) {
  if (!r.gone.empty() || r.error == EXDEV) return;
  const auto now = setting_read(machine, r.setting);
  if (now && *now == r.saved.former) {
    r.error = 0;
    return;
  }
  if (r.was.empty()) r.was = now.value_or("unreadable");
  r.error = setting_write(machine, r.setting, r.saved.former);
}

std::string return_problem(const Machine& machine, const Return& r) {
  if (r.error == EXDEV) return "/sys shows another network namespace: mount the one of this namespace there";
  const auto now = setting_read(machine, r.setting);
  if (now && *now == r.saved.former) return {};
  if (r.error) return std::strerror(r.error);
  return now ? fmt::format("it is {} all the same", *now) : std::strerror(now.error());
}

}  // namespace

Result<Applied> tune_apply(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                           const std::vector<Finding>& findings, const Report& report) {
  Applier applier(machine, ledger, interface, report);
  for (const Finding& finding : findings) {
    if (auto done = applier.finding(finding); !done) return tl::unexpected(done.error());
  }
  return applier.applied();
}

Result<Undone> tune_undo(const Machine& machine, Ledger& ledger, const Report& report, const Chosen& chosen) {
  const auto interfaces = machine.interfaces();
  std::vector<Return> returns;
  std::vector<Saved> rest;
  for (const Saved& saved : ledger.saved())
    if (chosen && !chosen(saved)) rest.push_back(saved);
  const auto others = static_cast<std::ptrdiff_t>(rest.size());
  for (auto saved = ledger.saved().rbegin(); saved != ledger.saved().rend(); ++saved) {
    if (!chosen || chosen(*saved)) returns.push_back(return_of(machine, *saved, interfaces));
  }
  // Run twice, because restoring one value may change another one that was right already.
  for (int pass = 0; pass < 2; pass++) {
    for (Return& r : returns) give_back(machine, r);
  }
  Undone undone;
  for (const Return& r : returns) {
    const std::string text = setting_text(r.setting);
    if (!r.gone.empty()) {
      undone.gone++;
      report(fmt::format("{}: {}", text, r.gone));
    } else if (const std::string problem = return_problem(machine, r); !problem.empty()) {
      undone.failed++;
      report(fmt::format("{} cannot be given back its value {}: {}", text, r.saved.former, problem));
      rest.insert(rest.begin() + others, r.saved);
    } else if (!r.was.empty()) {
      undone.restored++;
      report(fmt::format("{}: {} -> {}", text, r.was, r.saved.former));
    }
  }
  if (auto kept = ledger.keep(rest); !kept) return tl::unexpected(kept.error());
  return undone;
}

}  // namespace omx::tuning

#include "boot/arm.h"

#include <fmt/format.h>

#include <optional>

#include "base/sha256.h"
#include "base/text.h"
#include "boot/relation.h"
#include "boot/words.h"

namespace bk::boot {
namespace {

bool is_knob_name(std::string_view name) {
  if (name.empty() || name[0] < 'A' || name[0] > 'Z') return false;
  for (const char c : name) {
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

/// Fills a template word by word, so that a value never becomes several arguments.
Status append_words(const std::string& text,
                    const std::function<std::optional<std::string>(const std::string&)>& lookup,
                    std::vector<std::string>& argv) {
  BK_ASSIGN(const auto words, split_words(text));
  for (const std::string& word : words) {
    BK_ASSIGN(std::string filled, fill(word, lookup));
    argv.push_back(std::move(filled));
  }
  return {};
}

}  // namespace

Result<KnobMap> parse_knobs(std::string_view text) {
  KnobMap knobs;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t equals = piece.find('=');
    const std::string_view name = trim(piece.substr(0, equals));
    if (equals == std::string_view::npos || !is_knob_name(name)) {
      return fail(Errc::kUsage, fmt::format("'{}' is no KNOB=VALUE; several are separated by commas", piece),
                  std::string(text));
    }
    if (!knobs.emplace(name, trim(piece.substr(equals + 1))).second) {
      return fail(Errc::kUsage, fmt::format("{} is given twice", name), std::string(text));
    }
  }
  return knobs;
}

std::string format_knobs(const KnobMap& knobs) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : knobs) parts.push_back(name + "=" + value);
  return join(parts, ",");
}

Result<Arm> make_arm(const Profile& profile, const std::string& label, const KnobMap& set) {
  Arm arm{label, set, {}};
  for (const Knob& knob : profile.knobs) arm.resolved[knob.name] = knob.value;
  for (const auto& [name, value] : set) {
    const Knob* knob = profile.find(name);
    if (knob == nullptr) {
      const auto near = nearest(name, profile.knob_names());
      return fail(Errc::kUsage,
                  fmt::format("{} is no knob of profile {}{}", name, profile.name,
                              near ? "; did you mean " + *near + "?" : "; it has " + join(profile.knob_names(), ", ")),
                  label + " arm");
    }
    if (auto status = knob->check(value); !status) return fail(Errc::kUsage, status.error().what, label + " arm");
    arm.set[name] = arm.resolved[name] = knob->canonical(value);
  }
  KnobMap passed;
  for (const Knob& knob : profile.knobs) {
    if (knob.active(arm.resolved)) passed[knob.name] = arm.resolved[knob.name];
  }
  for (const Relation& relation : profile.relations) {
    if (auto status = check_relation(relation, passed); !status)
      return fail(Errc::kUsage, status.error().what, label + " arm");
  }
  return arm;
}

Result<std::string> differing_knob(const Arm& base, const Arm& cand) {
  for (const auto& [mine, other] : {std::pair(&base, &cand), std::pair(&cand, &base)}) {
    for (const auto& [name, value] : mine->set) {
      if (!other->set.contains(name)) {
        return fail(Errc::kUsage,
                    fmt::format("the {} arm sets {} and the {} arm does not: both arms set the same knobs", mine->label,
                                name, other->label),
                    "arms");
      }
    }
  }
  std::vector<std::string> differing;
  for (const auto& [name, value] : base.resolved) {
    const auto found = cand.resolved.find(name);
    if (found == cand.resolved.end() || found->second != value) differing.push_back(name);
  }
  if (differing.empty()) return fail(Errc::kUsage, "the arms are equal: exactly one knob must differ", "arms");
  if (differing.size() > 1) {
    return fail(Errc::kUsage,
                fmt::format("{} differ: exactly one knob may, else the effect has no owner", join(differing, " and ")),
                "arms");
  }
  return differing.front();
}

std::string arm_hash(const Profile& profile, const Arm& arm) {
  return sha256_hex(canonical_text(profile) + format_knobs(arm.resolved) + "\n");
}

Result<Command> resolve_command(const Profile& profile, const Arm& arm, const BootVariables& variables) {
  std::string value;
  const auto lookup = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "VALUE") return value;
    if (name == "PORT") return std::to_string(variables.port);
    if (name == "SEED") return std::to_string(variables.seed);
    if (name == "BOOT_INDEX") return std::to_string(variables.boot_index);
    if (name == "BIN") return variables.bin_dir.string();
    if (name == "ROOT") return variables.root_dir.string();
    if (name == "RANK") return std::to_string(variables.rank);
    if (name == "NODE_COUNT") return std::to_string(variables.node_count);
    const auto knob = arm.resolved.find(name);
    if (knob == arm.resolved.end() || knob->second.empty()) return {};
    return knob->second;
  };
  Command command;
  command.cwd = variables.root_dir.string();
  const bool worker = variables.rank > 0 && !profile.worker_command.empty();
  BK_TRY(append_words(worker ? profile.worker_command : profile.command, lookup, command.argv));
  for (const auto& [name, text] : profile.env) {
    BK_ASSIGN(std::string filled, fill(text, lookup));
    command.env[name] = std::move(filled);
  }
  for (const Knob& knob : profile.knobs) {
    if (!knob.active(arm.resolved)) continue;
    value = arm.resolved.at(knob.name);
    const auto special = knob.flag_for.find(value);
    BK_TRY(append_words(special == knob.flag_for.end() ? knob.flag : special->second, lookup, command.argv));
    if (!knob.env.empty()) command.env[knob.env] = value;
  }
  if (command.argv.empty() || command.argv[0].empty())
    return fail(Errc::kUsage, "COMMAND names no program", profile.path.string());
  return command;
}

}  // namespace bk::boot

#include "boot/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "boot/entries.h"
#include "boot/extra_env.h"
#include "boot/fingerprint.h"
#include "boot/fleet_settings.h"
#include "boot/knob_rules.h"
#include "boot/leg_settings.h"
#include "boot/overlay_settings.h"
#include "boot/relation.h"
#include "boot/words.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

const std::vector<std::string>& setting_names() {
  static const std::vector<std::string> kNames = {"COMMAND",          "HOST",           "PORT",
                                                  "SERVED_MODEL",     "MAX_MODEL_LEN",  "READY_TIMEOUT_S",
                                                  "STOP_GRACE_S",     "METRICS",        "API_KEY_ENV",
                                                  "VERSION_LOG",      "HELP",           "INSTALL",
                                                  "EXTRA_ENV",        "MODULES",        "RUNTIME",
                                                  "TARGET_PREFIX",    "IMAGE",          "IMAGE_ID",
                                                  "MOUNTS",           "NEEDS",          "NODES",
                                                  "DEPLOY_DIR",       "SSH_CONFIG",     "EXCLUSIVE",
                                                  "SERVED_ALIASES",   "WORKER_COMMAND", "CONTAINER_FLAGS",
                                                  "FOREIGN_LOAD_MAX", "GATES"};
  return kNames;
}

/// Names that a template understands without a knob, and VALUE, which flags and proofs use.
const std::vector<std::string>& builtin_names() {
  static const std::vector<std::string> kNames = {"PORT",  "SEED", "BOOT_INDEX", "BIN",       "ROOT",
                                                  "VALUE", "RULE", "RANK",       "NODE_COUNT"};
  return kNames;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_setting(const std::string& key) { return contains(setting_names(), key); }

/// Turns entries into a profile; every error names the row.
class Builder {
 public:
  Builder(std::vector<Entry> entries, const std::string& path, const Environment& caller)
      : entries_(std::move(entries)), path_(path), caller_(caller) {}

  /// Containers, folders on nodes and lock files are called by it.
  [[nodiscard]] Status check_name() const {
    auto fault = manifest::path_fault(profile_.name);
    if (profile_.name.starts_with('.') || profile_.name.starts_with('-')) fault = "it starts with '.' or '-'";
    if (!fault) return {};
    return fail(
        Errc::kUsage,
        fmt::format("the profile's name '{}' cannot be used: {}; rename its file to NAME.env with A-Z a-z 0-9 . _ -",
                    manifest::printable(profile_.name), *fault),
        manifest::printable(path_));
  }

  Result<Profile> build() {
    profile_.path = path_;
    profile_.name = profile_.path.stem().string();
    BK_TRY(check_name());
    BK_TRY(declare_knobs());
    for (const Entry& entry : entries_) BK_TRY(apply(entry));
    BK_TRY(check_uses());
    BK_TRY(check_knobs());
    BK_TRY(check_command());
    if (const auto status = check_overlay_settings(profile_); !status)
      return fail(Errc::kUsage, status.error().what, path_);
    if (const auto status = check_fleet_settings(profile_); !status)
      return fail(Errc::kUsage, status.error().what, path_);
    BK_TRY(extra_environment());
    return std::move(profile_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(const Entry& entry, std::string what) const {
    return fail(Errc::kUsage, std::move(what), place(path_, entry.line));
  }

  [[nodiscard]] const Entry* entry_of(std::string_view key) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
    return found == entries_.end() ? nullptr : &*found;
  }

  Knob* knob_of(std::string_view name) {
    const auto found =
        std::find_if(profile_.knobs.begin(), profile_.knobs.end(), [&](const Knob& k) { return k.name == name; });
    return found == profile_.knobs.end() ? nullptr : &*found;
  }

  /// A key with attributes is a knob; its own line, the default, has to come first.
  Status declare_knobs() {
    for (const Entry& entry : entries_) {
      const std::size_t dot = entry.key.find('.');
      const std::string name = entry.key.substr(0, dot);
      if (dot == std::string::npos || name == "ENV" || name == "RULE" || knob_of(name) != nullptr) continue;
      if (is_setting(name) || contains(builtin_names(), name))
        return bad(entry, name + " is reserved and cannot be a knob");
      const Entry* def = entry_of(name);
      if (def == nullptr || def->line > entry.line) {
        return bad(entry,
                   fmt::format("{} has no default: put {}=VALUE (or {}= for unset) above this row", name, name, name));
      }
      Knob knob;
      knob.name = name;
      knob.line = def->line;
      knob.value = def->value;
      if (const auto from = caller_.find(name); from != caller_.end()) {
        knob.value = from->second;
        knob.from_caller = true;
      }
      profile_.knobs.push_back(std::move(knob));
    }
    std::sort(profile_.knobs.begin(), profile_.knobs.end(),
              [](const Knob& a, const Knob& b) { return a.line < b.line; });
    return {};
  }

  Status apply(const Entry& entry) {
    const std::size_t dot = entry.key.find('.');
    if (dot == std::string::npos) {
      if (is_setting(entry.key)) return apply_setting(entry);
      if (contains(builtin_names(), entry.key))
        return bad(entry, entry.key + " is reserved: the tool gives it at each boot");
      return {};
    }
    const std::string base = entry.key.substr(0, dot);
    const std::string rest = entry.key.substr(dot + 1);
    if (base == "ENV") {
      if (!is_variable_name(rest)) return bad(entry, fmt::format("'{}' is no name of a variable", rest));
      profile_.env[rest] = entry.value;
      return {};
    }
    if (base == "RULE") return apply_rule(entry, rest);
    const auto status = apply_attribute(*knob_of(base), rest, entry.value);
    return status ? Status{} : bad(entry, status.error().what);
  }

  /// RULE.<name>, and RULE.<name>.why below it.
  Status apply_rule(const Entry& entry, const std::string& rest) {
    const std::size_t dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    if (dot == std::string::npos) {
      auto relation = parse_relation(name, entry.value);
      if (!relation) return bad(entry, relation.error().what);
      for (const std::string& knob : knobs_of(*relation)) {
        if (knob_of(knob) != nullptr) continue;
        const auto near = nearest(knob, profile_.knob_names());
        return bad(entry, fmt::format("RULE.{} names {}, which is no knob{}", name, knob,
                                      near ? "; did you mean " + *near + "?" : ""));
      }
      profile_.relations.push_back(std::move(*relation));
      return {};
    }
    const bool below = !profile_.relations.empty() && profile_.relations.back().name == name;
    if (rest.substr(dot) != ".why" || !below)
      return bad(entry, fmt::format("{} is not understood: RULE.NAME, and right below it RULE.NAME.why", entry.key));
    profile_.relations.back().why = entry.value;
    return {};
  }

  Status apply_setting(const Entry& entry) {
    const std::string& key = entry.key;
    const std::string& value = entry.value;
    if (key == "COMMAND") profile_.command = value;
    if (key == "HELP") profile_.help = value;
    if (key == "INSTALL") profile_.install = value;
    if (key == "SERVED_MODEL") profile_.served_model = value;
    if (key == "HOST") {
      if (value.empty() || value.find_first_of(" /:") != std::string::npos)
        return bad(entry, "HOST is a name or an address");
      profile_.host = value;
    }
    if (key == "METRICS") {
      if (value.substr(0, 1) != "/" && value.substr(0, 7) != "http://" && value.substr(0, 8) != "https://") {
        return bad(entry, "METRICS is a path that starts with '/', or a URL");
      }
      profile_.metrics = value;
    }
    if (key == "API_KEY_ENV") {
      if (!is_variable_name(value)) return bad(entry, "API_KEY_ENV names one variable (never the key itself)");
      profile_.api_key_env = value;
    }
    if (key == "VERSION_LOG") {
      if (const auto rule = parse_proof("log: " + value, true); !rule) return bad(entry, rule.error().what);
      profile_.engine_version_log = value;
    }
    if (const auto status = apply_overlay_setting(profile_, key, value); !status)
      return bad(entry, status.error().what);
    if (const auto status = apply_fleet_setting(profile_, key, value); !status) return bad(entry, status.error().what);
    if (const auto status = apply_leg_setting(profile_, key, value); !status) return bad(entry, status.error().what);
    return apply_number(entry);
  }

  Status apply_number(const Entry& entry) {
    if (entry.key == "PORT" || entry.key == "MAX_MODEL_LEN") {
      const auto number = parse_int(entry.value);
      const std::int64_t largest = entry.key == "PORT" ? 65535 : 1'000'000'000;
      if (!number || *number < 1 || *number > largest) {
        return bad(entry, fmt::format("{} is a whole number from 1 to {}; not '{}'", entry.key, largest, entry.value));
      }
      if (entry.key == "PORT") profile_.port = static_cast<int>(*number);
      if (entry.key == "MAX_MODEL_LEN") profile_.max_model_len = static_cast<int>(*number);
    }
    if (entry.key == "READY_TIMEOUT_S" || entry.key == "STOP_GRACE_S") {
      const auto number = parse_double(entry.value);
      if (!number || *number <= 0 || *number > 86400) {
        return bad(entry, fmt::format("{} is seconds, above 0 and at most 86400; not '{}'", entry.key, entry.value));
      }
      (entry.key == "READY_TIMEOUT_S" ? profile_.ready_timeout_s : profile_.stop_grace_s) = *number;
    }
    return {};
  }

  /// Every variable is used by a later line, and none of them is a knob, whose value differs between arms.
  Status check_uses() {
    std::set<std::string> used;
    for (const Entry& entry : entries_) {
      for (const std::string& name : entry.uses) {
        if (knob_of(name) != nullptr)
          return bad(entry, fmt::format("{} is a knob: write {{{}}}, which each arm fills", name, name));
        used.insert(name);
      }
    }
    for (const Entry& entry : entries_) {
      const bool plain = entry.key.find('.') == std::string::npos;
      if (!plain || is_setting(entry.key) || knob_of(entry.key) != nullptr || used.contains(entry.key)) continue;
      const auto near = nearest(entry.key, setting_names());
      return bad(
          entry,
          fmt::format(
              "{} is no setting, has no {}.values or other attribute that makes it a knob, and no ${{{}}} uses it{}",
              entry.key, entry.key, entry.key, near ? "; did you mean " + *near + "?" : ""));
    }
    return {};
  }

  Status check_knobs() {
    std::map<std::string, std::string> owner;
    for (const auto& [name, value] : profile_.env) owner[name] = "ENV." + name;
    if (!profile_.api_key_env.empty()) owner[profile_.api_key_env] = "API_KEY_ENV";
    for (const Knob& knob : profile_.knobs) {
      const Entry& entry = *entry_of(knob.name);
      if (names_secret(knob.name) || names_secret(knob.env)) {
        return bad(entry,
                   fmt::format("{} is named as keys and tokens are, and a knob's value is stored and shown: pass "
                               "a key by API_KEY_ENV or in the caller's environment, or name the knob otherwise",
                               knob.name));
      }
      if (const auto status = check_knob(knob); !status) {
        return bad(entry, status.error().what + (knob.from_caller ? " (from the environment)" : ""));
      }
      if (!knob.when_knob.empty()) {
        const Knob* other = profile_.find(knob.when_knob);
        if (other == nullptr || other == &knob)
          return bad(entry, fmt::format("{}.when names {}, which is no other knob", knob.name, knob.when_knob));
        for (const std::string& value : knob.when_values) {
          if (const auto status = other->check(value); !status)
            return bad(entry, knob.name + ".when: " + status.error().what);
        }
      }
      if (!knob.env.empty() && !owner.emplace(knob.env, knob.name).second) {
        return bad(entry, fmt::format("the variable {} of {} is set by {} too", knob.env, knob.name, owner[knob.env]));
      }
    }
    return {};
  }

  Status check_command() {
    const Entry* entry = entry_of("COMMAND");
    if (entry == nullptr)
      return fail(Errc::kUsage, "no COMMAND: the profile does not say how its engine starts", path_);
    const auto words = split_words(profile_.command);
    if (!words) return bad(*entry, "COMMAND: " + words.error().what);
    if (words->empty()) return bad(*entry, "COMMAND is empty");
    std::set<std::string> reached;
    for (const Entry& each : entries_) BK_TRY(check_placeholders(each, reached));
    for (const Knob& knob : profile_.knobs) {
      if (knob.env.empty() && knob.flag.empty() && knob.flag_for.empty() && !reached.contains(knob.name)) {
        return bad(*entry_of(knob.name),
                   fmt::format("{} never reaches the engine: give it {}.flag or {}.env, or put {{{}}} into COMMAND",
                               knob.name, knob.name, knob.name, knob.name));
      }
    }
    return {};
  }

  Status check_placeholders(const Entry& entry, std::set<std::string>& reached) {
    const std::size_t dot = entry.key.find('.');
    const std::string attribute = dot == std::string::npos ? "" : entry.key.substr(dot + 1, 4);
    const bool is_env = entry.key.substr(0, 4) == "ENV.";
    const bool is_flag = !is_env && attribute == "flag";
    if (entry.key != "COMMAND" && entry.key != "WORKER_COMMAND" && !is_env && !is_flag) return {};
    for (const std::string& name : placeholders(entry.value)) {
      if (name == "VALUE" ? is_flag : contains(builtin_names(), name)) continue;
      if (knob_of(name) == nullptr) {
        auto known = profile_.knob_names();
        known.insert(known.end(), builtin_names().begin(), builtin_names().end());
        const auto near = nearest(name, known);
        return bad(entry, fmt::format("{{{}}} is no knob of this profile{}", name,
                                      near ? "; did you mean {" + *near + "}?" : ""));
      }
      reached.insert(name);
    }
    return {};
  }

  /// EXTRA_ENV, the caller's before the profile's: KEY=VALUE separated by blanks.
  Status extra_environment() {
    const Entry* entry = entry_of("EXTRA_ENV");
    const auto from = caller_.find("EXTRA_ENV");
    const bool by_caller = from != caller_.end();
    if (!by_caller && entry == nullptr) return {};
    const std::string where = by_caller ? "EXTRA_ENV of the environment" : place(path_, entry->line);
    BK_ASSIGN(const Environment extra, parse_extra_env(by_caller ? from->second : entry->value, where,
                                                       [this](const std::string& name) { return declared_by(name); }));
    profile_.env.insert(extra.begin(), extra.end());
    return {};
  }

  /// The row that declares a name as a key or as a variable of the engine.
  [[nodiscard]] std::optional<std::string> declared_by(const std::string& name) const {
    const Entry* entry = entry_of(name);
    if (entry == nullptr) entry = entry_of("ENV." + name);
    if (entry == nullptr && name == profile_.api_key_env) entry = entry_of("API_KEY_ENV");
    for (const Knob& knob : profile_.knobs) {
      if (entry == nullptr && knob.env == name) entry = entry_of(knob.name + ".env");
    }
    if (entry == nullptr) return {};
    return fmt::format("{} in row {}", entry->key, entry->line);
  }

  std::vector<Entry> entries_;
  std::string path_;
  const Environment& caller_;
  Profile profile_;
};

}  // namespace

const Knob* Profile::find(std::string_view knob) const {
  const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Knob& k) { return k.name == knob; });
  return found == knobs.end() ? nullptr : &*found;
}

std::vector<std::string> Profile::knob_names() const {
  std::vector<std::string> names;
  for (const Knob& knob : knobs) names.push_back(knob.name);
  return names;
}

Result<Profile> parse_profile(std::string_view text, const std::string& path, const Environment& caller) {
  BK_ASSIGN(auto entries, read_entries(text, path));
  return Builder(std::move(entries), path, caller).build();
}

}  // namespace bk::boot

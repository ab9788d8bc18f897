// The texts of a point's keys in their layers: defaults, what its system says, what was given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "sim/schedule/limits.hpp"

namespace sawtooth::experiments {

class Catalog;
struct Keys;

/// And messages that name the place of a key.
class Layers {
 public:
  /// `given` must outlive this. Throws UsageError for keys that do not go together.
  Layers(const Settings& given, Catalog& catalog);

  bool has_system() const { return has_system_; }
  bool has(std::string_view key) const { return merged_.contains(key); }
  /// On the command line or in the configuration.
  bool is_given(std::string_view key) const { return given_.contains(key); }
  /// Whether the system says the same.
  bool is_of_system(std::string_view key) const {
    const auto usual = preset_.find(key);
    return usual != preset_.end() && usual->second.values == merged_.at(std::string(key)).values;
  }
  /// Throws a Refusal.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
  /// The same of what a model is not defined for; nothing where that is nothing.
  void fail_for(const std::optional<sim::Fault>& fault) const {
    if (fault) fail(std::string(fault->key), std::string(fault->what));
  }

  /// All keys with their defaults.
  Keys keys() const;
  /// Costs of the system's kernel for this problem, as sections of kernels; empty: it has none.
  const ProfileFile& costs() const { return costs_; }

  // For features that complete texts: of a key that is there; a key that is not; a UsageError.
  const std::string& text(std::string_view key) const {
    return merged_.find(key)->second.values.front();
  }
  void set_if_missing(std::string_view key, std::string_view value) {
    merged_.try_emplace(std::string(key), Assignment{{std::string(value)}, {"default", 0}});
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& what) const;

 private:
  // seq becomes seq-q and seq-kv, and every problem key that is left out its default.
  void complete_problem();

  const Settings& given_;
  Settings merged_;  // each key with one value
  Settings preset_;  // what the system gives for this problem
  ProfileFile costs_;
  bool has_system_ = false;
};

// Known systems: an INI file whose keys are defaults for a point.
//
//   launch = grid                      keys before the first section hold always
//   [system]
//   description = one line             required
//   limits = what the model leaves out
//   alias-of = another system          then the file has no keys of its own
//   [mask=causal head-dim=128|256]     a guarded section: holds where every condition does
//   tile-kv = 128
//   [costs mask=causal]                costs of its kernel where every condition does
//   step-ns = 1490                     a key of profiles/kernels; the later section wins
//
// Conditions see the problem's keys and the gpu; `window` stands for every window mask. For each
// key the matching section with the most conditions wins; a tie between different values is an
// error. A guarded section cannot set what conditions see.

struct Condition {
  std::string key;
  std::vector<std::string> values;  // alternatives, canonical
};

struct GuardedSection {
  std::string name;
  int line = 0;
  std::vector<Condition> conditions;
  Settings settings;
};

struct GuardedCosts {
  std::vector<Condition> conditions;
  ProfileSection costs;
};

struct SystemFile {
  std::string path, description, limits, alias_of;
  Settings settings;
  std::vector<GuardedSection> guarded;
  std::vector<GuardedCosts> costs;
  std::string content;  // a hash of its keys; description and limits do not count
};

/// Throws UsageError with file, line and what is allowed.
SystemFile read_system_file(const std::string& path);

/// The keys of the winning guarded sections, for a point whose problem keys (and gpu) `problem`
/// has as single canonical values. Throws UsageError at a tie.
Settings guarded_settings(const SystemFile& system, const Settings& problem);

}  // namespace sawtooth::experiments

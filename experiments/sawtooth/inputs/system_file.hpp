// Known systems: an INI file whose keys are defaults for a point.
//
//   launch = grid                      keys before the first section hold always
//   [system]
//   description = one line             required
//   limits = what the model leaves out
//   alias-of = another system          then the file has no keys of its own
//   [mask=causal head-dim=128|256]     a guarded section: holds where every condition does
//   tile-kv = 128
//
// Conditions see the problem's keys and the gpu; `window` stands for every window mask. For each
// key the matching section with the most conditions wins; a tie between different values is an
// error. A guarded section cannot set what conditions see.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

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

struct SystemFile {
  std::string path;
  std::string description;
  std::string limits;
  std::string alias_of;
  Settings settings;
  std::vector<GuardedSection> guarded;
  std::string content;  // a hash of its keys; description and limits do not count
};

/// Throws UsageError with file, line and what is allowed.
SystemFile read_system_file(const std::string& path);

/// The keys of the winning guarded sections, for a point whose problem keys (and gpu) `problem`
/// has as single canonical values. Throws UsageError at a tie.
Settings guarded_settings(const SystemFile& system, const Settings& problem);

}  // namespace sawtooth::experiments

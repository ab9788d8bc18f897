// Keys with values and the place they come from, in layers that overlay each other:
// command line over configuration over system over default.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/ini.hpp"

namespace sawtooth::experiments {

/// Where a value was written, for messages. An empty file is the command line.
struct Origin {
  std::string file;
  int line = 0;
};

struct Assignment {
  std::vector<std::string> values;  // canonical; more than one is an axis
  Origin origin;
};

using Settings = std::map<std::string, Assignment, std::less<>>;

/// "FILE:LINE: KEY" or "--KEY", the beginning of a message about a key.
std::string place_of(const std::string& key, const Origin& origin);

/// Adds the values of `text` (comma-separated where the option is an axis) to `settings`.
/// Throws UsageError for an unknown key, a value that is not allowed, or a second value of a key
/// that is no axis.
void assign(Settings& settings, const std::string& key, const std::string& text,
            const Origin& origin);

/// Settings of one section of a file, each key checked by assign().
Settings settings_of(const IniSection& section, const std::string& path);

/// Overlays `low` with `high`. A `seq` stands for seq-q and seq-kv of its own layer, so it hides
/// both of them in lower layers, and one that is hidden by both disappears.
/// Throws UsageError when one layer has all three.
void overlay(Settings& low, const Settings& high);

bool is_on(const Settings& settings, std::string_view key);
/// The only value of `key`, or `otherwise`.
std::string value_or(const Settings& settings, std::string_view key, std::string_view otherwise);

}  // namespace sawtooth::experiments

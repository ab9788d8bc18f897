// From a configuration and a command line to the points of a sweep.
//
// Keys before the first section of a configuration are its base. Without sections that is one
// sweep; each [SECTION] is a sweep of its own in which its keys replace those of the base, which
// is how one thing at a time is varied. The points of a sweep are the cross product of all keys
// with several values, in the order of the option table: its first key varies slowest. A `ring`
// without ring-rank and ring-step is a point of the whole ring and one of each step of each GPU.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/ini.hpp"

namespace sawtooth::experiments {

// Keys with values and the place they come from, in layers that overlay each other: command line
// over configuration over system over default.

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

class Catalog;  // point.hpp

struct Sweep {
  std::string section;  // empty for a configuration without sections
  Settings settings;    // the section over the base
};

struct Configuration {
  std::string path;  // empty without a configuration file
  Settings base;
  std::vector<Sweep> sweeps;  // at least one
};

/// Throws UsageError with file, line and what is allowed; `path` is for messages.
Configuration parse_configuration(const std::string& text, const std::string& path);
Configuration read_configuration(const std::string& path);
/// The configuration of a command line without one.
Configuration empty_configuration();

/// The points of a configuration, the command line its upper layer. They are made when they are
/// asked for, so that a list takes the memory of its axes.
class PointList {
 public:
  /// Throws UsageError for more than 2^62 points.
  PointList(const Configuration& configuration, const Settings& command_line);

  size_t size() const { return size_; }
  /// One value a key.
  Settings operator[](size_t point) const;
  /// Whether two points may give one row: sections share points, and some values mean the same.
  bool may_repeat() const;

  /// Each sweep's keys, several values of which are axes.
  const std::vector<Settings>& sweeps() const { return sweeps_; }

 private:
  void add_sweep(Settings settings);

  std::vector<Settings> sweeps_;
  std::vector<size_t> begins_;  // the first point of each
  size_t size_ = 0;
};

/// All of them at once.
std::vector<Settings> expand(const Configuration& configuration, const Settings& command_line);

/// Output options may stand in the base only: the base overlaid with the command line.
Settings output_settings(const Configuration& configuration, const Settings& command_line);

// The resolved configuration as text that is itself a valid configuration.

/// Every key with its values: axes as lists, and what the system, the gpu and the defaults give
/// wherever that is the same for all points; a comment where it is not.
std::string resolved_configuration(const Configuration& configuration, const Settings& command_line,
                                   const std::string& experiment, Catalog& catalog);

}  // namespace sawtooth::experiments

// INI files with the line of every key: "key = value", "[section]", comments from # to the end of
// the line. A value in double quotes may have a # and outer blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/support/files.hpp"

namespace sawtooth::experiments {

struct IniEntry {
  std::string key;
  std::string value;
  int line = 0;
};

struct IniSection {
  std::string name;  // empty for the keys before the first header
  int line = 0;
  std::vector<IniEntry> entries;
};

struct IniFile {
  std::string path;
  std::vector<IniSection> sections;  // the first one is the nameless one
};

/// Throws UsageError with file and line for what is no INI, std::runtime_error never.
IniFile parse_ini(const std::string& text, const std::string& path);
/// Reads the file; throws UsageError when it cannot be read.
IniFile read_ini(const std::string& path);

/// "key = value" and the line's end, such that the parser reads the same value; control characters
/// become blanks.
std::string ini_line(std::string_view key, std::string_view value);

}  // namespace sawtooth::experiments

// INI files with the line of every key: "key = value", "[section]", comments from # to the end of
// the line.
#pragma once

#include <string>
#include <vector>

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

/// Throws UsageError for a folder.
void refuse_folder(const std::string& path);

/// The whole file; throws UsageError when it cannot be read, or has more than 2^30 bytes.
std::string read_text_file(const std::string& path);

}  // namespace sawtooth::experiments

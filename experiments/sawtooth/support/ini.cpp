#include "experiments/sawtooth/support/ini.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// The largest tables of results have some hundred megabytes.
constexpr size_t most_text_bytes = size_t{1} << 30;

std::string header_name(const std::string& line, const std::string& path, int number) {
  if (line.back() != ']') fail_at(path, number, "'" + line + "': a section ends with ']'");
  const std::string name(trimmed(line.substr(1, line.size() - 2)));
  if (name.empty()) fail_at(path, number, "a section needs a name");
  return name;
}

}  // namespace

IniFile parse_ini(const std::string& text, const std::string& path) {
  IniFile file{path, {IniSection{}}};
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string content(trimmed(line.substr(0, line.find('#'))));
    if (content.starts_with('[')) {
      file.sections.push_back({header_name(content, path, number), number, {}});
      continue;
    }
    if (content.empty()) continue;
    const size_t equals = content.find('=');
    if (equals == std::string::npos) {
      fail_at(path, number,
              "'" + content + "' is neither 'key = value' nor '[section]' nor a # comment");
    }
    std::string key(trimmed(content.substr(0, equals)));
    if (key.empty()) fail_at(path, number, "a key is missing before '='");
    file.sections.back().entries.push_back(
        {std::move(key), std::string(trimmed(content.substr(equals + 1))), number});
  }
  return file;
}

void refuse_folder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UsageError(path + ": is a folder; a file is needed");
}

std::string read_text_file(const std::string& path) {
  refuse_folder(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(path + ": cannot be read");
  // In pieces: a device has no size, and may have no end.
  constexpr size_t first_piece = size_t{1} << 12, largest_piece = size_t{1} << 16;
  std::string text;
  for (size_t piece = first_piece; stream; piece = std::min(2 * piece, largest_piece)) {
    const size_t before = text.size();
    text.resize(before + piece);
    stream.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<size_t>(stream.gcount()));
    if (text.size() > most_text_bytes) {
      throw UsageError(path + ": has more than " + std::to_string(most_text_bytes) +
                       " bytes, it is none of our files");
    }
  }
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

IniFile read_ini(const std::string& path) {
  return parse_ini(read_text_file(path), path);
}

}  // namespace sawtooth::experiments

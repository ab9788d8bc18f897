#include "experiments/sawtooth/support/ini.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <boost/program_options.hpp>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace po = boost::program_options;

// The largest tables of results have some hundred megabytes.
constexpr size_t most_text_bytes = size_t{1} << 30;

// Of UTF-8, as some editors and spreadsheets put it in front.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

// Boost's parser knows no line numbers, so it is given one line at a time.
std::vector<IniEntry> parse_line(const std::string& text, const std::string& path, int line) {
  std::istringstream stream(text);
  std::vector<IniEntry> entries;
  try {
    const auto parsed = po::parse_config_file(stream, po::options_description(), true);
    for (const auto& option : parsed.options) {
      entries.push_back(
          {option.string_key, option.value.empty() ? "" : option.value.front(), line});
    }
  } catch (const po::error&) {
    fail(path, line, "'" + text + "' is neither 'key = value' nor '[section]' nor a # comment");
  }
  return entries;
}

std::string header_name(const std::string& line, const std::string& path, int number) {
  if (line.back() != ']') fail(path, number, "'" + line + "': a section ends with ']'");
  const std::string name(trimmed(line.substr(1, line.size() - 2)));
  if (name.empty()) fail(path, number, "a section needs a name");
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
    for (IniEntry& entry : parse_line(content, path, number)) {
      if (entry.key.empty()) fail(path, number, "a key is missing before '='");
      file.sections.back().entries.push_back(std::move(entry));
    }
  }
  return file;
}

std::string read_text_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(path + ": is a folder; a file is needed");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(path + ": cannot be read");
  // In pieces: a device has no size, and may have no end.
  constexpr size_t piece = size_t{1} << 16;
  std::string text;
  for (size_t taken = piece; taken == piece && stream;) {
    text.resize(text.size() + piece);
    stream.read(text.data() + text.size() - piece, piece);
    taken = static_cast<size_t>(stream.gcount());
    text.resize(text.size() - piece + taken);
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

#include "experiments/sawtooth/support/ini.hpp"

#include <optional>
#include <sstream>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// A sweep takes some kilobytes for each of its sections.
constexpr size_t most_sections = 65'536;

std::string header_name(const std::string& line, const std::string& path, int number) {
  if (line.back() != ']') fail_at(path, number, "'" + line + "': a section ends with ']'");
  const std::string name(trimmed(line.substr(1, line.size() - 2)));
  if (name.empty()) fail_at(path, number, "a section needs a name");
  return name;
}

// "a # b" in quotes keeps its '#' and outer blanks; a quote inside is doubled, as in CSV. Nothing
// where `text` is not one such value, and a comment.
std::optional<std::string> quoted_value(std::string_view text) {
  std::string value;
  if (!text.starts_with('"')) return std::nullopt;
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"' && text.substr(at + 1, 1) != "\"") {
      const std::string_view rest = trimmed(text.substr(at + 1));
      return rest.empty() || rest.front() == '#' ? std::optional(value) : std::nullopt;
    }
    at += text[at] == '"' ? 1 : 0;
    value += text[at];
  }
  return std::nullopt;
}

}  // namespace

IniFile parse_ini(const std::string& text, const std::string& path) {
  IniFile file{path, {IniSection{}}};
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string content(trimmed(line.substr(0, line.find('#'))));
    if (content.starts_with('[')) {
      if (file.sections.size() > most_sections)
        fail_at(path, number, "more than " + std::to_string(most_sections) + " sections");
      file.sections.push_back({header_name(content, path, number), number, {}});
      continue;
    }
    if (content.empty()) continue;
    const size_t equals = content.find('=');
    if (equals == std::string::npos)
      fail_at(path, number,
              "'" + content + "' is neither 'key = value' nor '[section]' nor a # comment");
    std::string key(trimmed(content.substr(0, equals)));
    if (key.empty()) fail_at(path, number, "a key is missing before '='");
    std::string value(trimmed(content.substr(equals + 1)));
    if (value.starts_with('"'))
      value = quoted_value(trimmed(line.substr(line.find('=') + 1))).value_or(value);
    file.sections.back().entries.push_back({std::move(key), std::move(value), number});
  }
  return file;
}

std::string ini_line(std::string_view key, std::string_view value) {
  std::string text = one_line(value);
  if (text.find('#') != std::string::npos || text.starts_with('"') || trimmed(text) != text) {
    std::string quoted = "\"";
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    text = quoted + '"';
  }
  return std::string(key).append(" = ").append(text).append("\n");
}

IniFile read_ini(const std::string& path) {
  return parse_ini(read_text_file(path, TextLimit::settings), path);
}

}  // namespace sawtooth::experiments

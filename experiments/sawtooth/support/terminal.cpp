#include "experiments/sawtooth/support/terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sawtooth::experiments {
namespace {

constexpr size_t widest = 100, usual = 80, narrowest = 40;

int descriptor(Output output) {
  return output == Output::standard ? STDOUT_FILENO : STDERR_FILENO;
}

std::string styled(std::string_view text, const char* code, Output output) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool plain = no_colour != nullptr && *no_colour != '\0';
  if (plain || !is_terminal(output)) return std::string(text);
  return std::string("\033[") + code + "m" + std::string(text) + "\033[0m";
}

}  // namespace

bool is_terminal(Output output) {
  return isatty(descriptor(output)) == 1;
}

size_t line_width() {
  winsize size{};
  size_t width = 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (const char* columns = std::getenv("COLUMNS"); width == 0 && columns != nullptr)
    width = std::strtoul(columns, nullptr, 10);
  return width == 0 ? usual : std::clamp(width, narrowest, widest);
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string result;
  size_t column = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool first = result.empty();
    if (!first && column + 1 + word.size() > width) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string bold(std::string_view text, Output output) {
  return styled(text, "1", output);
}

std::string red(std::string_view text, Output output) {
  return styled(text, "1;31", output);
}

}  // namespace sawtooth::experiments

#include "experiments/sawtooth/support/terminal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
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

std::string progress_line(size_t done, size_t points, double share, double elapsed_s) {
  constexpr int width = 30;
  const int filled = static_cast<int>(std::lround(share * width));
  std::ostringstream line;
  line << '[' << std::string(static_cast<size_t>(filled), '#')
       << std::string(static_cast<size_t>(width - filled), '-') << "]  " << done << " of " << points
       << "  " << std::lround(share * 100) << " %";
  if (share > 0) {
    const auto left_s = std::llround(elapsed_s * (1 - share) / share);
    line << "  " << left_s / 60 << ':' << std::setw(2) << std::setfill('0') << left_s % 60
         << " left";
  }
  return line.str();
}

Progress::Progress(size_t points, double all_work, bool show)
    : points_(points), all_work_(all_work), show_(show && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (show_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::advance(double work) {
  ++done_points_;
  done_work_ += work;
  last_drawn_ = {};  // the next draw() is not too soon
}

void Progress::draw(double under_way) {
  constexpr auto interval = std::chrono::milliseconds(500);
  const auto now = Clock::now();
  if (!show_ || now - last_drawn_ < interval) return;
  last_drawn_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - begin_).count();
  const double share = all_work_ > 0 ? std::min(1.0, (done_work_ + under_way) / all_work_) : 1.0;
  std::cerr << "\r\033[K" << progress_line(done_points_, points_, share, elapsed_s) << std::flush;
}

}  // namespace sawtooth::experiments

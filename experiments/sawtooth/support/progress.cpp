#include "experiments/sawtooth/support/progress.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <unistd.h>

namespace sawtooth::experiments {

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

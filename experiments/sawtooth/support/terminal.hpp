// Whether people read an output, and how wide and in which colours.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace sawtooth::experiments {

enum class Output { standard, error };

bool is_terminal(Output output);

/// Characters a line: of the terminal, else $COLUMNS, else 80; 40 to 100.
size_t line_width();

/// Words of `text` in lines of at most `width`; `indent` blanks begin each line but the first.
std::string wrapped(std::string_view text, size_t width, size_t indent);

/// `text` in bold or red where `output` is a terminal and $NO_COLOR (no-color.org) is not set.
std::string bold(std::string_view text, Output output);
std::string red(std::string_view text, Output output);

// A progress bar with the time left on standard error, when that is a terminal.

class Progress {
 public:
  /// `all_work` is the sum of all weights; `show` false keeps it silent.
  Progress(size_t points, double all_work, bool show);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A point has ended; the next draw() shows it at once.
  void advance(double work);
  /// `under_way` is the work done of points that have not ended.
  void draw(double under_way = 0);

 private:
  using Clock = std::chrono::steady_clock;

  size_t points_;
  double all_work_;
  bool show_;
  size_t done_points_ = 0;
  double done_work_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_drawn_{};
};

/// "[#####-----]  5 of 10  50 %  1:05 left", without the time while nothing is done.
std::string progress_line(size_t done, size_t points, double share, double elapsed_s);

}  // namespace sawtooth::experiments

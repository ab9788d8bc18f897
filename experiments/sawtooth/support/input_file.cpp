
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

std::ifstream open_input(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UsageError(path + ": is a folder; a file is needed");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(path + ": cannot be read");
  note_input(path);
  return stream;
}

std::string read_text_file(const std::string& path, TextLimit limit) {
  std::ifstream stream = open_input(path);
  // In pieces: a device has no size, and may have no end.
  constexpr size_t first_piece = size_t{1} << 12, largest_piece = size_t{1} << 16;
  std::string text;
  for (size_t piece = first_piece; stream; piece = std::min(2 * piece, largest_piece)) {
    const size_t before = text.size();
    text.resize(before + piece);
    stream.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<size_t>(stream.gcount()));
    if (const auto most = static_cast<uint64_t>(limit); text.size() > most)
      throw UsageError(path + ": has more than " + std::to_string(most) +
                       " bytes, it is none of our files");
  }
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

void for_each_line(const std::string& path,
                   const std::function<void(const std::string& text, int line)>& take) {
  std::istringstream lines(read_text_file(path, TextLimit::list));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (const std::string text(trimmed(line.substr(0, line.find('#')))); !text.empty())
      take(text, number);
}

std::vector<int64_t> numbers_in(const std::string& text, int64_t bound, const std::string& place,
                                const std::string& no_number) {
  constexpr size_t most_digits = 12;
  std::vector<int64_t> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool digits = word.find_first_not_of("0123456789") == std::string::npos;
    if (digits && word.size() <= most_digits) numbers.push_back(std::stoll(word));
    if (!digits || word.size() > most_digits || numbers.back() >= bound)
      throw UsageError(place + ": '" + word + "' is " + no_number);
  }
  return numbers;
}

}  // namespace sawtooth::experiments

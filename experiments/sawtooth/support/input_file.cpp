#include "experiments/sawtooth/support/input_file.hpp"

#include <algorithm>
#include <filesystem>

#include "experiments/sawtooth/support/output_file.hpp"
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

}  // namespace sawtooth::experiments

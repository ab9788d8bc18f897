// Files that are read. What is read whole has a limit, and no output takes its place.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace sawtooth::experiments {

/// Bytes of the largest text of each kind that is read whole: some times the largest of use.
enum class TextLimit : uint64_t {
  table = uint64_t{1} << 30,     // the largest tables of results have some hundred megabytes
  list = uint64_t{1} << 28,      // lengths, pages and orders: some bytes each of up to 2^24
  settings = uint64_t{1} << 24,  // configurations and profiles have some kilobytes
};

/// Throws UsageError for a folder, for what cannot be read, and for an output of this program.
std::ifstream open_input(const std::string& path);

/// The whole file without a byte order mark; throws UsageError when it cannot be read or is larger.
std::string read_text_file(const std::string& path, TextLimit limit = TextLimit::table);

/// Calls `take` for each line of a list with its number, without what stands behind a # and without
/// outer blanks; lines that are empty then are left out.
void for_each_line(const std::string& path,
                   const std::function<void(const std::string& text, int line)>& take);

/// Whole numbers below `bound` with blanks between them; throws UsageError, "'WORD' is
/// `no_number`".
std::vector<int64_t> numbers_in(const std::string& text, int64_t bound, const std::string& place,
                                const std::string& no_number);

}  // namespace sawtooth::experiments

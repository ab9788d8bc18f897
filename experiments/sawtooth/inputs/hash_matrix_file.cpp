#include "experiments/sawtooth/inputs/hash_matrix_file.hpp"

#include <charconv>
#include <fstream>
#include <string_view>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t most_rows = 31;  // a set number has fewer than 32 bits

bool parse_mask_row(std::string_view text, uint64_t& row) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, row, hexadecimal ? 16 : 10);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::vector<uint64_t> read_hash_matrix(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("l2-hash-matrix: " + path + ": cannot be read");
  std::vector<uint64_t> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const std::string at = path + ":" + std::to_string(number) + ": ";
    uint64_t row = 0;
    if (!parse_mask_row(text, row) || row == 0) {
      throw UsageError(at + "'" + std::string(text) +
                       "' is not allowed; allowed: a mask of line-number bits such as 0x8421, "
                       "not 0");
    }
    if (rows.size() == most_rows) {
      throw UsageError(at + "more than " + std::to_string(most_rows) +
                       " rows; allowed: log2 of the number of sets");
    }
    rows.push_back(row);
  }
  if (rows.empty()) throw UsageError("l2-hash-matrix: " + path + ": has no rows");
  return rows;
}

}  // namespace sawtooth::experiments

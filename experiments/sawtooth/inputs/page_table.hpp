// Page tables as text: `identity`, `shuffle:SEED`, or `file:PATH` with a line of page numbers for
// each sequence that has keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/sequences.hpp"

namespace sawtooth::experiments {

/// The canonical spelling. Throws std::invalid_argument.
std::string canonical_page_table(std::string_view text);

/// What is allowed, as the end of a message.
inline constexpr std::string_view allowed_page_tables =
    "identity, shuffle:SEED, or file:PATH with the pages of a sequence a line";

/// A table with as many entries a sequence as the longest one of `problem` has pages.
struct PageTable {
  std::vector<int32_t> entries;
  int64_t stride = 0;
  int64_t count = 0;  // the numbers of all pages lie below it
};

/// `text` is canonical. The pages of a prefix are those of its group's first sequence, and no other
/// page is there twice. Throws UsageError for a file that says otherwise.
PageTable page_table_of(const std::string& text, const Problem& problem, const Sequences& sequences,
                        int64_t page_rows);

}  // namespace sawtooth::experiments

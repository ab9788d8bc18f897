// Lengths of the sequences of a batch as text: a list, a file of them, or a distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/sequences.hpp"

namespace sawtooth::experiments {

/// `LENGTH+LENGTH...`, each also COUNTxLENGTH; `file:PATH` with as much a line, which stands for
/// the list in it; `uniform:LOW..HIGH:SEED`. The canonical spelling joins neighbours of one length:
/// "3x1024+4096". Throws std::invalid_argument.
std::string canonical_lengths(std::string_view text);

/// Sequences that a canonical list has; empty for a distribution, which has as many as are asked
/// of.
std::optional<int64_t> listed_sequences(const std::string& lengths);

/// The lengths of `batch` sequences, of which a list has as many. Sequence i of uniform has LOW +
/// mix_seed(SEED, i) modulo (HIGH - LOW + 1) rows (scheduler/permutation.hpp).
std::vector<int64_t> lengths_of(const std::string& lengths, int64_t batch);

/// What is allowed, as the end of a message.
inline constexpr std::string_view allowed_lengths =
    "lengths joined by +, such as 4K+8x1K (8 sequences of 1K), file:PATH with one a line, or "
    "uniform:LOW..HIGH:SEED";

// Page tables as text: `identity`, `shuffle:SEED`, or `file:PATH` with a line of page numbers for
// each sequence that has keys.

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

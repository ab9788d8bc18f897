// Lengths of the sequences of a batch as text: a list, a file of them, or a distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace sawtooth::experiments

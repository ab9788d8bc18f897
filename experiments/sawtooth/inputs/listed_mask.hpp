// Masks whose tiles are lists: documents, sinks, prefixes and blocks, as text and as lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

/// The canonical spelling of `window:W+sink:N`, `prefix-lm:N`, `document:LENGTHS`, `blocks:FILE` or
/// `blocks:random:SHARE:SEED`; empty where the text is none of them. Throws std::invalid_argument.
std::string canonical_listed_mask(std::string_view text);

/// Whether a file says more than the canonical text.
bool is_file_of_blocks(std::string_view canonical);

/// Whether blocks are multiples of such a tile, as kernels ask; of masks without blocks too.
bool divides_blocks(const Tiling& tiling, std::string_view canonical);

/// What each query row sees of its tiles, for kernels (kernels/common/block_lists.hpp); none of
/// blocks, whose rows see all keys of them. Arguments and errors as of ListedMask; throws
/// std::invalid_argument unless divides_blocks.
std::vector<KeySpans> key_spans(const std::string& text, const Problem& problem,
                                const Tiling& tiling);

/// The lists of one mask, problem and tiling.
class ListedMask {
 public:
  /// `text` is canonical. In a file of blocks line i has the numbers of the K/V blocks that block i
  /// of queries sees; blocks have 128 rows, and # begins a comment. Throws UsageError for a file
  /// that says otherwise, std::invalid_argument for lengths that are not those of the problem.
  ListedMask(const std::string& text, const Problem& problem, const Tiling& tiling);
  ListedMask(const ListedMask&) = delete;
  ListedMask& operator=(const ListedMask&) = delete;

  /// Valid as long as this.
  Mask mask() const { return {.kind = MaskKind::listed, .listed = &lists_}; }
  /// A hash of the lists, which tells files of one name apart.
  std::string content() const;

 private:
  struct Side {
    std::vector<int64_t> begin{0};
    std::vector<int32_t> tiles;
    TileLists lists() const { return {begin.data(), tiles.data()}; }
  };

  Side of_q_, of_kv_;
  ListedTiles lists_;
};

}  // namespace sawtooth::experiments

#include "experiments/sawtooth/inputs/listed_mask.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view sink_mark = "+sink:", prefix_lm = "prefix-lm:", document = "document:",
                           blocks = "blocks:", drawn_blocks = "blocks:random:";
constexpr int64_t block_rows = 128;                        // BLOCK_SIZE of FlexAttention
constexpr int64_t most_pairs_of_tiles = int64_t{1} << 31;  // 16 GiB of lists if all are seen

/// Keys that a query position sees, as do those behind it up to `until`.
struct Sight {
  std::vector<Range> keys;  // ascending, apart
  int64_t until = 0;
};
using SightOf = std::function<Sight(int64_t position)>;

int64_t keys_in(std::string_view text, int64_t least) {
  const int64_t keys = parse_count(trimmed(text));
  if (keys < least || keys > find_option("seq-kv")->high) refuse_value(text);
  return keys;
}

struct Drawn {
  double share = 0;
  uint64_t seed = 0;
};
Drawn drawn_in(std::string_view text) {
  const std::string_view both = text.substr(drawn_blocks.size());
  const size_t colon = both.find(':');
  if (colon == std::string_view::npos) refuse_value(text);
  const double share = parse_share(both.substr(0, colon));
  if (!(share > 0 && share <= 1)) refuse_value(text);
  return {share, static_cast<uint64_t>(parse_count(trimmed(both.substr(colon + 1))))};
}

// The block rows of a file, or drawn: block k of row q is seen where the number drawn for
// q * columns + k lies below the share.
std::vector<std::vector<Range>> block_rows_of(const std::string& text, int64_t rows,
                                              int64_t columns) {
  std::vector<std::vector<Range>> seen;
  const auto add = [&](int64_t block) {
    auto& row = seen.back();
    if (!row.empty() && row.back().end == block)
      ++row.back().end;
    else
      row.push_back({block, block + 1});
  };
  if (text.starts_with(drawn_blocks)) {
    const auto [share, seed] = drawn_in(text);
    for (int64_t q = 0; q < rows; ++q) {
      seen.emplace_back();
      for (int64_t k = 0; k < columns; ++k) {
        const uint64_t word = mix_seed(seed, static_cast<uint64_t>(q * columns + k));
        if (unit_interval(word) < share) add(k);
      }
    }
    return seen;
  }
  const std::string path = text.substr(blocks.size());
  const std::string no_block = "no block behind the one before; allowed: 0 to " +
                               std::to_string(columns - 1) + ", ascending";
  std::istringstream file(read_text_file(path, TextLimit::list));
  for (std::string line; std::getline(file, line);) {
    const std::string place = path + ":" + std::to_string(seen.size() + 1);
    seen.emplace_back();
    int64_t before = -1;
    for (const int64_t block :
         numbers_in(line.substr(0, line.find('#')), columns, place, no_block)) {
      if (block <= before)
        throw UsageError(place + ": '" + std::to_string(block) + "' is " + no_block);
      add(before = block);
    }
  }
  if (std::ssize(seen) != rows)
    throw UsageError(path + ": has " + std::to_string(seen.size()) + " lines; the queries have " +
                     std::to_string(rows) + " blocks of " + std::to_string(block_rows));
  return seen;
}

SightOf document_sight(const std::string& lengths, const Problem& problem, int64_t positions) {
  std::vector<int64_t> ends;
  for (const int64_t length : lengths_of(lengths, 0))
    if (length > 0) ends.push_back((ends.empty() ? 0 : ends.back()) + length);
  const int64_t all = ends.empty() ? 0 : ends.back();
  if (all != problem.seq_kv || all != positions)
    throw std::invalid_argument("documents have " + std::to_string(all) + " rows; seq-q is " +
                                std::to_string(positions) + " and seq-kv " +
                                std::to_string(problem.seq_kv) + ", allowed: all of them alike");
  return [ends](int64_t position) -> Sight {
    const auto end = std::ranges::upper_bound(ends, position);
    const int64_t begin = end == ends.begin() ? 0 : *std::prev(end);
    return {{{begin, position + 1}}, position + 1};
  };
}

SightOf sight_of(const std::string& text, const Problem& problem, int64_t positions) {
  const int64_t keys = problem.seq_kv, diagonal = keys - positions;
  if (text.starts_with(document))
    return document_sight(text.substr(document.size()), problem, positions);
  if (text.starts_with(prefix_lm)) {
    const int64_t prefix = min_of(keys, keys_in(text.substr(prefix_lm.size()), 0));
    return [=](int64_t position) -> Sight {
      return {{{0, max_of(prefix, position + diagonal + 1)}}, position + 1};
    };
  }
  if (const size_t mark = text.find(sink_mark); mark != std::string::npos) {
    const int64_t window =
        keys_in(text.substr(window_prefix.size(), mark - window_prefix.size()), 1);
    const int64_t sink = keys_in(text.substr(mark + sink_mark.size()), 0);
    return [=](int64_t position) -> Sight {
      const int64_t end = max_of(0, position + diagonal + 1);
      const int64_t begin = max_of(0, end - window);
      return {{{0, min_of(sink, begin)}, {begin, end}}, position + 1};
    };
  }
  auto rows = block_rows_of(text, ceil_div(positions, block_rows), ceil_div(keys, block_rows));
  return [rows = std::move(rows), keys](int64_t position) -> Sight {
    const int64_t row = position / block_rows;
    Sight sight{{}, (row + 1) * block_rows};
    for (const Range& run : rows[static_cast<size_t>(row)])
      sight.keys.push_back({run.begin * block_rows, min_of(keys, run.end * block_rows)});
    return sight;
  };
}

}  // namespace

std::string canonical_listed_mask(std::string_view text) {
  if (text.starts_with(drawn_blocks)) {
    const auto [share, seed] = drawn_in(text);
    return std::string(drawn_blocks) + shortest(share) + ":" + std::to_string(seed);
  }
  if (text.starts_with(blocks)) {
    if (text.size() == blocks.size()) refuse_value(text);
    return std::string(text);
  }
  if (text.starts_with(document)) {
    const std::string lengths = canonical_lengths(trimmed(text.substr(document.size())));
    if (!listed_sequences(lengths)) refuse_value(text);  // drawn lengths have no sum
    return std::string(document) + lengths;
  }
  if (text.starts_with(prefix_lm))
    return std::string(prefix_lm) + std::to_string(keys_in(text.substr(prefix_lm.size()), 0));
  const size_t mark = text.find(sink_mark);
  if (!text.starts_with(window_prefix) || mark == std::string_view::npos) return {};
  const std::string_view window = text.substr(window_prefix.size(), mark - window_prefix.size());
  return std::string(window_prefix)
      .append(std::to_string(keys_in(window, 1)))
      .append(sink_mark)
      .append(std::to_string(keys_in(text.substr(mark + sink_mark.size()), 0)));
}

bool divides_blocks(const Tiling& tiling, std::string_view canonical) {
  return !canonical.starts_with(blocks) ||
         (block_rows % tiling.q_rows == 0 && block_rows % tiling.kv_rows == 0);
}

std::vector<KeySpans> key_spans(const std::string& text, const Problem& problem,
                                const Tiling& tiling) {
  if (!divides_blocks(tiling, text))
    throw std::invalid_argument("has blocks of " + std::to_string(block_rows) +
                                " rows, which tiles of " + std::to_string(tiling.q_rows) + "x" +
                                std::to_string(tiling.kv_rows) +
                                " do not divide; allowed for kernels: tiles that do");
  if (text.starts_with(blocks)) return {};
  const int64_t positions = q_positions(problem, tiling);
  const SightOf sight_at = sight_of(text, problem, positions);
  std::vector<KeySpans> spans;
  for (int64_t position = 0; position < positions; ++position) {
    // The last range is the one that grows; an earlier one that touches it is part of it.
    const std::vector<Range> keys = sight_at(position).keys;
    Range early = keys.size() > 1 ? keys.front() : Range{}, own = keys.back();
    if (!early.empty() && early.end == own.begin) own.begin = std::exchange(early, Range{}).begin;
    spans.push_back(
        {int32_t(early.begin), int32_t(early.end), int32_t(own.begin), int32_t(own.end)});
  }
  return spans;
}

bool is_file_of_blocks(std::string_view canonical) {
  return canonical.starts_with(blocks) && !canonical.starts_with(drawn_blocks);
}

ListedMask::ListedMask(const std::string& text, const Problem& problem, const Tiling& tiling) {
  const int64_t positions = q_positions(problem, tiling), kv = kv_tiles(problem, tiling);
  if (q_tiles(problem, tiling) > most_pairs_of_tiles / kv)
    throw std::invalid_argument("has too many pairs of tiles; allowed: up to 2^31");
  const SightOf sight_at = sight_of(text, problem, positions);
  for (int64_t position = 0; position < positions;) {
    const Sight sight = sight_at(position);
    const int64_t alike = min_of(sight.until, positions) - position;
    for (const Range& keys : sight.keys) lists_.pairs += double(alike) * double(keys.size());
    position += alike;
  }
  std::vector<std::vector<int32_t>> seeing(static_cast<size_t>(kv));  // Q tiles, of each K/V tile
  std::vector<int32_t> opened(static_cast<size_t>(kv) + 1);
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile) {
    std::ranges::fill(opened, 0);
    const Range own = positions_of(tile_rows(tile, tiling.q_rows, problem.seq_q), tiling);
    for (int64_t position = own.begin; position < own.end;) {
      const Sight sight = sight_at(position);
      for (const Range& keys : sight.keys) {
        const Range tiles = tiles_over(keys, tiling.kv_rows);
        ++opened[static_cast<size_t>(tiles.begin)];
        --opened[static_cast<size_t>(tiles.end)];
      }
      position = sight.until;
    }
    int32_t open = 0;
    for (size_t other = 0; other < seeing.size(); ++other) {
      open += opened[other];
      if (open == 0) continue;
      of_q_.tiles.push_back(static_cast<int32_t>(other));
      seeing[other].push_back(static_cast<int32_t>(tile));
    }
    of_q_.begin.push_back(std::ssize(of_q_.tiles));
  }
  for (const auto& tiles : seeing) {
    of_kv_.tiles.insert(of_kv_.tiles.end(), tiles.begin(), tiles.end());
    of_kv_.begin.push_back(std::ssize(of_kv_.tiles));
  }
  lists_.of_q = of_q_.lists();
  lists_.of_kv = of_kv_.lists();
  lists_.q_rows = tiling.q_rows;
  lists_.kv_rows = tiling.kv_rows;
}

std::string ListedMask::content() const {
  ContentHash content;
  for (const int64_t begin : of_q_.begin) content.add_number(begin);
  for (const int32_t tile : of_q_.tiles) content.add_number(tile);
  return content.text(content_digits);
}

}  // namespace sawtooth::experiments

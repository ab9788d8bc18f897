// Which keys a query row sees. With d = seq_kv - seq_q, row i sees key j when j <= i + d (causal)
// and, for a sliding window of W keys, also i + d - W < j: the window includes the row's own key.
// Other masks are lists of tiles (scheduler/tile_lists.hpp).
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth {

enum class MaskKind : uint8_t { none, causal, window, listed };

struct ListedTiles;

struct Mask {
  MaskKind kind = MaskKind::none;
  int64_t window = 0;                   // keys, W >= 1; read only when kind is `window`
  const ListedTiles* listed = nullptr;  // of kind `listed`, once the tiles are known; not owned
};

/// A half-open range [begin, end) of rows, keys or tiles; empty when end <= begin.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  SAWTOOTH_HD constexpr int64_t size() const { return end > begin ? end - begin : 0; }
  SAWTOOTH_HD constexpr bool empty() const { return end <= begin; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

SAWTOOTH_HD constexpr Range intersection(const Range& a, const Range& b) {
  const Range both{max_of(a.begin, b.begin), min_of(a.end, b.end)};
  return both.empty() ? Range{} : both;
}

/// Keys that at least one row of `rows` sees; `rows` lies in [0, seq_q).
/// The union over rows has no gap, because every row's range starts one key after the last one's.
SAWTOOTH_HD constexpr Range visible_keys(Mask mask, Range rows, int64_t seq_q, int64_t seq_kv) {
  if (rows.empty()) return {};
  if (mask.kind == MaskKind::none) return {0, seq_kv};
  const int64_t diagonal = seq_kv - seq_q;
  const int64_t first_row = max_of(rows.begin, -diagonal);  // rows above it see nothing
  const int64_t last_row = rows.end - 1;
  if (first_row > last_row) return {};
  const int64_t first_key =
      mask.kind == MaskKind::window ? max_of(0, first_row + diagonal - mask.window + 1) : 0;
  return {first_key, last_row + diagonal + 1};
}

/// Query rows that see at least one key of `keys`; `keys` lies in [0, seq_kv).
SAWTOOTH_HD constexpr Range seeing_rows(Mask mask, Range keys, int64_t seq_q, int64_t seq_kv) {
  if (keys.empty()) return {};
  if (mask.kind == MaskKind::none) return {0, seq_q};
  const int64_t diagonal = seq_kv - seq_q;
  const int64_t first_row = max_of(0, keys.begin - diagonal);
  if (mask.kind == MaskKind::causal) return {first_row, seq_q};
  return {first_row, min_of(seq_q, keys.end - 1 + mask.window - diagonal)};
}

/// Pairs of a query row and a key that it sees: a row that sees nothing has none. A double, for
/// 2^40 rows have more than 2^63 pairs; exact below 2^53.
constexpr double visible_pairs(Mask mask, int64_t seq_q, int64_t seq_kv) {
  if (mask.kind == MaskKind::none) return double(seq_q) * double(seq_kv);
  // The rows that see something see one key more each, from `fewest` to `seq_kv`, of which a
  // window leaves at most its own.
  const int64_t fewest = max_of(0, seq_kv - seq_q) + 1;
  const int64_t most = mask.kind == MaskKind::window ? min_of(mask.window, seq_kv) : seq_kv;
  const int64_t growing = max_of(0, most - fewest + 1);  // rows that see fewest, fewest + 1 .. most
  const int64_t rest = min_of(seq_q, seq_kv) - growing;
  return double(growing) * (double(fewest) + double(most)) / 2 + double(rest) * double(most);
}

}  // namespace sawtooth

#include "sim/schedule/atoms.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"
#include "sim/request.hpp"
#include "sim/schedule/roles.hpp"

namespace sawtooth::sim {
namespace {

AtomSize size_of_bytes(int64_t bytes, Tensor tensor, uint8_t tensors) {
  return {.lines = static_cast<uint32_t>(tensors * ceil_div(bytes, line_bytes)),
          .sectors = static_cast<uint32_t>(tensors * ceil_div(bytes, sector_bytes)),
          .tensor = static_cast<uint8_t>(tensor),
          .tensors = tensors};
}

/// The atom has lines [begin, end) of a tile of size `tile`.
AtomSize size_of_lines(AtomSize tile, int64_t begin, int64_t end) {
  tile.sectors = static_cast<uint32_t>(min_of(end * sectors_per_line, tile.sectors) -
                                       begin * sectors_per_line);
  tile.lines = static_cast<uint32_t>(end - begin);
  tile.goes_on = begin > 0;
  return tile;
}

void require_whole_lines(std::string_view key, int64_t tile_bytes, int64_t tiles) {
  if (tiles > 1 && tile_bytes % line_bytes != 0)
    throw std::invalid_argument(std::string(key) + ": a tile of " + std::to_string(tile_bytes) +
                                " bytes shares a line with the next one; tile rows x head-dim x "
                                "element bytes must be a multiple of " +
                                std::to_string(line_bytes));
}

/// The tiles of a tensor's heads.
struct Shape {
  int64_t heads = 0, rows = 0, tile_rows = 0, row_bytes = 0;
  int64_t tiles() const { return ceil_div(rows, tile_rows); }
};

/// In the order of Tensor.
std::array<Shape, tensor_count> shapes_of(const Request& request, const PieceShape& pieces) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Schedule& schedule = request.schedule;
  const KeyParts& key_parts = request.key_parts;
  const int64_t q_heads = problem.batch * problem.heads;
  const int64_t kv_heads = problem.batch * problem.kv_heads * key_parts.buffers;
  const int64_t q_bytes = problem.row_bytes(), o_bytes = problem.o_row_bytes();
  const int64_t k_bytes = problem.k_row_bytes(), v_bytes = problem.v_row_bytes();
  const int64_t dq_sum_bytes = problem.head_dim * float_bytes;
  const int64_t o_sum_bytes = problem.v_dim() * float_bytes;
  const bool backward = problem.pass == Pass::backward, split = schedule.kv_split > 1;
  const int64_t parts = split && !backward ? q_heads * schedule.kv_split : 0;
  const bool added = backward && schedule.dq != Dq::separate;
  const bool around = backward && schedule.small_kernels;
  const auto of_queries = [&](bool exists, int64_t bytes) {
    return Shape{exists ? q_heads : 0, problem.seq_q, tiling.q_rows, bytes};
  };
  const auto of_keys = [&](bool exists, int64_t bytes) {
    return Shape{exists ? kv_heads : 0, problem.seq_kv, tiling.kv_rows, bytes};
  };
  const auto of_parts = [&](int64_t bytes) {
    Shape shape = of_keys(backward && split, bytes);
    shape.heads *= schedule.kv_split;
    return shape;
  };
  const Shape partial_o =
      pieces.count > 0 ? Shape{pieces.count, pieces.tiles * pieces.tile_rows, pieces.tile_rows,
                               o_sum_bytes + pieces.floats_beside_o * float_bytes}
                       : Shape{parts, problem.seq_q, tiling.q_rows, o_sum_bytes};
  return {{
      of_queries(true, q_bytes),
      of_keys(true, k_bytes),
      of_keys(!problem.kv_latent, v_bytes),
      of_queries(!backward || around, o_bytes),
      of_queries(request.log_sum_exp || backward, float_bytes),
      partial_o,
      {parts, problem.seq_q, tiling.q_rows, float_bytes},
      of_queries(false, 0),
      of_queries(backward, o_bytes),
      of_queries(backward, float_bytes),
      of_queries(added, dq_sum_bytes),
      of_queries(backward && (around || !added), q_bytes),
      of_keys(backward, k_bytes),
      of_keys(backward, v_bytes),
      of_queries(key_parts.exist || keeps_running_o(request), o_sum_bytes),
      of_queries(key_parts.exist, float_bytes),
      of_parts(k_bytes),
      of_parts(v_bytes),
  }};
}

// Without a mask all items have equally many steps, so that waves stay whole in lockstep; a head at
// a time, its sharers are neighbours; and these scans are the same for all of a wave.
bool sharers_keep_together(const Problem& problem, const Schedule& schedule) {
  return problem.mask.kind == MaskKind::none && schedule.kv_split == 1 &&
         schedule.order.section == 1 && traits_of(schedule.scan).one_a_wave;
}

// Where the wave prefetch cuts the tiles of K and V, so that a model of whole atoms stays exact.
//
// Sharers that stand at one tile in one step touch all of it, one part after the other: the tile is
// one atom. Otherwise a tile's parts are touched at different times, and each is an atom.
std::vector<int64_t> prefetch_cuts(const Problem& problem, const Tiling& tiling,
                                   const Schedule& schedule, int64_t row_bytes) {
  const bool whole = schedule.prefetch == 0 || schedule.loop == Loop::kv_outer ||
                     schedule.order.list != nullptr || sharers_keep_together(problem, schedule);
  if (whole) return {0};
  std::set<int64_t> sharers;
  const int64_t items = item_count(problem, tiling, schedule);
  for (int64_t item = 0; item < items; ++item)
    sharers.insert(prefetch_share(problem, tiling, schedule, item).workers);
  std::set<int64_t> cuts{0};
  const int64_t lines = prefetch_lines(tiling, row_bytes);
  for (const int64_t workers : sharers)
    for (int64_t rank = 1; rank < workers; ++rank)
      cuts.insert(PrefetchShare{rank, workers}.lines_of(lines).begin);
  return {cuts.begin(), cuts.end()};
}

bool cuts_by_pages(const Request& request, KvAtoms kv) {
  const Pages& pages = request.sequences.pages;
  return kv == KvAtoms::runs && pages.paged() && pages.rows < request.tiling.kv_rows;
}

/// Lines of a tile of K or V, with rows of `row_bytes`, at which an atom begins.
std::vector<int64_t> cuts_of(const Request& request, KvAtoms kv, int64_t row_bytes) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  std::vector<int64_t> cuts{0};
  if (cuts_by_pages(request, kv)) {
    const int64_t page_rows = request.sequences.pages.rows;
    const int64_t run_bytes = page_rows * row_bytes;
    require_whole_lines("page-rows", run_bytes, tiling.kv_rows / page_rows);
    for (int64_t row = page_rows; row < tiling.kv_rows; row += page_rows)
      cuts.push_back(row / page_rows * (run_bytes / line_bytes));
  } else if (kv == KvAtoms::parts || kv == KvAtoms::runs) {
    cuts = prefetch_cuts(problem, tiling, request.schedule, row_bytes);
  }
  return cuts;
}

/// The atoms of a tile: one, or one from each of `cuts` on. With `all` also those that begin behind
/// its end, without lines: runs of pages exist beyond a sequence's end too.
std::vector<AtomSize> atoms_of(const AtomSize& tile, std::span<const int64_t> cuts, bool all) {
  if (cuts.size() == 1) return {tile};
  std::vector<AtomSize> atoms;
  for (size_t i = 0; i < cuts.size() && (all || cuts[i] < tile.lines); ++i) {
    const int64_t end = i + 1 < cuts.size() ? cuts[i + 1] : tile.lines;
    atoms.push_back(size_of_lines(tile, min_of(cuts[i], tile.lines), min_of(end, tile.lines)));
  }
  return atoms;
}

}  // namespace

HeadAtoms::HeadAtoms(const Request& request, KvAtoms kv) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  for (const int64_t bytes : {problem.row_bytes(), problem.o_row_bytes()})
    require_whole_lines("tile-q", tiling.q_rows * bytes, q_tiles(problem, tiling));
  const std::array row_bytes{problem.k_row_bytes(), problem.v_row_bytes()};
  for (size_t t = 0; t < row_bytes.size(); ++t) {
    require_whole_lines("tile-kv", tiling.kv_rows * row_bytes[t], kv_tiles(problem, tiling));
    paged_keys_[t] = PagedKeys(problem, tiling, request.sequences.pages, row_bytes[t]);
    cuts_[t] = cuts_of(request, kv, row_bytes[t]);
  }
  const std::vector<OfSequence> lengths = number_shapes(request);
  const bool all_runs = cuts_by_pages(request, kv), pair_kv = kv == KvAtoms::pairs;
  const PieceShape pieces = piece_shape(request);
  const auto shapes = shapes_of(request, pieces);
  for (size_t t = 0; t < shapes.size(); ++t) {
    const auto tensor = static_cast<Tensor>(t);
    const Shape& shape = shapes[t];
    const uint8_t tensors = pair_kv && tensor == Tensor::k ? 2 : 1;
    const bool cut = tensor == Tensor::k || tensor == Tensor::v;
    const std::span<const int64_t> all_cuts = cuts_[tensor == Tensor::v];
    const auto cuts = all_cuts.first(cut ? all_cuts.size() : 1);
    const auto atoms_of_rows = [&](int64_t rows) {
      return atoms_of(size_of_bytes(rows * shape.row_bytes, tensor, tensors), cuts, all_runs);
    };
    OfHead& head = of_[t];
    head.heads = pair_kv && tensor == Tensor::v ? 0 : shape.heads;
    const int64_t tiles = shape.tiles();
    const std::vector<AtomSize> full = atoms_of_rows(shape.tile_rows);
    head.a_tile = std::ssize(full);
    head.count = (tiles - 1) * head.a_tile +
                 std::ssize(atoms_of_rows(shape.rows - (tiles - 1) * shape.tile_rows));
    if (head.heads == 0) continue;
    require_atom_ids(head.count);
    const bool alike = tensor == Tensor::partial_o && pieces.count > 0;  // whatever the sequence
    for (const OfSequence& of_sequence : lengths) {
      int64_t rows = shape.rows;
      if (!shape_of_.empty() && !alike)
        rows = has_key_rows(tensor) ? of_sequence.seq_kv : of_sequence.seq_q;
      const int64_t elsewhere = has_key_rows(tensor) && !of_sequence.owns_prefix
                                    ? request.sequences.prefix.tiles(tiling.kv_rows)
                                    : 0;
      std::vector<AtomSize>& sizes = head.sizes.emplace_back();
      sizes.reserve(static_cast<size_t>(head.count));
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t left =
            tile < elsewhere ? 0 : clamp_to(rows - tile * shape.tile_rows, 0, shape.tile_rows);
        const std::vector<AtomSize> atoms = left == shape.tile_rows ? full : atoms_of_rows(left);
        sizes.insert(sizes.end(), atoms.begin(), atoms.end());
      }
      if (alike) break;
    }
  }
  if (!pair_kv) return;
  of_[static_cast<size_t>(Tensor::v)] = of(Tensor::k);
  of_[static_cast<size_t>(Tensor::v)].heads = 0;
}

std::vector<HeadAtoms::OfSequence> HeadAtoms::number_shapes(const Request& request) {
  const Prefix& prefix = request.sequences.prefix;
  const bool differ = request.sequences.lengths != nullptr || prefix.shared();
  std::vector<OfSequence> lengths;
  std::map<OfSequence, size_t> known;
  for (int64_t batch = 0; batch < (differ ? request.problem.batch : 1); ++batch) {
    const Problem of = request.sequences.of(request.problem, batch);
    const OfSequence own{of.seq_q, of.seq_kv, prefix.owns(batch)};
    const auto [shape, is_new] = known.try_emplace(own, lengths.size());
    if (differ) shape_of_.push_back(shape->second);
    if (is_new) lengths.push_back(own);
  }
  shapes_ = lengths.size();
  return lengths;
}

AtomRange HeadAtoms::part(Tensor k_or_v, AtomRange tile, Range lines) const {
  const std::vector<int64_t>& cuts = cuts_[k_or_v == Tensor::v];
  const auto atom_at = [&](int64_t line) {
    const auto cut = std::lower_bound(cuts.begin(), cuts.end(), line);
    return std::min(tile.end, tile.begin + static_cast<AtomId>(cut - cuts.begin()));
  };
  return {atom_at(lines.begin), atom_at(lines.end)};
}

void require_atom_ids(int64_t count) {
  if (count < std::numeric_limits<AtomId>::max()) return;
  throw std::invalid_argument("the problem has " + std::to_string(count) +
                              " tiles; the simulator numbers fewer than 2^32: use larger tiles");
}

}  // namespace sawtooth::sim

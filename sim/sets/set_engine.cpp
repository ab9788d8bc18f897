#include "sim/sets/set_engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/sets/policy_sets.hpp"
#include "sim/sets/recency_row_avx512.hpp"

namespace sawtooth::sim {

namespace {

constexpr uint32_t empty_way = UINT32_MAX;  // no part has this number

// LRU without priorities, the fast way: with up to 16 ways and AVX-512 on rows of tags
// (recency_row.hpp), and tag by tag without.

class RecencySets : public SetEngine {
 public:
  /// Throws std::invalid_argument when `path` cannot run here; sets of more than RecencyRow::ways
  /// ways take the scalar path, whatever it is.
  RecencySets(const SetPartition& partition, uint32_t ways, VectorPath path)
      : partition_(partition), ways_(ways) {
    if (!vector_path_available(path))
      throw std::invalid_argument("sets: this CPU or build has no such vector path");
    by_vectors_ = (path == VectorPath::automatic || path == VectorPath::avx512) &&
                  ways <= RecencyRow::ways && vector_path_available(VectorPath::avx512);
    RecencyRow row;
    std::fill_n(row.tags, RecencyRow::ways, empty_way);
    if (by_vectors_)
      rows_.assign(partition.classes(), row);
    else
      tags_.assign(size_t{partition.classes()} * ways, empty_way);
  }

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override {
    if (by_vectors_) return visit_by_vectors(visits, missed_sectors.data());
    visit_parts(partition_, visits, missed_sectors, [this](uint32_t set, uint32_t part, AtomId) {
      return access(&tags_[size_t{set} * ways_], part);
    });
  }
  void mark_held(std::span<uint8_t> held) const override {
    const auto mark = [held](uint32_t tag) {
      if (tag != empty_way) held[tag] = 1;
    };
    for (const uint32_t tag : tags_) mark(tag);
    for (const RecencyRow& row : rows_)
      for (const uint32_t tag : row.tags) mark(tag);
  }
  void forget(AtomId /*atom*/) override {}

 private:
  bool access(uint32_t* tags, uint32_t tag) const {
    // Each tag moves one place on, until the one that was looked for has left its own.
    uint32_t moved = tag;
    for (uint32_t place = 0; place < ways_; ++place) {
      const uint32_t old = tags[place];
      tags[place] = moved;
      if (old == tag) return true;
      moved = old;
    }
    return false;
  }

#if defined(__x86_64__)
  SAWTOOTH_ROWS_AVX512 void visit_by_vectors(std::span<const AtomId> visits,
                                             uint32_t* missed_sectors) {
    const SetPartition::Part* parts = partition_.parts().data();
    RecencyRow* rows = rows_.data();
    const uint32_t ways = (1U << ways_) - 1;
    for (const AtomId atom : visits) {
      uint32_t missed = 0;
      const auto [begin, end] = partition_.parts_of(atom);
      for (uint32_t tag = begin; tag < end; ++tag) {
        const SetPartition::Part part = parts[tag];
        missed += make_first_avx512(rows[part.set_class], tag, ways) == 0 ? part.sectors : 0;
      }
      *missed_sectors++ = missed;
    }
  }
#else
  void visit_by_vectors(std::span<const AtomId>, uint32_t*) {}  // never called
#endif

  const SetPartition& partition_;
  uint32_t ways_;
  bool by_vectors_;
  std::vector<uint32_t> tags_;    // set after set; scalar path
  std::vector<RecencyRow> rows_;  // a set each; vector path
};

// Belady's optimum in every set: the line that is needed last leaves (Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). No
// policy that fills a line at every miss misses less with the same sets and ways. What hits is
// known when a line comes back, as in sim/belady/belady_lines.hpp.

class OptSets : public SetEngine {
 public:
  OptSets(const SetPartition& partition, uint32_t ways)
      : partition_(partition),
        places_(ways - 1),
        accesses_(partition.classes(), 0),
        free_since_(size_t{partition.classes()} * places_, 0) {}

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override {
    last_.resize(partition_.parts().size(), 0);
    visit_parts(partition_, visits, missed_sectors,
                [this](uint32_t set, uint32_t part, AtomId) { return access(set, part); });
  }
  void mark_held(std::span<uint8_t> /*held*/) const override {}
  void forget(AtomId atom) override {
    last_.resize(partition_.parts().size(), 0);
    const auto [begin, end] = partition_.parts_of(atom);
    std::fill(last_.begin() + begin, last_.begin() + end, uint64_t{0});
  }

 private:
  bool access(uint32_t set, uint32_t part) {
    const uint64_t now = ++accesses_[set];
    const uint64_t last = std::exchange(last_[part], now);
    if (last == 0) return false;
    if (last + 1 == now) return true;  // no place had to be kept
    // The place that came free last, but not later than the access that followed.
    const auto first = free_since_.begin() + static_cast<ptrdiff_t>(size_t{set} * places_);
    const auto end = first + places_;
    auto best = end;
    for (auto place = first; place != end; ++place)
      if (*place <= last + 1 && (best == end || *place > *best)) best = place;
    if (best == end) return false;
    *best = now;
    return true;
  }

  const SetPartition& partition_;
  uint32_t places_;                   // of a set that can be kept for lines while others pass by
  std::vector<uint64_t> accesses_;    // to each set so far
  std::vector<uint64_t> free_since_;  // of every place, in accesses to its set; set after set
  std::vector<uint64_t> last_;        // access to each part, in accesses to its set; 0 before
};

}  // namespace

std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities) {
  const auto ways = static_cast<uint32_t>(geometry.ways);
  if (parameters.policy == SetPolicy::opt) return std::make_unique<OptSets>(partition, ways);
  if (priorities == nullptr && parameters.policy == SetPolicy::lru)
    return std::make_unique<RecencySets>(partition, ways, parameters.path);
  return with_policy(parameters.policy, partition.classes(), ways, parameters.seed,
                     [&](auto policy) -> std::unique_ptr<SetEngine> {
                       return std::make_unique<PolicySets<decltype(policy)>>(
                           partition, geometry, std::move(policy), priorities);
                     });
}

}  // namespace sawtooth::sim

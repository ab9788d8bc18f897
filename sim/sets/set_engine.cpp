#include <algorithm>
#include <utility>

#include "sim/recency_row.hpp"
#include "sim/sets/partition.hpp"
#include "sim/sets/policy_sets.hpp"

namespace sawtooth::sim {
namespace {

// LRU without priorities of sets of up to 16 ways, on rows of tags: faster than PolicySets.

class RecencySets : public SetEngine {
 public:
  RecencySets(const SetPartition& partition, uint32_t ways)
      : partition_(partition), youths_(row_youths[ways]), rows_(partition.classes()) {
    for (RecencyRow& row : rows_) std::fill_n(row.tags, RecencyRow::ways, empty_way);
  }

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override {
    visit_parts(partition_, visits, missed_sectors, [this](uint32_t set, uint32_t part, AtomId) {
      return make_first<RowVector16>(rows_[set], part, youths_);
    });
  }
  void mark_held(std::span<uint8_t> held) const override {
    for (const RecencyRow& row : rows_)
      for (const uint32_t tag : row.tags)
        if (tag != empty_way) held[tag] = 1;
  }
  void forget(AtomId /*atom*/) override {}

 private:
  static constexpr uint32_t empty_way = UINT32_MAX;  // no part has this number

  const SetPartition& partition_;
  const RowYouths& youths_;
  std::vector<RecencyRow> rows_;
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
  if (priorities == nullptr && parameters.policy == SetPolicy::lru && ways <= RecencyRow::ways)
    return std::make_unique<RecencySets>(partition, ways);
  return with_policy(parameters.policy, partition.classes(), ways, parameters.seed,
                     [&](auto policy) -> std::unique_ptr<SetEngine> {
                       return std::make_unique<PolicySets<decltype(policy)>>(
                           partition, geometry, std::move(policy), priorities);
                     });
}

}  // namespace sawtooth::sim

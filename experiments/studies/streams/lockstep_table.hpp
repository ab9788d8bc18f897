// The table of reads in lockstep: one row a pattern and place of memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/support/typed_csv.hpp"
#include "experiments/studies/streams/lockstep_patterns.hpp"

namespace sawtooth::experiments {

inline constexpr std::array lockstep_counters{
    cupti::L2Counter::dram_read, cupti::L2Counter::l2_read, cupti::L2Counter::l2_read_miss,
    cupti::L2Counter::fabric_read, cupti::L2Counter::fabric_read_miss};

struct LockstepRow {
  LockstepPattern pattern;  // its steps are those that were read, of causal ones as well
  int64_t ctas = 0;
  bool apart = false;
  int64_t first_offset_mib = 0;
  std::optional<int64_t> second_offset_mib;  // apart
  int64_t repetition = 0;
  double us = 0;
  std::array<std::optional<int64_t>, lockstep_counters.size()> sectors;
};

inline TypedColumns<LockstepRow> lockstep_columns() {
  using Row = LockstepRow;
  using Pattern = LockstepPattern;
  static constexpr std::string_view across[] = {"no", "yes"}, places[] = {"together", "apart"};
  TypedColumns<Row> columns{
      {"family", [](Row& row) { return named(lockstep_family_names, row.pattern.family); }},
      {"mib", &Row::pattern, &Pattern::mib},
      {"lanes", &Row::pattern, &Pattern::lanes},
      {"readers", &Row::pattern, &Pattern::readers},
      {"distance_mib", &Row::pattern, &Pattern::distance_mib},
      {"second_mib", &Row::pattern, &Pattern::second_mib},
      {"across", [](Row& row) { return named(across, row.pattern.across); }},
      {"seed", &Row::pattern, &Pattern::seed},
      {"pace_us", &Row::pattern, &Pattern::pace_us},
      {"access", [](Row& row) { return named(lockstep_access_names, row.pattern.access); }},
      {"ctas", &Row::ctas},
      {"place", [](Row& row) { return named(places, row.apart); }},
      {"first_offset_mib", &Row::first_offset_mib},
      {"second_offset_mib", &Row::second_offset_mib},
      {"repetition", &Row::repetition},
      {"steps", &Row::pattern, &Pattern::steps},
      {"us", &Row::us}};
  for (size_t i = 0; i < lockstep_counters.size(); ++i)
    columns.emplace_back(std::string(cupti::column_of(lockstep_counters[i])),
                         [i](Row& row) -> TypedCell { return &row.sectors[i]; });
  return columns;
}

}  // namespace sawtooth::experiments

// Reads in lockstep as they were measured, and the same order of reads through sim/halves.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "kernels/stream/lockstep_patterns.hpp"
#include "scheduler/memory_units.hpp"
#include "sim/halves/halves_in_step.hpp"

namespace sawtooth::tests {

/// One pattern at places of one kind.
struct LockstepReadings {
  kernels::LockstepPattern pattern;
  bool apart = false;
  int64_t per_half = 0;
  std::vector<int64_t> dram_read_sectors;  // one a place, ascending

  int64_t least() const { return dram_read_sectors.front(); }
  int64_t most() const { return dram_read_sectors.back(); }
  double median() const {
    const size_t n = dram_read_sectors.size();
    return 0.5 * double(dram_read_sectors[(n - 1) / 2] + dram_read_sectors[n / 2]);
  }
};

inline std::vector<LockstepReadings> read_lockstep_csv(const std::string& path) {
  const experiments::CsvTable table = experiments::read_csv(path);
  std::vector<LockstepReadings> all;
  for (const experiments::CsvRow& row : table.rows) {
    const auto cell = [&](std::string_view name) { return row[table.column(name).value()]; };
    const auto number = [&](std::string_view name) { return std::stoll(cell(name)); };
    LockstepReadings r;
    r.pattern = {.family = kernels::lockstep_family_named(cell("family")).value(),
                 .mib = number("mib"),
                 .lanes = number("lanes"),
                 .readers = number("readers"),
                 .distance_mib = number("distance_mib"),
                 .second_mib = number("second_mib"),
                 .across = cell("across") == "yes",
                 .seed = number("seed"),
                 .pace_us = number("pace_us"),
                 .access = cell("access") == "ld" ? kernels::LockstepAccess::ld
                                                  : kernels::LockstepAccess::cp_async,
                 .steps = number("steps")};
    r.apart = cell("place") == "apart";
    r.per_half = number("ctas") / 2;
    const auto same = std::ranges::find_if(all, [&](const LockstepReadings& other) {
      return other.pattern == r.pattern && other.apart == r.apart;
    });
    LockstepReadings& readings = same == all.end() ? all.emplace_back(r) : *same;
    readings.dram_read_sectors.push_back(number("dram_read_sectors"));
  }
  for (LockstepReadings& readings : all) std::ranges::sort(readings.dram_read_sectors);
  return all;
}

/// What `sawtooth simulate --gpu ... --l2 halves` gives the model.
inline sim::HalvesParameters halves_of(const sim::Gpu& gpu) {
  return {.halves = static_cast<int>(gpu.l2_halves.value()),
          .capacity_lines = gpu.l2_bytes / gpu.l2_halves.value() / line_bytes,
          .ways = static_cast<int>(gpu.l2_ways.value()),
          .reserved = gpu.l2_reserved_share.value(),
          .scattered = gpu.l2_scattered_share.value_or(0),
          .far_first_waiting = gpu.far_first_waiting_share.value(),
          .far_first_running = gpu.far_first_running_share.value()};
}

/// DRAM reads of the model, with those of the table that the kernel reads. CTAs that read one tile
/// in one step make one visit; the visits of a step come in the order of the tiles' hashes, for
/// nothing orders them on a GPU.
inline int64_t replay_dram_sectors(const kernels::LockstepOrder& order,
                                   const sim::HalvesParameters& parameters) {
  const auto tiles = static_cast<size_t>(order.buffer_tiles());
  constexpr sim::AtomSize tile{.lines = kernels::lockstep_tile_bytes / line_bytes,
                               .sectors = kernels::lockstep_tile_bytes / sector_bytes,
                               .tensor = 0,
                               .tensors = 2};  // a half of each in either allocation
  sim::HalvesInStep l2(parameters, std::vector<sim::AtomSize>(tiles, tile),
                       std::vector<uint8_t>(tiles, 0), 1);
  std::vector<uint32_t> visit_of_tile(tiles, UINT32_MAX);
  std::vector<sim::HalfVisit> visits;
  const int64_t steps = order.steps();
  for (int64_t step = 0; step < steps; ++step) {
    visits.clear();
    for (int64_t cta = 0; cta < order.ctas(); ++cta) {
      const int32_t read = order.tiles[static_cast<size_t>(step * order.ctas() + cta)];
      if (read == kernels::LockstepOrder::none) continue;
      uint32_t& visit = visit_of_tile[static_cast<size_t>(read)];
      if (visit == UINT32_MAX) {
        visit = static_cast<uint32_t>(visits.size());
        visits.push_back({.atom = static_cast<sim::AtomId>(read)});
      }
      ++visits[visit].times[cta < order.per_half ? 0 : 1];
    }
    std::ranges::sort(visits, {}, [&](const sim::HalfVisit& v) {
      return mix_seed(static_cast<uint64_t>(step), v.atom);
    });
    for (const sim::HalfVisit& visit : visits) {
      l2.visit(visit);
      visit_of_tile[visit.atom] = UINT32_MAX;
    }
  }
  return l2.counters(0).dram_read_sectors.value() + order.table_sectors();
}

}  // namespace sawtooth::tests

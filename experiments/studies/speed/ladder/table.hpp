// The ladder's results: one row a level, as a table for people and as CSV, with what each step was
// meant to change as hardware counters: bank conflicts, warps ready to issue, warps resident, and
// the traffic of the two loops. Names are CUPTI's (Nsight Compute, "Metrics Guide"); the same on
// GA100 to GB20B unless a chip lacks one.
#pragma once

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ladder/ladder.hpp"

namespace sawtooth::experiments::ladder {

struct Counter {
  std::string_view column;
  std::string_view metric;
};

inline constexpr std::array counters{
    // Turns of the shared-memory pipeline, and those of them that only a conflict made necessary.
    Counter{"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    Counter{"bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
    // Warps a scheduler could issue from, a cycle; share of cycles in which it issued.
    Counter{"eligible_warps", "smsp__warps_eligible.avg.per_cycle_active"},
    Counter{"issue_active_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    Counter{"achieved_occupancy_pct", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    Counter{"tensor_active_pct",
            "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active"},
    Counter{"sm_read_sectors", "l1tex__m_xbar2l1tex_read_sectors.sum"},
    Counter{"l2_read_sectors", "lts__t_sectors_srcunit_tex_op_read.sum"},
    Counter{"l2_write_sectors", "lts__t_sectors_srcunit_tex_op_write.sum"},
    Counter{"dram_read_sectors", "dram__sectors_read.sum"},
};

/// Values by place in `counters`; empty where the chip has no such counter or counters are off.
using Values = std::array<std::optional<double>, counters.size()>;

/// Those of `counters` that `chip` has and can schedule, by place. Needs no GPU.
/// Throws cupti::CounterError when CUPTI cannot be asked at all.
std::vector<std::size_t> available_counters(const std::string& chip);

struct Row {
  kernels::ladder::Level level;
  kernels::ladder::Footprint footprint;
  double output_error = 0;
  double allowed_error = 0;
  double time_us = 0;  // median
  double fastest_us = 0;
  double slowest_us = 0;
  double tflops = 0;
  Values counters{};
  std::string status = "ok";  // or why counters are empty
};

void print_table(std::ostream& out, const Problem& problem, const std::vector<Row>& rows);

/// One row a level; empty cells were not measured.
void write_csv(std::ostream& out, const std::string& gpu, const Problem& problem,
               const std::vector<Row>& rows);

}  // namespace sawtooth::experiments::ladder

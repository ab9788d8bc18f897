#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "experiments/sawtooth/learn/learn.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

std::string needed(const CsvTable& table, size_t row, std::string_view column) {
  std::string text = table.cell(row, column);
  if (text.empty())
    throw UsageError(table.place(row) + ": " + std::string(column) +
                     " is missing; learn needs it of every launch");
  return text;
}

template <class Number>
Number number_in(const CsvTable& table, size_t row, std::string_view column) {
  needed(table, row, column);
  return positive_number<Number>(table, row, column);
}

std::string cell_or(const CsvTable& table, size_t row, std::string_view column,
                    std::string_view otherwise) {
  std::string text = table.cell(row, column);
  return text.empty() ? std::string(otherwise) : text;
}

inject::Extent extent_in(const CsvTable& table, size_t row, std::string_view column) {
  const std::string text = needed(table, row, column);
  inject::Extent extent{};
  const auto& [x, y, z] = extent;
  std::sscanf(text.c_str(), "%ux%ux%u", &extent[0], &extent[1], &extent[2]);
  if (x == 0 || y == 0 || z == 0 || inject::extent_text(extent) != text)
    throw UsageError(table.place(row) + ": " + std::string(column) + ": '" + text +
                     "' is not allowed; allowed: three numbers such as 128x4x1");
  return extent;
}

LearnProblem problem_of(const CsvTable& table, size_t row) {
  LearnProblem problem{.seq = number_in<int64_t>(table, row, "seq_q"),
                       .mask = cell_or(table, row, "mask", "none"),
                       .scan = table.cell(row, "scan")};
  if (!table.cell(row, "heads").empty()) problem.heads = number_in<int64_t>(table, row, "heads");
  problem.kv_heads = problem.heads;
  if (!table.cell(row, "kv_heads").empty())
    problem.kv_heads = number_in<int64_t>(table, row, "kv_heads");
  return problem;
}

// The first launch loads the kernel.
double median_behind_first(std::vector<double> values) {
  if (values.size() > 1) values.erase(values.begin());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

KernelLaunch launch_of(const CsvTable& table, size_t first, size_t end) {
  KernelLaunch launch{.problem = problem_of(table, first),
                      .grid = extent_in(table, first, "grid"),
                      .block = extent_in(table, first, "block"),
                      .shared_bytes = number_in<int64_t>(table, first, "shared_bytes"),
                      .registers = number_in<int64_t>(table, first, "registers"),
                      .line = table.line_of_row[first]};
  const auto median = [&](std::string_view column) {
    std::vector<double> values;
    for (size_t row = first; row < end; ++row)
      values.push_back(number_in<double>(table, row, column));
    return median_behind_first(std::move(values));
  };
  for (size_t row = first; row < end; ++row) {
    if (table.cell(row, "kernel_name") != table.cell(first, "kernel_name") ||
        extent_in(table, row, "grid") != launch.grid ||
        extent_in(table, row, "block") != launch.block)
      throw UsageError(table.place(row) + ": several kernels ran for one problem; name one " +
                       "with --kernel REGEX");
  }
  launch.time_us = median("time_us");
  launch.sm_read_sectors = median("sm_read_sectors");
  launch.dram_read_sectors = median("dram_read_sectors");
  return launch;
}

}  // namespace

KernelLaunches read_launches(const CsvTable& table) {
  KernelLaunches read;
  read.path = table.path;
  if (table.rows.empty()) throw UsageError(table.path + ": has no launches");
  for (size_t row = 0; row < table.rows.size();) {
    const LearnProblem problem = problem_of(table, row);
    size_t end = row + 1;
    while (end < table.rows.size() && problem_of(table, end) == problem) ++end;
    if (read.launches.empty()) {
      read.kernel = table.cell(row, "kernel_name");
      read.gpu = needed(table, row, "gpu");
      read.dtype = cell_or(table, row, "dtype", "bf16");
      read.head_dim = number_in<int64_t>(table, row, "head_dim");
    }
    for (const auto& [column, first] : {std::pair{"gpu", read.gpu}, std::pair{"dtype", read.dtype},
                                        std::pair{"head_dim", std::to_string(read.head_dim)}}) {
      const std::string other = cell_or(table, row, column, first);
      if (other != first)
        throw UsageError(table.place(row) + ": " + column + " = " + other + " beside " + first +
                         "; give the rows of one kernel on one GPU");
    }
    read.launches.push_back(launch_of(table, row, end));
    row = end;
  }
  return read;
}

double share_of_l2(const sim::Gpu& gpu, int64_t seq, int64_t head_dim, const std::string& dtype) {
  const double row_bytes = double(head_dim) * (dtype == "fp32" ? 4 : 2);
  return 2 * double(seq) * row_bytes / (double(gpu.l2_bytes) / double(gpu.l2_halves.value_or(1)));
}

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 8.0 to 12.x: of an
// SM, and how registers are given to warps. Compute capability 8.6, 8.9 and 12.x run 1536 threads.
constexpr int64_t registers_an_sm = 65536;
constexpr int64_t threads_an_sm = 2048;
constexpr int64_t register_unit = 8;  // of a thread
constexpr int64_t reserved_shared_bytes = 1024;
constexpr auto tile_rows_of_use =
    std::to_array<int64_t>({16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256});
// That of FlashAttention-2 (profiles/systems/flash-attention-2.ini).
constexpr double usual_age_bias = 0.05;
// Reads by SMs tell rows of a Q tile where they are off by less than neighbouring tiles are.
constexpr double told_by_reads = 0.05;

int64_t ctas_of(const KernelLaunch& launch) {
  return int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
}

int64_t resident_ctas(const KernelLaunch& launch, const sim::Gpu& gpu) {
  const int64_t threads = int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const int64_t registers = ceil_div(launch.registers, register_unit) * register_unit * threads;
  int64_t ctas = std::min(registers_an_sm / std::max<int64_t>(1, registers),
                          threads_an_sm / std::max<int64_t>(1, threads));
  if (gpu.shared_memory_block_bytes)
    ctas = std::min(ctas, (*gpu.shared_memory_block_bytes + reserved_shared_bytes) /
                              (launch.shared_bytes + reserved_shared_bytes));
  return std::max<int64_t>(1, ctas);
}

// Rows of Q that give every launch its grid, a CTA an item; 0: none do.
int64_t tile_of_grids(const KernelLaunches& rows) {
  for (const int64_t tile : tile_rows_of_use)
    if (std::ranges::all_of(rows.launches, [&](const KernelLaunch& launch) {
          return ceil_div(launch.problem.seq, tile) * launch.problem.heads == ctas_of(launch);
        }))
      return tile;
  return 0;
}

// Without a mask every item reads all of K and V.
int64_t tile_of_reads(const KernelLaunches& rows) {
  const KernelLaunch* longest = nullptr;
  for (const KernelLaunch& launch : rows.launches)
    if (launch.problem.mask == "none" &&
        (longest == nullptr || launch.problem.seq > longest->problem.seq))
      longest = &launch;
  if (longest == nullptr) return 0;
  const double kv_sectors = 2 * double(longest->problem.seq) * double(rows.head_dim) *
                            (rows.dtype == "fp32" ? 4 : 2) / sector_bytes;
  const double items = longest->sm_read_sectors / kv_sectors / double(longest->problem.heads);
  const auto off = [&](int64_t tile) {
    return std::abs(std::log(items / double(ceil_div(longest->problem.seq, tile))));
  };
  const auto best = std::ranges::min_element(tile_rows_of_use, {}, off);
  return off(*best) < told_by_reads ? *best : 0;
}

// CTAs that stay: as many in every launch that has enough items.
int64_t persistent_ctas(const KernelLaunches& rows, int64_t tile_q) {
  int64_t most = 0;
  for (const KernelLaunch& launch : rows.launches) most = std::max(most, ctas_of(launch));
  for (const KernelLaunch& launch : rows.launches) {
    const int64_t items = ceil_div(launch.problem.seq, tile_q) * launch.problem.heads;
    if (ctas_of(launch) != std::min(most, items) && ctas_of(launch) != most) return 0;
  }
  return most;
}

Description shared(Description known) {
  if (known.ctas_per_sm > 1) known.drift = {.keep_step = false, .age_bias = usual_age_bias};
  return known;
}

}  // namespace

DescriptionKeys Description::keys() const {
  DescriptionKeys keys{{"launch", launch}};
  if (persistent()) keys.emplace_back("workers", std::to_string(workers));
  keys.insert(keys.end(), {{"ctas-per-sm", std::to_string(ctas_per_sm)},
                           {"tile-q", std::to_string(tile_q)},
                           {"tile-kv", std::to_string(tile_kv)},
                           {"section", section},
                           {"q-order", q_order},
                           {"scan", scan}});
  return keys;
}

std::string Description::text() const {
  return join_list(keys(), ", ", [](const auto& key) { return key.first + " = " + key.second; });
}

Description described(const KernelLaunches& rows, const sim::Gpu& gpu,
                      std::optional<int64_t> tile_q, std::optional<int64_t> tile_kv) {
  Description known;
  known.tile_kv = tile_kv.value_or(known.tile_kv);
  known.ctas_per_sm = resident_ctas(rows.launches.front(), gpu);
  const int64_t by_grid = tile_of_grids(rows);
  known.tile_q = tile_q.value_or(by_grid);
  const KernelLaunch& widest = *std::ranges::max_element(
      rows.launches, {}, [](const KernelLaunch& launch) { return launch.problem.heads; });
  if (by_grid == known.tile_q && by_grid > 0) {
    const int64_t heads = widest.problem.heads;
    known.one_dimension = widest.grid[1] == 1 && widest.grid[2] == 1;
    if (heads > 1 && widest.grid[0] == heads && !known.one_dimension) known.section = "all";
    return shared(known);
  }
  if (known.tile_q == 0) known.tile_q = tile_of_reads(rows);
  if (known.tile_q > 0) known.workers = persistent_ctas(rows, known.tile_q);
  if (known.workers == 0)
    throw UsageError(rows.path + ": grids such as " + inject::extent_text(widest.grid) +
                     " are neither a CTA an item nor as many CTAs in each launch" +
                     (known.tile_q == 0 ? ", and reads by SMs do not say the rows of a Q tile; "
                                          "give --tile-q, or a launch without a mask"
                                        : "; give --tile-q"));
  known.launch = "static";
  known.one_dimension = true;
  known.ctas_per_sm =
      std::min(known.ctas_per_sm, ceil_div(known.workers, std::max<int64_t>(1, gpu.sms)));
  return shared(known);
}

std::vector<Description> possible_orders(const Description& known, bool masked,
                                         bool several_heads) {
  std::vector<Description> all{known};
  const auto each = [&](std::string Description::*member, std::vector<std::string> values) {
    std::vector<Description> more;
    for (const Description& one : all)
      for (const std::string& value : values) more.emplace_back(one).*member = value;
    all = std::move(more);
  };
  if (known.persistent()) each(&Description::launch, {"static", "dynamic"});
  if (masked) each(&Description::q_order, {"ascending", "descending"});
  if (several_heads && known.one_dimension) each(&Description::section, {"1", "all"});
  // Without a mask a reversed scan is a linear one in a mirror; a CTA of one item has no turn.
  std::vector<std::string> scans{"linear"};
  if (masked) scans.emplace_back("reverse");
  if (known.persistent()) scans.emplace_back("sawtooth");
  each(&Description::scan, scans);
  return all;
}

}  // namespace sawtooth::experiments

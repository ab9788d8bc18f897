#include <algorithm>
#include <array>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t least_linear_rows = 3;

// Columns of results.csv that make a point, and those without which a time says nothing.
constexpr auto point_columns = std::to_array<std::string_view>(
    {"gpu",      "batch",      "heads",  "kv_heads", "seq_q",       "seq_kv",
     "head_dim", "dtype",      "mask",   "tile_q",   "tile_kv",     "section",
     "q_order",  "head_order", "launch", "workers",  "ctas_per_sm", "scan",
     "prefetch", "kv_split",   "loop",   "lse"});
constexpr auto needed_columns =
    std::to_array<std::string_view>({"seq_q", "seq_kv", "head_dim", "tile_q", "tile_kv", "launch",
                                     "workers", "ctas_per_sm", "scan", "time_us"});
// What one kernel on one GPU has one of.
constexpr auto kernel_columns = std::to_array<std::string_view>(
    {"kernel", "gpu", "head_dim", "dtype", "mask", "tile_q", "tile_kv"});

Point point_of(const CsvTable& table, size_t row, const std::string& gpu, Catalog& catalog) {
  Settings settings;
  const Origin origin{table.place(row), 0};
  assign(settings, "timing", "timed", {});
  assign(settings, "l2", "halves", {});
  assign(settings, "kernel-costs", "mma", {});  // no kernel of kernels/mma, whatever its tiles
  if (!gpu.empty()) assign(settings, "gpu", gpu, {});
  for (const std::string_view column : point_columns) {
    const std::string cell = table.cell(row, column);
    std::string key(column);
    std::replace(key.begin(), key.end(), '_', '-');
    if (cell.empty() || settings.contains(key)) continue;
    try {
      assign(settings, key, cell, {});
    } catch (const UsageError& error) {
      throw UsageError(table.place(row) + ": " + error.what());
    }
  }
  try {
    return resolve(settings, catalog);
  } catch (const UsageError& error) {
    throw UsageError(table.place(row) + ": " + error.what());
  }
}

double kv_bytes(const Problem& problem) {
  return 2 * double(problem.seq_kv) * double(problem.row_bytes());
}

// Beyond what one half keeps, and what it keeps with room for Q and O beside it.
double l2_part(const Point& point) {
  return double(point.request.l2_bytes) / double(point.gpu.l2_halves.value_or(1));
}
bool is_inside(const Point& point) {
  constexpr double room = 0.75;
  return kv_bytes(point.request.problem) <= room * l2_part(point);
}
bool is_beyond(const Point& point) {
  return kv_bytes(point.request.problem) > l2_part(point);
}

void refuse_several_kernels(const CsvTable& table, const std::vector<size_t>& used) {
  for (const std::string_view column : kernel_columns) {
    for (const size_t row : used) {
      const std::string first = table.cell(used.front(), column), other = table.cell(row, column);
      if (other != first)
        throw UsageError(table.path + ": has rows of " + std::string(column) + " = " + first +
                         " and of " + other + "; give the rows of one kernel and shape");
    }
  }
}

void refuse_too_few(const TaughtRows& taught) {
  size_t linear = 0, inside = 0, beyond = 0, sawtooth = 0;
  for (const TaughtRow& row : taught.rows) {
    const std::string place = taught.path + ":" + std::to_string(row.line);
    if (row.linear) {
      ++linear;
      if (row.inside) ++inside;
      if (is_beyond(row.point)) ++beyond;
      continue;
    }
    const std::string scan = row.point.text("scan");
    if (scan != "sawtooth" || !row.inside)
      throw UsageError(place + ": scan = " + scan + (row.inside ? "" : " with K/V beyond L2") +
                       " is not for learning; allowed: linear, and one sawtooth row inside L2");
    if (++sawtooth > 1)
      throw UsageError(place + ": a second sawtooth row; allowed: one, inside L2");
  }
  const std::string needs = taught.path + ": teach needs ";
  if (linear < least_linear_rows)
    throw UsageError(needs + "at least " + std::to_string(least_linear_rows) +
                     " rows of linear scans with time_us; there are " + std::to_string(linear));
  if (inside == 0)
    throw UsageError(needs +
                     "a linear row with K/V of a head inside L2 (at most 3/4 of a half of "
                     "it): the step without a miss");
  if (beyond == 0)
    throw UsageError(needs +
                     "a linear row with K/V of a head beyond L2 (more than a half of it): "
                     "what a miss costs");
}

}  // namespace

TaughtRows taught_rows(const CsvTable& table, const std::string& gpu, Catalog& catalog) {
  for (const std::string_view column : needed_columns)
    if (!table.column(column))
      throw UsageError(table.path + ": has no column '" + std::string(column) +
                       "'; teach needs the problem, tile_q, tile_kv, launch, workers, ctas_per_sm, "
                       "scan and time_us of results.csv");
  std::vector<size_t> used;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string status = table.cell(row, "status");
    if (table.cell(row, "source") == "predicted" || table.cell(row, "time_us").empty()) continue;
    if (!status.empty() && status != "ok") continue;
    for (const std::string_view column : needed_columns)
      if (table.cell(row, column).empty())
        throw UsageError(table.place(row) + ": " + std::string(column) + ": is empty");
    used.push_back(row);
  }
  if (used.empty()) throw UsageError(table.path + ": has no measured row with time_us");
  refuse_several_kernels(table, used);
  if (gpu.empty() && table.cell(used.front(), "gpu").empty())
    throw UsageError(table.path + ": has no gpu; give it by --gpu");

  TaughtRows taught{table.path, table.cell(used.front(), "kernel"), {}};
  for (const size_t row : used) {
    TaughtRow made{.point = point_of(table, row, gpu, catalog)};
    made.time_ns = positive_number<double>(table, row, "time_us") * ns_a_us;
    made.line = table.line_of_row[row];
    made.linear = made.point.text("scan") == "linear";
    made.inside = is_inside(made.point);
    const std::string state = table.cell(row, "state");
    made.warm = made.inside && !state.empty() && state != "cold";
    taught.rows.push_back(std::move(made));
  }
  refuse_too_few(taught);
  return taught;
}

}  // namespace sawtooth::experiments

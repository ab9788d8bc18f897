#include <algorithm>
#include <cstdio>

#include "experiments/sawtooth/learn/learn.hpp"
#include "experiments/sawtooth/support/text.hpp"

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
  const std::string text = needed(table, row, column);
  const auto number = number_of<Number>(text);
  if (!number || !(*number > 0))
    throw UsageError(table.place(row) + ": " + std::string(column) + ": '" + text +
                     "' is not allowed; allowed: a number above 0");
  return *number;
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

}  // namespace sawtooth::experiments

#include <algorithm>
#include <array>
#include <iostream>

#include "experiments/sawtooth/advise/advice.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int seeds = 3;

// What a problem and what an order is, by keys whose values the table shows.
constexpr auto problem_keys =
    std::to_array<const char*>({"gpu", "batch", "heads", "kv-heads", "seq-q", "seq-kv", "head-dim",
                                "dtype", "mask", "tile-q", "tile-kv", "workers"});
constexpr auto order_keys = std::to_array<const char*>({"section", "q-order", "launch", "scan"});

// The order of today is the first value of each key; what is not given varies by itself.
Settings with_orders(Settings given, const Configuration& configuration) {
  const auto is_given = [&](const char* key) {
    return given.contains(key) ||
           std::any_of(configuration.sweeps.begin(), configuration.sweeps.end(),
                       [&](const Sweep& sweep) { return sweep.settings.contains(key); });
  };
  const auto vary = [&](const char* key, const char* values) {
    if (!is_given(key)) assign(given, key, values, {});
  };
  vary("timing", "timed");
  vary("l2", "halves");
  vary("scan", "linear,sawtooth,attach");
  if (is_given("mask") && !is_given("order-file")) vary("q-order", "ascending,descending");
  return given;
}

struct Advised {
  Point point;
  OrderForecast forecast;
  Change change;
};

// Orders of one problem, the first of which is today's.
std::string problem_of(const Point& point) {
  std::string text;
  for (const char* key : problem_keys)
    text.append(text.empty() ? "" : ", ").append(key).append(" ").append(point.text(key));
  return text;
}

std::string signed_percent(double value) {
  const std::string text = fixed(value, 1);
  return std::string(value >= 0.05 ? "+" : "").append(text == "-0.0" ? "0.0" : text);
}

CsvRow csv_row(const Advised& row) {
  CsvRow cells;
  for (const char* key : problem_keys) cells.push_back(row.point.text(key));
  for (const char* key : order_keys) cells.push_back(row.point.text(key));
  cells.push_back(std::to_string(row.forecast.dram_read_sectors));
  for (const double value : {row.forecast.time_us, row.forecast.low_us, row.forecast.high_us})
    cells.push_back(fixed(value, 2));
  for (const double value : {row.change.dram_percent, row.change.time_percent,
                             row.change.low_percent, row.change.high_percent})
    cells.push_back(fixed(value, 2));
  cells.push_back(row.change.why);
  return cells;
}

CsvRow csv_columns() {
  CsvRow columns(problem_keys.begin(), problem_keys.end());
  columns.insert(columns.end(), order_keys.begin(), order_keys.end());
  for (std::string& column : columns) std::ranges::replace(column, '-', '_');
  columns.insert(columns.end(), {"dram_read_sectors", "time_us", "time_us_low", "time_us_high",
                                 "dram_change_percent", "time_change_percent",
                                 "time_change_percent_low", "time_change_percent_high", "why"});
  return columns;
}

void print_table(const std::vector<Advised>& rows) {
  std::string problem;
  for (size_t first = 0; first < rows.size();) {
    size_t end = first;
    problem = problem_of(rows[first].point);
    while (end < rows.size() && problem_of(rows[end].point) == problem) ++end;
    std::vector<CsvRow> lines{
        {"order", "DRAM reads", "change", "time (us)", "change (90 %)", "why"}};
    for (size_t i = first; i < end; ++i) {
      const Advised& row = rows[i];
      std::string order;
      for (const char* key : order_keys) {
        const bool differs =
            std::any_of(rows.begin() + std::ptrdiff_t(first), rows.begin() + std::ptrdiff_t(end),
                        [&](const Advised& other) {
                          return other.point.text(key) != rows[first].point.text(key);
                        });
        if (differs || order_keys.back() == std::string_view(key))
          order.append(order.empty() ? "" : ", ").append(row.point.text(key));
      }
      const bool today = i == first;
      lines.push_back({order, std::to_string(row.forecast.dram_read_sectors),
                       today ? "" : signed_percent(row.change.dram_percent) + " %",
                       fixed(row.forecast.time_us, 0) + " (" + fixed(row.forecast.low_us, 0) +
                           " to " + fixed(row.forecast.high_us, 0) + ")",
                       today ? "today"
                             : signed_percent(row.change.time_percent) + " % (" +
                                   signed_percent(row.change.low_percent) + " to " +
                                   signed_percent(row.change.high_percent) + ")",
                       today ? fixed(100 * row.forecast.latency_us / row.forecast.time_us, 1) +
                                   " % of its time waits for latency"
                             : row.change.why});
    }
    std::cout << problem << ", section " << rows[first].point.text("section") << ", launch "
              << rows[first].point.text("launch") << "\n";
    for (size_t l = 0; l < lines.size(); ++l) {
      std::string text;
      for (size_t c = 0; c < lines[l].size(); ++c) {
        size_t width = 0;
        for (const CsvRow& line : lines) width = std::max(width, line[c].size());
        text.append("  ").append(lines[l][c]);
        if (c + 1 < lines[l].size()) text.append(width - lines[l][c].size(), ' ');
      }
      std::cout << (l == 0 ? bold(text, Output::standard) : text) << "\n";
    }
    const auto best = std::min_element(
        rows.begin() + std::ptrdiff_t(first), rows.begin() + std::ptrdiff_t(end),
        [](const Advised& a, const Advised& b) { return a.forecast.time_us < b.forecast.time_us; });
    const bool pays = best->change.high_percent < 0;
    if (pays) {
      std::cout << "An order pays here: scan = " << best->point.text("scan")
                << ", q-order = " << best->point.text("q-order") << ".\n";
    } else {
      std::cout << "No order is faster beyond the interval.\n";
    }
    first = end;
  }
}

}  // namespace

int run_advise(const Command& command, const Arguments& arguments) {
  const SweepArguments arguments_given = parse_sweep_arguments(command, arguments);
  const Configuration& configuration = arguments_given.configuration;
  const Settings& outputs = arguments_given.outputs;
  Catalog catalog;
  std::vector<Advised> rows;
  for (const Settings& settings :
       expand(configuration, with_orders(arguments_given.command_line, configuration)))
    rows.push_back({resolve(settings, catalog), {}, {}});
  for (const Advised& row : rows)
    if (row.point.request.timing != sim::Timing::timed)
      throw UsageError("timing: advise predicts times; allowed: timed");
  // Problems stay in their order, and so do the orders of each.
  std::vector<std::string> problems;
  for (const Advised& row : rows)
    if (std::ranges::find(problems, problem_of(row.point)) == problems.end())
      problems.push_back(problem_of(row.point));
  const auto place = [&](const Advised& row) {
    return std::ranges::find(problems, problem_of(row.point)) - problems.begin();
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Advised& a, const Advised& b) { return place(a) < place(b); });

  const size_t threads = threads_of(value_or(outputs, "threads", ""));
  run_in_order(
      rows.size(), threads, [&](size_t i) { return forecast(rows[i].point, seeds); },
      [&](size_t i, OrderForecast made) { rows[i].forecast = made; }, [] {});
  for (size_t i = 0, first = 0; i < rows.size(); ++i) {
    if (problem_of(rows[i].point) != problem_of(rows[first].point)) first = i;
    rows[i].change = change_of(rows[first].forecast, rows[i].forecast,
                               rows[i].point.request.kernel.exposure_error);
    if (i == first) rows[i].change.why = "today";
  }

  if (!outputs.contains("csv") && is_terminal(Output::standard)) {
    print_table(rows);
  } else {
    std::string text = csv_line(csv_columns());
    for (const Advised& row : rows) text += csv_line(csv_row(row));
    write_output(value_or(outputs, "csv", "-"), text);
  }
  if (!is_on(outputs, "quiet") && !rows.empty()) {
    const Point& point = rows.front().point;
    std::cerr << "note: model " << point.text("timing") << ", " << point.text("l2")
              << "; judged: " << point.judgement.word << "\n";
  }
  return exit_fine;
}

}  // namespace sawtooth::experiments

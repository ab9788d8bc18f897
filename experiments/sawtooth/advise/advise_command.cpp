#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <span>

#include "experiments/sawtooth/advise/advice.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int seeds = 3;

// What a problem and what an order is, by keys whose values the table shows.
constexpr auto problem_keys =
    std::to_array<const char*>({"gpu", "batch", "heads", "kv-heads", "seq-q", "seq-kv", "head-dim",
                                "dtype", "mask", "pass", "tile-q", "tile-kv", "workers"});
constexpr auto order_keys =
    std::to_array<const char*>({"section", "q-order", "launch", "scan", "head-order", "kernel",
                                "ctas-per-sm", "prefetch", "kv-split", "order-file", "hints"});

bool is_given(const SweepArguments& given, const char* key) {
  return given.command_line.contains(key) ||
         std::ranges::any_of(given.configuration.sweeps,
                             [&](const Sweep& sweep) { return sweep.settings.contains(key); });
}

// The orders of each point of the sweep, that of today first. What is not given varies by itself,
// from what the point has without it: a plain call's or a system's order, or linear and ascending.
std::vector<Settings> orders_of(const SweepArguments& given, Catalog& catalog) {
  Settings of_all = given.command_line;
  for (const auto& [key, value] : {std::pair{"timing", "timed"}, std::pair{"l2", "halves"}})
    if (!is_given(given, key)) of_all[key] = {{value}, {}};
  std::vector<Settings> orders;
  for (Settings& settings : expand(given.configuration, of_all)) {
    const Point today = resolve(settings, catalog);
    if (today.plain_call)  // the other orders are of its kernel too
      for (const char* key : {"kernel", "tile-q", "tile-kv", "section", "launch", "ctas-per-sm"})
        settings[key] = {{today.text(key)}, {}};
    const auto values_of = [&](const char* key, std::vector<std::string> values) {
      if (is_given(given, key)) return std::vector{today.text(key)};
      std::erase(values, today.text(key));
      values.insert(values.begin(), today.text(key));
      return values;
    };
    const bool ordered = today.keys.mask.kind != MaskKind::none && today.keys.order_file.empty();
    std::vector<std::string> q_orders;
    if (ordered) q_orders = values_of("q-order", {"ascending", "descending"});
    if (!ordered || is_given(given, "q-order")) q_orders = {""};
    for (const std::string& q_order : q_orders)
      for (const std::string& scan :
           values_of("scan", {"linear", "reverse", "sawtooth", "attach"})) {
        settings["scan"] = {{scan}, {}};
        if (!q_order.empty()) settings["q-order"] = {{q_order}, {}};
        orders.push_back(settings);
      }
  }
  return orders;
}

std::string cell_of(const Point& point, std::string_view key) {
  const bool usual = key == "kernel" && point.keys.kernel.empty() && point.keys.system.empty();
  return usual ? std::string(usual_family) : point.text(key);
}

// "gpu h200, batch 1", or without names "h200, 1".
std::string text_of(const Point& point, std::span<const char* const> keys, bool named = true) {
  return join_list(keys, ", ",
                   [&](std::string key) { return (named ? key + " " : "") + cell_of(point, key); });
}

// Orders of one problem, the first of which is today's.
std::string problem_of(const Point& point) {
  return text_of(point, problem_keys);
}

std::string signed_percent(double value) {
  const std::string text = fixed(value, 1);
  return std::string(value >= 0.05 ? "+" : "").append(text == "-0.0" ? "0.0" : text);
}

std::string text_of(const Percent& percent) {
  const std::string text = signed_percent(percent.value) + " %";
  if (!percent.low || !(*percent.low < *percent.high)) return text;
  return text + " (" + signed_percent(*percent.low) + " to " + signed_percent(*percent.high) + ")";
}

CsvRow csv_row(const Advised& row) {
  const OrderForecast& made = row.forecast;
  const auto cell = [](std::optional<double> value) { return value ? fixed(*value, 2) : ""; };
  CsvRow cells;
  for (const char* key : problem_keys) cells.push_back(row.point.text(key));
  for (const char* key : order_keys) cells.push_back(row.point.text(key));
  const double factor = std::exp(made.half_width.value_or(0));
  cells.insert(cells.end(), {std::to_string(made.dram_read_sectors), fixed(made.time_us, 2)});
  for (const double end : {made.time_us / factor, made.time_us * factor})
    cells.push_back(made.half_width ? fixed(end, 2) : "");
  for (const Percent& of : {row.change.dram, row.change.time})
    cells.insert(cells.end(), {cell(of.value), cell(of.low), cell(of.high)});
  cells.insert(cells.end(), {std::string(name_of(row.change.verdict)), row.change.why});
  return cells;
}

CsvRow csv_columns() {
  CsvRow columns(problem_keys.begin(), problem_keys.end());
  columns.insert(columns.end(), order_keys.begin(), order_keys.end());
  for (std::string& column : columns) std::ranges::replace(column, '-', '_');
  columns.insert(columns.end(), {"dram_read_sectors", "time_us", "time_us_low", "time_us_high"});
  for (const std::string of : {"dram_change_percent", "time_change_percent"})
    columns.insert(columns.end(), {of, of + "_low", of + "_high"});
  columns.insert(columns.end(), {"verdict", "why"});
  return columns;
}

using Rows = std::span<const Advised>;  // of one problem

// The keys of orders in which these rows differ, or do not.
std::vector<const char*> order_keys_that(bool differ, Rows rows) {
  std::vector<const char*> keys;
  for (const char* key : order_keys)
    if (differ == std::ranges::any_of(rows, [&](const Advised& row) {
          return row.point.text(key) != rows.front().point.text(key);
        }))
      keys.push_back(key);
  return keys;
}

// One sentence on the orders of a problem against `today`, which is one of them.
std::string verdict_on(Rows rows, const Advised& today) {
  const auto keys = order_keys_that(true, rows);
  const auto change = [&](const Advised& row) { return change_of(today, row); };
  const auto most_reads = [](const Change& of) { return of.dram.high.value_or(of.dram.value); };
  const auto best = std::ranges::min_element(
      rows, {}, [&](const Advised& row) { return change(row).time.value; });
  const auto fewest = std::ranges::min_element(
      rows, {}, [&](const Advised& row) { return most_reads(change(row)); });
  const Change fastest = change(*best), frugal = change(*fewest);
  if (fastest.verdict == Effect::pays)
    return "An order pays: " + text_of(best->point, keys) + "; time " + text_of(fastest.time) +
           ", DRAM reads " + text_of(fastest.dram) + ".";
  const std::string reads =
      most_reads(frugal) < -same_reads_percent
          ? (frugal.dram.high ? " Fewest DRAM reads at worst: " : " Fewest DRAM reads: ") +
                text_of(fewest->point, keys) + ", " + text_of(frugal.dram) + "."
          : " None has surely fewer DRAM reads.";
  if (today.forecast.change_error) return "None of these orders is surely 1 % faster." + reads;
  return "No verdict on time: its changes were not judged here (judged: " +
         today.point.judgement.text() + ")." + reads;
}

// The verdict against today's order, and unless its scan is known the one against a kernel that
// scans K/V from the last tile (in the backward pass items scan Q). Lines begin with `before`.
void say_verdicts(std::ostream& out, const std::string& before, Rows rows, bool scan_given) {
  const auto keys = order_keys_that(true, rows);
  const Advised& today = rows.front();
  out << before << "Against today's " << text_of(today.point, keys) << ": "
      << verdict_on(rows, today) << "\n";
  const bool known = scan_given || today.point.keys.pass == Pass::backward;
  for (const Advised& row : rows.subspan(known ? rows.size() : 1))
    if (std::ranges::all_of(keys, [&](const char* key) {
          return row.point.text(key) ==
                 (std::string_view(key) == "scan" ? "reverse" : today.point.text(key));
        }))
      out << before
          << "If today's kernel scans K/V from the last tile, as FlashAttention-2 and -3 do: "
          << verdict_on(rows, row) << "\n";
}

void print_problem(Rows rows) {
  const auto keys = order_keys_that(true, rows);
  const Advised& today = rows.front();
  std::vector<CsvRow> lines{{"order", "DRAM reads", "change", "time (us)",
                             rows.back().change.time.low ? "change (90 %)" : "change", "why"}};
  for (const Advised& row : rows) {
    const auto& [point, usual, made, change] = row;
    lines.push_back({text_of(point, keys, false), std::to_string(made.dram_read_sectors),
                     text_of(change.dram), fixed(made.time_us, 0), text_of(change.time),
                     change.why});
  }
  lines[1][2].clear();
  lines[1][4] = "today";
  lines[1][5] = fixed(100 * today.forecast.latency_us / today.forecast.time_us, 1) +
                " % of its time waits for latency";
  auto shared = order_keys_that(false, rows);
  std::erase_if(shared, [&](const char* key) { return cell_of(today.point, key).empty(); });
  std::cout << problem_of(today.point) << "; " << text_of(today.point, shared) << "\n";
  for (const CsvRow& line : lines) {
    std::string text;
    for (size_t c = 0; c < line.size(); ++c) {
      size_t width = 0;
      for (const CsvRow& other : lines) width = std::max(width, other[c].size());
      text.append("  ").append(line[c]);
      if (c + 1 < line.size()) text.append(width - line[c].size(), ' ');
    }
    std::cout << (&line == &lines.front() ? bold(text, Output::standard) : text) << "\n";
  }
}

void say_l2_budget(const Point& point) {
  try {
    const L2Budget budget = l2_budget(point);
    constexpr double mebibyte = 1 << 20;
    std::cerr << "note: L2 budget of " << point.text("gpu") << ": " << budget.kv_heads << " of "
              << budget.all_kv_heads << " K/V heads, with all their query heads, in flight ("
              << fixed(double(budget.kv_bytes) / mebibyte, 1)
              << " MiB of K and V) keep DRAM reads compulsory";
    if (budget.kv_heads < budget.all_kv_heads)
      std::cerr << "; more read " << fixed(budget.one_more_reads, 2) << " x that";
    std::cerr << " (lockstep, " << budget.l2 << ")\n";
  } catch (const std::invalid_argument& error) {
    std::cerr << "note: no L2 budget: " << error.what() << "\n";
  }
}

}  // namespace

int run_advise(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  const Settings& outputs = given.outputs;
  Catalog catalog;
  std::vector<Advised> rows;
  for (Settings& settings : orders_of(given, catalog)) {
    const Point point = resolve(settings, catalog);
    for (const char* key : {"timing", "l2"})
      if (!is_given(given, key)) settings.erase(key);
    const Point usual = resolve_or_refuse(settings, catalog);  // costs of steps need time
    rows.push_back({point, usual.refusal.empty() ? usual : point, {}, {}});
  }
  for (const Advised& row : rows)
    if (row.point.request.timing != sim::Timing::timed)
      throw UsageError("timing: advise predicts times; allowed: timed");
  // Problems stay in their order, and so do the orders of each.
  std::map<std::string, size_t> places;
  for (const Advised& row : rows) places.try_emplace(problem_of(row.point), places.size());
  std::ranges::stable_sort(rows, {},
                           [&](const Advised& row) { return places[problem_of(row.point)]; });

  const bool for_reading = !outputs.contains("csv") && is_terminal(Output::standard);
  std::optional<OutputFile> file;  // opened before the work
  std::ostream& table = opened(value_or(outputs, "csv", "-"), file);
  run_in_order(
      rows.size(), threads_of(value_or(outputs, "threads", "")),
      [&](size_t i) { return forecast(rows[i].point, rows[i].usual, seeds); },
      [&](size_t i, OrderForecast made) { rows[i].forecast = made; }, [] {});
  const bool scan_given = is_given(given, "scan") || is_given(given, "system");
  for (size_t first = 0, end = 0; first < rows.size(); first = end) {
    while (end < rows.size() && problem_of(rows[end].point) == problem_of(rows[first].point)) ++end;
    for (size_t i = first; i < end; ++i) rows[i].change = change_of(rows[first], rows[i]);
    const Rows problem = Rows(rows).subspan(first, end - first);
    if (for_reading) {
      print_problem(problem);
      say_verdicts(std::cout, "", problem, scan_given);
    } else if (!is_on(outputs, "quiet")) {
      say_verdicts(std::cerr, "note: " + problem_of(rows[first].point) + ": ", problem, scan_given);
    }
  }
  if (!for_reading) {
    table << csv_line(csv_columns());
    for (const Advised& row : rows) table << csv_line(csv_row(row));
    if (file) file->commit();
  }
  if (!is_on(outputs, "quiet") && !rows.empty()) {
    const auto& [point, usual, forecast, change] = rows.front();
    std::cerr << "note: model " << usual.text("timing") << ", " << usual.text("l2")
              << (usual.text("timing") == "timed" ? "" : ", of times timed, " + point.text("l2"))
              << "; judged: " << usual.judgement.text() << "; times are the median of " << seeds
              << " launches, where simulate has one\n";
    for (size_t i = 0; i < rows.size(); ++i)
      if (i == 0 || problem_of(rows[i].point) != problem_of(rows[i - 1].point))
        say_l2_budget(rows[i].point);
  }
  return exit_fine;
}

}  // namespace sawtooth::experiments

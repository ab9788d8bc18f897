#include <array>
#include <charconv>
#include <variant>

#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

using L = LaunchTimes;
using Place = std::variant<std::string*, int64_t*, double*>;

struct Column {
  std::string_view name;
  Place (*of)(L&);
};

template <auto member>
Place at(L& launch) {
  return &(launch.*member);
}

constexpr auto columns = std::to_array<Column>({
    {"kernel", [](L& l) -> Place { return &l.kernel.family; }},
    {"head_dim", [](L& l) -> Place { return &l.kernel.head_dim; }},
    {"tile_q", [](L& l) -> Place { return &l.kernel.tiling.q_rows; }},
    {"tile_kv", [](L& l) -> Place { return &l.kernel.tiling.kv_rows; }},
    {"dtype", at<&L::dtype>},
    {"mask", at<&L::mask>},
    {"launch", at<&L::launch>},
    {"scan", at<&L::scan>},
    {"workers", at<&L::workers>},
    {"prefetch", at<&L::prefetch>},
    {"dram_tb_per_s", at<&L::dram_tb_per_s>},
    {"least_steps", at<&L::least_steps>},
    {"most_steps", at<&L::most_steps>},
    {"items_a_step", at<&L::items_a_step>},
    {"older_ns", at<&L::older_ns>},
    {"younger_ns", at<&L::younger_ns>},
    {"older_mean_ns", at<&L::older_mean_ns>},
    {"younger_mean_ns", at<&L::younger_mean_ns>},
    {"mean_ns", at<&L::mean_ns>},
    {"lines_ns", at<&L::lines_ns>},
    {"no_lines_ns", at<&L::no_lines_ns>},
    {"both_lines_ns", at<&L::both_lines_ns>},
    {"neither_lines_ns", at<&L::neither_lines_ns>},
    {"lines_bias", at<&L::lines_bias>},
    {"sorted_ahead", at<&L::sorted_ahead>},
    {"jitter", at<&L::jitter>},
    {"jitter_of_all", at<&L::jitter_of_all>},
    {"gpc_spread", at<&L::gpc_spread>},
    {"cta_spread", at<&L::cta_spread>},
    {"tpc_spread", at<&L::tpc_spread>},
    {"item_spread_ns", at<&L::item_spread_ns>},
    {"start_spread_ns", at<&L::start_spread_ns>},
    {"line_items", at<&L::line_items>},
    {"line_steps", at<&L::line_steps>},
    {"line_ns", at<&L::line_ns>},
    {"line_square", at<&L::line_square>},
    {"line_product", at<&L::line_product>},
    {"phase_ns", at<&L::phase_ns>},
    {"phase_slowness", at<&L::phase_slowness>},
    {"phase_share", at<&L::phase_share>},
    {"phase_variance", at<&L::phase_variance>},
    {"locked_share", at<&L::locked_share>},
    {"early_items", at<&L::early_items>},
    {"early_steps", at<&L::early_steps>},
    {"early_ns", at<&L::early_ns>},
});

constexpr int digits = 7;

std::string text_of(const Place& place) {
  if (const auto* const* text = std::get_if<std::string*>(&place)) return **text;
  if (const auto* const* count = std::get_if<int64_t*>(&place)) return std::to_string(**count);
  const double value = *std::get<double*>(place);
  if (std::isnan(value)) return "";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, digits);
  return {text.data(), end};
}

void read(const std::string& cell, const Place& place) {
  if (auto* const* text = std::get_if<std::string*>(&place)) {
    **text = cell;
  } else if (auto* const* count = std::get_if<int64_t*>(&place)) {
    **count = parse_count(cell);
  } else if (double& value = *std::get<double*>(place); cell.empty()) {
    value = not_told;
  } else {
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value))
      throw std::invalid_argument("a number");
  }
}

}  // namespace

std::string launch_times_csv(const std::vector<LaunchTimes>& launches) {
  std::string text;
  for (const Column& column : columns)
    text.append(&column == columns.data() ? "" : ",").append(column.name);
  for (LaunchTimes launch : launches) {
    text += '\n';
    for (const Column& column : columns)
      text.append(&column == columns.data() ? "" : ",").append(text_of(column.of(launch)));
  }
  return text + '\n';
}

std::vector<LaunchTimes> read_launch_times(const std::string& path) {
  const CsvTable table = read_csv(path);
  std::vector<LaunchTimes> launches(table.rows.size());
  for (const Column& column : columns) {
    const auto place = table.column(column.name);
    if (!place)
      throw UsageError(path + ": has no column " + std::string(column.name) +
                       "; allowed: launches.csv of calibrate --items ROWS.csv ITEMS.csv, or both "
                       "of these files");
    for (size_t row = 0; row < launches.size(); ++row) {
      try {
        read(table.rows[row][*place], column.of(launches[row]));
      } catch (const std::invalid_argument&) {
        throw UsageError(path + ":" + std::to_string(table.line_of_row[row]) + ": " +
                         std::string(column.name) + ": '" + table.rows[row][*place] +
                         "' is no number");
      }
    }
  }
  return launches;
}

}  // namespace sawtooth::experiments

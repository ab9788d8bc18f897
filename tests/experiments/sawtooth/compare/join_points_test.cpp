#include "experiments/sawtooth/compare/join_points.hpp"

#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::experiments {
namespace {

// A row of few words, so that many agree, and with holes.
CsvRow random_row(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + random() % words.size()));
  };
  CsvRow row(result_columns.size());
  row[result_column("source")] = one_of({"measured", "measured", "predicted", "published"});
  row[result_column("gpu")] = one_of({"h200", "h200", "gb10", ""});
  row[result_column("kernel")] = one_of({"mma-64x64", "mma-128x64", "hopper", ""});
  row[result_column("system")] = one_of({"", "", "cudnn", "flash"});
  row[result_column("seq_q")] = one_of({"1", "2", ""});
  row[result_column("launch")] = one_of({"static", "grid", ""});
  row[result_column("scan")] = one_of({"linear", "sawtooth", ""});
  row[result_column("tile_q")] = one_of({"64", ""});
  row[result_column("state")] = one_of({"cold", "warm", "cold", "cold", ""});
  return row;
}

CsvTable random_table(std::mt19937_64& random, const std::string& path) {
  std::string text = result_header();
  for (size_t rows = random() % 40; rows > 0; --rows) text += csv_line(random_row(random));
  return parse_csv(text, path);
}

// What compare.hpp says of two rows, cell by cell.
bool agree(const CsvRow& p, const CsvRow& m) {
  const size_t system = result_column("system"), launch = result_column("launch");
  const bool outside =
      m[result_column("source")] == "measured" && !m[system].empty() && m[launch].empty();
  const bool p_outside =
      p[result_column("source")] == "measured" && !p[system].empty() && p[launch].empty();
  for (const std::string_view name : join_columns()) {
    const size_t column = static_cast<size_t>(
        std::ranges::find(result_columns, name, &ResultColumn::name) - result_columns.begin());
    const auto cell = [&](const CsvRow& row) {
      return name == "kernel" ? row[column].substr(0, row[column].find('-')) : row[column];
    };
    const auto is_open = [&](const CsvRow& row, bool from_outside) {
      const bool of_schedule = name == "launch" || name == "scan" || name == "tile_q";
      return cell(row).empty() && (row[result_column("source")] == "published" ||
                                   name == "kernel" || (from_outside && of_schedule));
    };
    if (cell(p) != cell(m) && !is_open(p, p_outside) && !is_open(m, outside)) return false;
  }
  if (p[system] == m[system]) return true;
  if (!p[system].empty() && !m[system].empty()) return false;
  // An unknown order is that of its own system.
  const bool unknown = m[launch].empty() && m[result_column("source")] != "published";
  return !unknown || p[launch].empty();
}

struct Tables {
  CsvTable p, m;
  ComparedPoints predicted, measured;

  explicit Tables(std::mt19937_64& random, std::shared_ptr<PointKeys> keys)
      : p(random_table(random, "p")),
        m(random_table(random, "m")),
        predicted(p, {}, Side::predicted, keys),
        measured(m, {}, Side::measured, keys) {}

  // A row of a point; all of its rows agree in what joins.
  const CsvRow& row_of(const ComparedPoint& point, const CsvTable& table) const {
    return table.rows[point.first_row];
  }
};

RC_GTEST_PROP(JoinPoints, FindsThePairsThatARowByRowComparisonFinds, (uint64_t seed)) {
  std::mt19937_64 random(seed);
  const Tables tables(random, std::make_shared<PointKeys>());
  JoinedPairs pairs;
  for (uint32_t p = 0; p < tables.predicted.points().size(); ++p)
    for (uint32_t m = 0; m < tables.measured.points().size(); ++m)
      if (agree(tables.row_of(tables.predicted.points()[p], tables.p),
                tables.row_of(tables.measured.points()[m], tables.m)))
        pairs.emplace_back(p, m);
  RC_ASSERT(join_points(tables.predicted, tables.measured) == pairs);
}

// Two of the three predicted points differ from the only measured one in scan, one in scan and seq.
TEST(ColumnsApart, CountsTheColumnsThatKeepPointsFromTheNearestOne) {
  const auto row = [](const std::string& seq, const std::string& scan) {
    CsvRow cells(result_columns.size());
    cells[result_column("seq_q")] = seq;
    cells[result_column("scan")] = scan;
    return csv_line(cells);
  };
  const auto keys = std::make_shared<PointKeys>();
  const ComparedPoints measured(parse_csv(result_header() + row("1", "linear"), "m"), {},
                                Side::measured, keys);
  const ComparedPoints predicted(parse_csv(result_header() + row("1", "a") + row("1", "b") +
                                               row("2", "a") + row("1", "linear"),
                                           "p"),
                                 {}, Side::predicted, keys);
  const ColumnsApart apart = columns_apart(predicted, measured, {false, false, false, true});
  EXPECT_EQ(apart.looked_at, 3u);
  EXPECT_EQ(apart.points, (std::map<std::string_view, size_t>{{"scan", 3}, {"seq_q", 1}}));
}

}  // namespace
}  // namespace sawtooth::experiments

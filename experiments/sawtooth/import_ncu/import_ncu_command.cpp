#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

int run_import_ncu(const Command&, const Arguments& arguments) {
  const PlainOptions options = parse_plain_options("import-ncu", arguments, {"map", "csv"}, {}, 1);
  if (options.operands.empty() || !options.has("csv"))
    throw UsageError("usage: sawtooth import-ncu REPORT.csv [--map FILE] --csv OUT");
  const std::string& report = options.operands.front();
  const std::string out = options.value_or("csv", "");
  std::map<std::string, std::string> columns = known_ncu_metrics();
  if (options.has("map")) add_metric_map(columns, options.value_or("map", ""));
  const NcuTables tables =
      ncu_tables(parse_ncu_report(read_text_file(report), report), columns, stem_of(out), report);
  OutputFile rows(out);
  rows.write(tables.rows);
  if (!tables.long_table.empty()) {
    OutputFile others(out + ".metrics.csv");
    others.write(tables.long_table);
    others.commit();
  }
  rows.commit();
  return exit_fine;
}

}  // namespace sawtooth::experiments

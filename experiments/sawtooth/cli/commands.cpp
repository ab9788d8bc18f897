#include "experiments/sawtooth/cli/commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto table = std::to_array<Command>({
  simulate_command, measure_command, bench_command, ring_command, search_command, run_command,
      merge_command, slurm_command, compare_command, plot_command, report_command, counters_command,
      calibrate_command, record_command_entry, import_ncu_command, order_command, teach_command,
      advise_command,
#if defined(SAWTOOTH_HAVE_TRACE)
      trace_command,
#endif
      gpus_command, systems_command, schedules_command,
});

constexpr auto examples = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"simulate", "--gpu h200 --seq 64K,128K --scan linear,sawtooth"},
    {"measure", "--gpu h200 --seq 64K --scan linear,sawtooth --csv m.csv"},
    {"bench", "--seq 8K,16K --mask causal --heads 16 --head-dim 128"},
    {"ring", "--ring 2 --seq 64K --head-dim 128"},
    {"search", "--gpu h200 --seq 64K --mask causal --heads 16 --budget 60s"},
    {"run", "sweep.ini"},
    {"merge", "part1.csv part2.csv --config sweep.ini --csv all.csv"},
    {"slurm", "sweep.ini --tasks 16"},
    {"compare", "predicted.csv measured.csv --tolerance 5%"},
    {"plot", "reads_by_length rows.csv -o reads"},
    {"report", "runs/sweep -o sweep.html"},
    {"counters", "list --chip h200 --match lts__t_sectors"},
    {"calibrate", "--gpu h200 --output new-gpu"},
    {"record", "--kernel attention --flush --csv theirs.csv -- python3 train.py"},
    {"import-ncu", "report.csv --csv rows.csv"},
    {"order", "stamps.csv --q-tiles 64"},
    {"teach", "rows.csv --output costs.ini"},
    {"advise", "--gpu h200 --heads 16 --kv-heads 4 --seq 32K --mask causal"},
    {"trace", "--gpu gb10 --seq 4K --write visits.csv --format csv"},
    {"gpus", "a100"},
    {"systems", "flash-attention-2"},
    {"schedules", "attach"},
});

}  // namespace

std::span<const Command> commands() {
  return table;
}

std::string_view example_of(const Command& command) {
  const auto found =
      std::ranges::find(examples, command.name, [](const auto& e) { return e.first; });
  return found == examples.end() ? std::string_view() : found->second;
}

std::string left_of(const PlainOption& option) {
  return "--" + std::string(option.key) + (option.value.empty() ? "" : " ") +
         std::string(option.value);
}

std::string explanation(const OptionSpec& option) {
  std::string text(option.description);
  if (option.kind == OptionKind::choice) text += ": " + join_list(option.allowed());
  if (option.kind == OptionKind::mask)
    text += ": none, causal, window:W[+sink:N], prefix-lm:N, document:LENGTHS, blocks:FILE";
  const bool says_default = !option.default_text.empty() && option.kind != OptionKind::toggle;
  if (says_default) text += " (default: " + std::string(option.default_text) + ")";
  return text;
}

std::vector<std::string> listed_values(const OptionSpec& option) {
  if (option.kind == OptionKind::choice) {
    const auto choices = option.allowed();
    return {choices.begin(), choices.end()};
  }
  if (option.kind == OptionKind::on_off) return {"on", "off"};
  if (option.kind == OptionKind::mask)
    return {"none", "causal", "window:", "prefix-lm:", "document:", "blocks:"};
  if (option.key == "gpu") return resource_names("profiles/gpus");
  if (option.key == "system") return resource_names("profiles/systems");
  return {};
}

}  // namespace sawtooth::experiments

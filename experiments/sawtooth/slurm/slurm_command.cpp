// sawtooth slurm: a job array for a sweep.
#include <cctype>
#include <filesystem>
#include <iostream>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

struct ArrayScript {
  std::string program, configuration, table;  // absolute paths
  std::string name;                           // of the job
  std::string tasks;
  std::string sbatch;  // more options of sbatch, for one #SBATCH line
};

constexpr std::string_view script_end = R"bash(
parts=$table.parts
part() { echo "$parts/$1-of-$tasks.csv"; }

# Tasks whose table is not complete, as sbatch takes a list of them.
missing() {
  local i list=
  for ((i = 1; i <= tasks; ++i)); do
    [ -e "$(part "$i")" ] || list=$list,$i
  done
  echo "${list#,}"
}

merge() {
  local i tables=()
  for ((i = 1; i <= tasks; ++i)); do tables+=("$(part "$i")"); done
  "$program" merge "${tables[@]}" --config "$configuration" --csv "$table"
}

# Submits what is missing, and itself once more for when that has ended, up to $1 times; merges
# when nothing is missing.
submit() {
  local list job
  list=$(missing)
  if [ -z "$list" ]; then
    merge
    return
  fi
  if [ "$1" -le 0 ]; then
    echo "given up, without a complete table: tasks $list" >&2
    return 1
  fi
  job=$(sbatch --parsable --array="$list" "$script") || return
  sbatch --parsable --dependency=afterany:"$job" \
    --wrap "bash $(printf %q "$script") submit $(($1 - 1))"
}

mkdir -p "$parts"
script=$(readlink -f "$0")
case ${1:-task} in
  task)
    if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
      echo "usage: bash $0 submit [ATTEMPTS] | missing | merge" >&2
      exit 2
    fi
    exec "$program" simulate "$configuration" --shard "$SLURM_ARRAY_TASK_ID/$tasks" --resume \
      --quiet --threads "${SLURM_CPUS_PER_TASK:-1}" --csv "$(part "$SLURM_ARRAY_TASK_ID")"
    ;;
  submit) submit "${2:-3}" ;;
  missing) missing ;;
  merge) merge ;;
  *)
    echo "$1: no command; allowed: submit, missing, merge" >&2
    exit 2
    ;;
esac
)bash";

// A script for bash that is the array's task under Slurm and has commands for a person.
std::string array_script(const ArrayScript& job) {
  std::string text = "#!/bin/bash\n#SBATCH --job-name=" + job.name + "\n#SBATCH --array=1-" +
                     job.tasks + "\n#SBATCH --ntasks=1\n";
  if (!job.sbatch.empty()) text += "#SBATCH " + job.sbatch + "\n";
  text +=
      "# Written by `sawtooth slurm`. `bash SCRIPT submit` starts it and, when tasks have died or "
      "run\n# out of time, starts those again; each goes on where it was.\n";
  text += "program='" + within_quotes(job.program) + "'\nconfiguration='" +
          within_quotes(job.configuration) + "'\ntable='" + within_quotes(job.table) +
          "'\ntasks=" + job.tasks + "\n";
  return text.append(script_end);
}

}  // namespace

int run_slurm(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (parsed.operands.empty())
    throw UsageError("slurm: needs a configuration: sawtooth slurm CONFIG");
  const std::string& path = parsed.operands.front();
  const SweepArguments given = sweep_arguments(read_configuration(path));
  const PointList points(given.configuration, {});  // says what is wrong with it now
  if (!parsed.settings.contains("tasks"))
    throw UsageError("--tasks: not given; how many tasks the array has, of " +
                     std::to_string(points.size()) + " points");
  ArrayScript job;
  job.program = fs::read_symlink("/proc/self/exe").string();
  job.configuration = fs::absolute(path).string();
  std::string table = value_or(parsed.settings, "csv", "");
  if (table.empty()) table = name_of_files(given) + ".csv";
  job.table = fs::absolute(table).string();
  // A name that neither sbatch nor bash takes for anything else.
  for (const char c : given.experiment) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    job.name += plain || c == '.' || c == '_' ? c : '-';
  }
  job.tasks = value_or(parsed.settings, "tasks", "1");
  job.sbatch = value_or(parsed.settings, "sbatch", "");
  if (one_line(job.sbatch) != job.sbatch)
    throw UsageError("--sbatch: has a line break or another control character; allowed: one line");
  std::cout << array_script(job);
  return exit_fine;
}

}  // namespace sawtooth::experiments

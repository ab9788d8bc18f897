// sawtooth slurm: a job array for a sweep.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

struct ArrayScript {
  std::string program, configuration, table;  // absolute paths
  std::string name;                           // of the job
  int64_t tasks = 1;
  std::string sbatch;  // more options of sbatch, for one #SBATCH line
};
/// A script for bash that is the array's task under Slurm and has commands for a person.
std::string array_script(const ArrayScript& job);

int run_slurm(const Command& command, const Arguments& arguments);

inline constexpr Command slurm_command{
    "slurm", "CONFIG", "prints a job array for Slurm: a shard a task, what is missing once more",
    run_slurm, command_slurm};

}  // namespace sawtooth::experiments

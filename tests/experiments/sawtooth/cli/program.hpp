// Runs the program as a user does.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>

#include "experiments/sawtooth/support/csv.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::test {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// What a command of the shell prints, and its exit code.
inline std::pair<std::string, int> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  return {text, WEXITSTATUS(pclose(pipe))};
}

/// `arguments` as a shell would take them; `before` is shell code in front of the program.
inline Outcome run_program(const std::string& arguments, const std::string& before = "") {
  const TemporaryFolder folder;
  const auto [out, exit_code] =
      output_of(before + SAWTOOTH_PROGRAM + " " + arguments + " 2>" + folder.path("err"));
  return {exit_code, out, folder.read("err")};
}

/// The cells of one column of a CSV, from the first row on.
inline std::vector<std::string> column(const std::string& csv, const std::string& name) {
  const experiments::CsvTable table = experiments::parse_csv(csv, "table");
  const size_t at = table.column(name).value();
  std::vector<std::string> cells;
  for (const experiments::CsvRow& row : table.rows) cells.push_back(row[at]);
  return cells;
}

}  // namespace sawtooth::test

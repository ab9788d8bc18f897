// The program `sawtooth`: finds the command in the table, runs it, and turns errors into one line
// and an exit code.
#include <algorithm>
#include <iostream>
#include <new>

#include "experiments/sawtooth/cli/help.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/provenance.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h";
}

int run(const Arguments& words) {
  if (words.empty()) {
    std::cerr << program_help();
    return exit_wrong_usage;
  }
  const std::string& first = words.front();
  const std::string operand = words.size() == 2 ? words[1] : "";
  const std::string said = asks_for_help(first) || first == "help" ? program_help()
                           : first == "--version"                  ? version_text() + "\n"
                           : first == "--completion"               ? completion(operand)
                           : first == "--man"                      ? man_page(operand)
                           : first == "--csv-header"               ? result_header()
                                                                   : "";
  if (!said.empty()) {
    std::cout << said;
    return exit_fine;
  }
  for (const Command& command : command_table) {
    if (command.name != first) continue;
    const Arguments arguments(words.begin() + 1, words.end());
    // What stands behind -- belongs to another program.
    const auto own_end = std::find(arguments.begin(), arguments.end(), "--");
    const bool of_script = command.run == run_plot || command.run == run_report;  // has its own
    if (!of_script && std::any_of(arguments.begin(), own_end, asks_for_help)) {
      std::cout << command_help(command);
      return exit_fine;
    }
    return command.run(command, arguments);
  }
  if (first == "parquet") throw UsageError("parquet: use pandas.read_csv(TABLE).to_parquet(FILE)");
  std::vector<std::string_view> names;
  for (const Command& command : command_table) names.push_back(command.name);
  throw UsageError("'" + first + "' is no command; allowed: " + join_list(names, " ") +
                   did_you_mean(first, names));
}

}  // namespace
}  // namespace sawtooth::experiments

int main(int argc, char** argv) {
  namespace ex = sawtooth::experiments;
  ex::open_standard_streams();
  ex::remove_files_on_signals();
  const auto say = [](std::string_view what) {
    std::cerr << ex::red("sawtooth:", ex::Output::error) << " " << ex::one_line(what) << "\n";
  };
  try {
    const int code = ex::run(ex::Arguments(argv + 1, argv + argc));
    std::cout.flush();
    if (std::cout) return code;
    say("standard output cannot be written");
  } catch (const ex::UsageError& error) {
    say(error.what());
    return ex::exit_wrong_usage;
  } catch (const std::bad_alloc&) {
    say("the memory is too small");
  } catch (const std::exception& error) {
    say(error.what());
  }
  return ex::exit_check_failed;
}

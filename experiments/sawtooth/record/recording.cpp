#include "experiments/sawtooth/record/recording.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with this object.
class PassFolder {
 public:
  PassFolder() {
    std::string name = (fs::temp_directory_path() / "sawtooth-record-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(name + ": cannot be created; set TMPDIR to a folder with space");
    path_ = name;
  }
  ~PassFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassFolder(const PassFolder&) = delete;
  PassFolder& operator=(const PassFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Recording record_command(const RecordArguments& arguments,
                         const std::vector<std::vector<std::string>>& groups,
                         const std::string& library) {
  Recording recording;
  const size_t runs = 1 + groups.size();
  for (size_t run = 0; run < runs; ++run) {
    std::cerr << "record: run " << run + 1 << " of " << runs
              << (run == 0 ? " (times)\n" : " (counters)\n");
    const PassFolder folder;
    inject::PassRequest request = arguments.launches;
    if (run > 0) request.metrics = groups[run - 1];
    std::ofstream(folder.path() + "/request") << inject::request_text(request);
    std::vector<std::pair<std::string, std::string>> environment{
        {"CUDA_INJECTION64_PATH", library}, {inject::folder_variable, folder.path()}};
    if (!request.nvtx.empty()) environment.emplace_back("NVTX_INJECTION64_PATH", library);
    const CommandEnd end = run_command(arguments.command, environment, arguments.csv == "-");
    recording.passes.push_back({inject::read_processes(folder.path()), end.fine()});
    if (!end.fine())
      recording.ends.push_back("run " + std::to_string(run + 1) + " of the command " + end.text());
    recording.interrupted = end.interrupted;
    if (end.interrupted) break;
  }
  return recording;
}

}  // namespace sawtooth::experiments

// Every input of the corpus through its target, without libFuzzer: seeds, and inputs that once
// crashed.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

void replay(const std::string& name, void (*target)(std::span<const char>)) {
  size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SAWTOOTH_CORPUS "/" + name)) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string bytes = text.str();
    EXPECT_NO_THROW(target(bytes)) << entry.path();
    ++inputs;
  }
  EXPECT_GE(inputs, 3u) << name;
}

TEST(Corpus, TracesDoNoHarm) {
  replay("trace", trace);
}
TEST(Corpus, ConfigurationsDoNoHarm) {
  replay("configuration", configuration);
}
TEST(Corpus, TablesDoNoHarm) {
  replay("csv", csv);
}
TEST(Corpus, OrderFilesDoNoHarm) {
  replay("order", order);
}
TEST(Corpus, SweepsKeepTheirInvariants) {
  replay("sweep", sweep);
}
TEST(Corpus, ProfilesDoNoHarm) {
  replay("profile", profile);
}

}  // namespace
}  // namespace sawtooth::fuzz

// Every seed through its target, without libFuzzer: inputs of each kind, and inputs that once broke
// a target. With SAWTOOTH_SEEDS set, seeds are also written to that folder, for the fuzzers.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/fuzz/targets.hpp"
#include "tests/support/trace_text.hpp"

namespace sawtooth::fuzz {
namespace {

using Seeds = std::vector<std::string>;

void replay(const std::string& name, void (*target)(std::span<const char>), const Seeds& seeds) {
  const char* folder = std::getenv("SAWTOOTH_SEEDS");
  for (size_t i = 0; i < seeds.size(); ++i) {
    EXPECT_NO_THROW(target(seeds[i])) << name << " seed " << i;
    if (folder == nullptr) continue;
    const auto path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path);
    std::ofstream(path / std::to_string(i), std::ios::binary) << seeds[i];
  }
}

/// The bytes that hexadecimal digits write.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string binary(const std::string& text, bool by_lines) {
  return tests::rewritten(text, sim::TraceFormat::binary, by_lines, {}, "a seed");
}

TEST(Corpus, TracesDoNoHarm) {
  // Reads and writes of all kinds of tensors, whole and in parts, by several workers.
  const std::string visits =
      "step,worker,times,access,tensor,line,lines,sectors,direction\n"
      "0,0,1,read,q,0,2,8,forwards\n"
      "0,1,1,read,q,2,2,8,forwards\n"
      "0,0,3,read,k,9,2,8,forwards\n"
      "0,0,3,read,v,18,2,8,forwards\n"
      "1,0,1,write,o,27,2,8,forwards\n"
      "1,0,1,write,lse,36,1,1,forwards\n"
      "1,1,2,read,k,11,2,8,backwards\n"
      "2,0,1,write,partial_o,64,4,16,forwards\n"
      "2,1,1,write,partial_lse,128,1,1,forwards\n"
      "3,2,1,read,k,9,2,8,forwards\n"
      "4,1,1,read,v,18,2,8,backwards\n";
  replay("trace", trace,
         {visits, binary(visits, false), binary(visits, true), "line\n5\n6\n5\n",
          "line,lines,sectors,direction,times\n0,3,11,forwards,2\n9,1,4,,\n0,3,11,backwards,1\n"});
}

TEST(Corpus, ConfigurationsDoNoHarm) {
  replay("configuration", configuration,
         {"gpu = gb10, h200 # a comment\nseq = 1K, 2K\nscan = linear, sawtooth\n"
          "[section name]\nscan = random\nseed = 7\n",
          "gpu = h200\nsystem = flash-attention-3\nhead-dim = 128\nseq = 4096\nmask = causal\n",
          "l2-bytes = 1.5MiB\nworkers = 7\nheads = 8\nkv-heads = 2\nseq-q = 100\nseq-kv = 333\n"
          "mask = window:17\nsection = auto:32MiB\n",
          "gpu = gb10\nseq = 256\nkv-split = 4\nlse = on\nlaunch = dynamic\nq-order = fold\n"
          "head-order = head-major\nsection = all\nprefetch = 2\n",
          "gpu = gb10\nseq = 512\nloop = kv-outer\ntiming = lockstep-wave\ndtype = fp32\n",
          "csv = r.csv\nby-tensor = t.csv\nquiet = on\nthreads = 3\ngpu = gb10\nseq = 64\n",
          "gpu = gb10\nseq = 64\nseq = 128\nseq = 256\n", "gpu = gb10\nseq = sixty\n[open\n",
          // Tiles that differ from GPU to GPU.
          "gpu = gb10, h200\nseq = 1K\nhead-dim = 128\n"});
}

TEST(Corpus, TablesDoNoHarm) {
  replay("csv", csv,
         {"a,b\n\"1,\"\"x\"\"\",\"two\nlines\"\n", "a,b\r\n1,2\r\n",
          "\xef\xbb\xbf"
          "a,b\n1,2\n",
          "a,b,c\n,,\n1,,3\n", "a\n\"1\n", "a,b\n1\n", "a,,c\n1,2,3\n",
          // Two byte order marks.
          "\xef\xbb\xbf\xef\xbb\xbf\n",
          // Rows of one empty cell.
          "a\n\"\"\n\"\"\n"});
}

// Choices are batch, heads, rows, mask, launch, workers, prefetch, loop, split.
TEST(Corpus, OrderFilesDoNoHarm) {
  replay("order", order,
         {bytes_of("000101000001000100") + "0 1 0\n0 0 0\n",
          bytes_of("010001000002000100") + "1 0 0\n0 0 0\n",
          bytes_of("000003000101010101") + "0 0 1 1\n0 0 0 0\n0 0 1 0\n0 0 0 1\n",
          bytes_of("0001030100010000") + " 1 0\n0 0 0\n",
          bytes_of("000001000000000100") + "# all\n\n 0 0 0 # the item\n",
          bytes_of("000003000000000100") + "0 0 0\n",
          bytes_of("000003000000000100") + "0 0 0\n0 0 0\n",
          bytes_of("000000000000000100") + "0 zero 0\n",
          bytes_of("000005010201010100") + "0 0 2\n0 0 0\n0 0 1\n"});
}

// Any digits are a row of choices.
TEST(Corpus, SweepsKeepTheirInvariants) {
  replay("sweep", sweep,
         {"5feceb66ffc86f38d952786c6d696c79c2dbc239", "6b86b273ff34fce19d6b804eff5a3f5747ada4ea",
          "d4735e3a265e16eee03f59718b9b5d03019c07d8", "4e07408562bedb8b60ce05c1decfe3ad16b72230",
          "4b227777d4dd1fc61c6f884f48641d02b4d121d3", "ef2d127de37b942baad06145e54b0c619a1f2232",
          "e7f6c011776e8db7cd330b54174fd76f7d0216b6", "7902699be42c8a8e46fbbb4501726517e86b22c5",
          // Lines of a sector.
          bytes_of("bdf09898269c8788a3eeecbaaf0a558df9227fe11879f2e1e45ce6e67983f19a"
                   "6b6b92b8194e6ec965366e0808d6796c")});
}

// The first byte says of what: a GPU or kernels.
TEST(Corpus, ProfilesDoNoHarm) {
  Seeds seeds;
  for (const char* name : {"\0gpus/gb10.ini", "\0gpus/h200.ini", "\1kernels/mma-h200.ini"}) {
    std::ostringstream text;
    text << std::ifstream(std::string(SAWTOOTH_PROFILES "/") + (name + 1)).rdbuf();
    ASSERT_FALSE(text.str().empty()) << name + 1;
    seeds.push_back(name[0] + text.str());
  }
  replay("profile", profile, seeds);
}

// A kind of file by its place in readers.cpp.
TEST(Corpus, ReadersDoNoHarm) {
  const std::string row =
      "run_id,head_dim,tile_q,tile_kv,mask,launch,workers,prefetch,kernel,scan,dtype\n";
  std::string steady = row + "a,64,128,128,none,static,132,0,mma,linear,bf16\n--\n";
  steady += "run_id,repetition,worker,start_ns,item,steps\n";
  for (int cta = 0; cta < 132; ++cta)
    for (int k = 0; k < 3; ++k)
      steady += "a,0," + std::to_string(cta) + "," + std::to_string(k * 1003300) + "," +
                std::to_string(cta + 132 * k) + ",500\n";
  const std::string lacks =
      steady.substr(0, steady.find("a,0,5,0")) + steady.substr(steady.find("a,0,6,0"));
  const std::string stamps = "cta,item,tile,sm,time_ns\n";
  const auto of = [](int kind, const std::string& text) { return char(kind) + text; };
  replay("readers", readers,
         {of(0, steady), of(0, lacks), of(0, row + "--\n"), of(1, "kernel,head_dim\nmma,64\n"),
          of(2, stamps + "0,0,0,0,0\n0,0,1,0,9\n1,1,0,1,3\n1,1,1,1,12\n"),
          of(2, stamps + "0,0,0,0,0\n1,300000000,0,0,9\n"),
          of(2, stamps + "0,0,0,0,9223372036854775807\n0,9223372036854775807,0,0,0\n"),
          of(2, "worker,batch,head,q_tile,kv_tile,sm,start_ns\n0,9,9,9,9,9,9\n"),
          of(3,
             "seq_q,seq_kv,head_dim,tile_q,tile_kv,launch,workers,ctas_per_sm,scan,time_us\n"
             "64,64,64,64,64,static,1,1,linear,9\n"),
          of(4,
             "==PROF==\n\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"m\"\n"
             "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"5\"\n"),
          of(5, "kind,map,mib\nld,same,8\n"), of(6, "a,b\n1,2\n"), of(7, "64 # one\n3x7\n"),
          of(8, "0 1 2 3\n4 5 6 7\n8 9 10 11\n"), of(9, "1\n0x2\n4 # bit\n"),
          of(10, "a = \"1 # 2\" # three\n[b]\nc = \"\n")});
}

}  // namespace
}  // namespace sawtooth::fuzz

// Text traces of other tools: every expectation is derived by hand from the lines given.
#include <sstream>

#include <gtest/gtest.h>

#include "sim/trace/trace.hpp"
#include "tests/support/compressed.hpp"

namespace sawtooth::sim {
namespace {

/// "w<worker>@<step> <r or w><line>" of every visit.
std::vector<std::string> visits_of(const std::string& text, uint32_t workers = 0) {
  std::istringstream in(text);
  const auto reader = open_trace(in, "t", {}, workers);
  std::vector<std::string> all;
  for (TraceVisit visit; reader->next(visit);) {
    std::string one = "w";
    one.append(std::to_string(visit.worker)).append("@").append(std::to_string(visit.step));
    one.append(visit.access == Access::write ? " w" : " r");
    one.append(std::to_string(reader->atoms()[visit.atom].first_line));
    all.push_back(one);
  }
  return all;
}

std::string refusal_of(const std::string& text) {
  try {
    visits_of(text);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "none";
}

using Visits = std::vector<std::string>;

TEST(ForeignTrace, CsvTakesByteAddressesInDecimalAndHexadecimal) {
  // Bytes 120 to 135 are in lines 0 and 1; 0x100 is line 2.
  EXPECT_EQ(visits_of("pc,address,size,op\n7,120,16,load\n7,0x100,4,store\n"),
            (Visits{"w0@0 r0", "w0@0 r1", "w0@1 w2"}));
  EXPECT_EQ(visits_of("addr\n0x80\n128\n"), (Visits{"w0@0 r1", "w0@1 r1"}));
}

TEST(ForeignTrace, CtasOfACsvAreStreamsInLockstep) {
  const std::string text = "cta,line\n0,10\n0,11\n0,12\n2,30\n1,20\n1,21\n";
  EXPECT_EQ(visits_of(text), (Visits{"w0@0 r10", "w1@0 r20", "w2@0 r30",  //
                                     "w0@1 r11", "w1@1 r21", "w0@2 r12"}));
  // Two at once: CTA 2 follows CTA 1, which ends first.
  EXPECT_EQ(visits_of(text, 2), (Visits{"w0@0 r10", "w1@0 r20", "w0@1 r11", "w1@1 r21",  //
                                        "w0@2 r12", "w1@2 r30"}));
}

TEST(ForeignTrace, ACsvWithStepsKeepsItsOrder) {
  EXPECT_EQ(visits_of("step,cta,line\n0,0,10\n1,0,11\n2,1,20\n"),
            (Visits{"w0@0 r10", "w0@1 r11", "w1@2 r20"}));
}

// a takes line 0, b lines 1 to 3; 200 bytes are more than the line that a has.
TEST(ForeignTrace, ObjectsAreNamesThatLieBehindEachOther) {
  const Visits visits{"w0@0 r0", "w0@1 r1", "w0@1 r2", "w0@1 r3",
                      "w0@2 w0", "w0@3 r4", "w0@3 r5", "w0@4 r4"};
  EXPECT_EQ(visits_of("time,obj,size,op\n1,a,100,get\n2,b,300,get\n5,a,128,set\n5,a,200,get\n"
                      "6,a,9,get\n"),
            visits);
  EXPECT_EQ(visits_of("\"time\",\"obj\",\"size\",\"op\"\n1,\"a\",\"100\",\"r\"\n"
                      "2,\"b\",300,r\n5,\"a\",128,\"w\"\n5,\"a\",200,r\n6,\"a\",9,r\n"),
            visits);
  EXPECT_EQ(visits_of("obj_id\nx\n17\nx\n"), (Visits{"w0@0 r0", "w0@1 r1", "w0@2 r0"}));
  EXPECT_NE(refusal_of("obj,line\na,1\n").find("one column of address (bytes), line"),
            std::string::npos);
}

TEST(ForeignTrace, DineroIsReadsAndWritesOfHexadecimalBytes) {
  EXPECT_EQ(visits_of("0 80\n1 1ff\n2 100 extra\n"), (Visits{"w0@0 r1", "w0@1 w3", "w0@2 r2"}));
}

TEST(ForeignTrace, MemTraceGivesLinesOfAWarpOnceAndLeavesSharedMemoryOut) {
  const std::string text =
      "MEMTRACE: CTX 0x0000000000000001 - LAUNCH - Kernel pc 0x0 - Kernel name k - grid launch id "
      "0 - grid size 2,1,1\n"
      "MEMTRACE: CTX 0x0000000000000001 - grid_launch_id 0 - CTA 1,0,0 - warp 0 - LDG.E.64 - "
      "0x0000000000000400 0x0000000000000408 0x0000000000000480 0x0000000000000000 \n"
      "MEMTRACE: CTX 0x0000000000000001 - grid_launch_id 0 - CTA 0,0,0 - warp 3 - STG.E - "
      "0x0000000000000800 \n"
      "the program prints this\n"
      "MEMTRACE: CTX 0x0000000000000001 - grid_launch_id 0 - CTA 0,0,0 - warp 3 - LDS - "
      "0x0000000000000010 \n"
      "MEMTRACE: CTX 0x0000000000000001 - grid_launch_id 1 - CTA 0,0,0 - warp 0 - LDG.E - "
      "0x0000000000000800 \n";
  // CTA 0 before CTA 1, and the second launch after both.
  EXPECT_EQ(visits_of(text), (Visits{"w0@0 w16", "w1@0 r8", "w1@0 r9", "w0@1 r16"}));
}

TEST(ForeignTrace, AccelSimHasListsStridesAndDifferencesAndItsWarpsTakeTurns) {
  const std::string text =
      "-kernel name = k\n-grid dim = (2,1,1)\n\n#traces format = PC mask dest_num ...\n\n"
      "#BEGIN_TB\n\nthread block = 0,0,0\n\n"
      "warp = 0\ninsts = 3\n"
      // Two threads at a list of addresses: lines 8 and 9.
      "0010 00000003 1 R2 LDG.E 1 R4 4 0 0x400 0x480\n"
      "0020 ffffffff 1 R1 MOV 1 R255 0\n"
      // Three threads, 128 bytes apart: lines 16, 17, 18.
      "0030 00000007 0 STG.E 2 R2 R4 4 1 0x800 128\n"
      "warp = 1\ninsts = 1\n"
      // From line 32 one line back and two on: 32, 31, 33.
      "0010 00000007 1 R2 LDG.E 1 R4 4 2 0x1000 -128 256\n"
      "#END_TB\n";
  EXPECT_EQ(visits_of(text), (Visits{"w0@0 r8", "w0@0 r9", "w0@1 r32", "w0@1 r31", "w0@1 r33",
                                     "w0@2 w16", "w0@2 w17", "w0@2 w18"}));
}

TEST(ForeignTrace, ZstdAndGzipAreReadThrough) {
  // printf 'cta,line\n0,10\n1,20\n' | gzip -n | xxd -i
  const std::string plain = "cta,line\n0,10\n1,20\n";
  const Visits expected{"w0@0 r10", "w1@0 r20"};
  const std::string coded = tests::compressed(plain);
  EXPECT_EQ(visits_of(coded), expected);
  EXPECT_NE(refusal_of(coded.substr(0, coded.size() - 3)).find("t: the compressed file ends early"),
            std::string::npos);
  const unsigned char gzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff,
                                0x4b, 0x2e, 0x49, 0xd4, 0xc9, 0xc9, 0xcc, 0x4b, 0xe5, 0x32,
                                0xd0, 0x31, 0x34, 0xe0, 0x32, 0xd4, 0x31, 0x32, 0xe0, 0x02,
                                0x00, 0xab, 0xe2, 0x37, 0x35, 0x13, 0x00, 0x00, 0x00};
  const std::string zipped(reinterpret_cast<const char*>(gzip), sizeof gzip);
  const std::string result = refusal_of(zipped);
  if (result.find("built without zlib") != std::string::npos) GTEST_SKIP() << result;
  EXPECT_EQ(visits_of(zipped), expected);
  EXPECT_NE(refusal_of(zipped.substr(0, zipped.size() - 9)).find("t: the compressed"),
            std::string::npos);
}

TEST(ForeignTrace, ALongCompressedTraceIsReadToItsEnd) {
  std::string plain = "address\n";
  for (int i = 0; i < 100000; ++i) plain += std::to_string(128 * (i % 777)) + "\n";
  const std::string coded = tests::compressed(plain);
  EXPECT_EQ(visits_of(coded), visits_of(plain));
  EXPECT_EQ(visits_of(coded).size(), 100000u);
}

TEST(ForeignTrace, WhatIsMalformedNamesFileAndLine) {
  EXPECT_EQ(refusal_of("address,op\n1,load\n2,jump\n"),
            "t:3: access 'jump' is not allowed; allowed: read, r, load, ld, get, 0, write, w, "
            "store, st, set, 1");
  EXPECT_EQ(refusal_of("address\n0x12\n0xzz\n"), "t:3: address '0xzz' is no number");
  EXPECT_EQ(refusal_of("address,size\n1\n"), "t:2: 1 cells; the header has 2");
  EXPECT_EQ(refusal_of("cta,access\n1,r\n"),
            "t:1: one column of address (bytes), line (128 bytes) and obj (a name) is needed");
  EXPECT_EQ(refusal_of("0 80\n4 80\n"), "t:2: '4 80' is not 0, 1 or 2 and an address");
  EXPECT_EQ(refusal_of("-kernel name = k\nthread block = 0,0,0\nwarp = 0\n0010 1 1\n"),
            "t:4: the opcode is missing");
  EXPECT_EQ(refusal_of("MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 1,0 - warp 0 - LDG - 0x80\n"),
            "t:1: CTA '1,0' is not x,y,z");
  // One more than fits: it would be CTA 0, warp 0 or the word before again.
  EXPECT_EQ(visits_of("cta,line\n4294967295,10\n"), (Visits{"w0@0 r10"}));
  EXPECT_EQ(refusal_of("cta,line\n0,10\n4294967296,10\n"),
            "t:3: CTA '4294967296' is not below 2^32");
  EXPECT_EQ(refusal_of("-kernel name = k\nthread block = 0,4294967296,0\n"),
            "t:2: CTA '4294967296' is not below 2^32");
  EXPECT_EQ(refusal_of("-kernel name = k\nthread block = 0,0,0\nwarp = 0x100000000\n"),
            "t:3: warp '0x100000000' is not below 2^32");
  EXPECT_EQ(refusal_of("-kernel name = k\n0010 1 18446744073709551615 LDG.E 0 4 0 0x80\n"),
            "t:2: number of registers '18446744073709551615' is not below 2^32");
}

}  // namespace
}  // namespace sawtooth::sim

// SPDX-License-Identifier: Apache-2.0
#include "metrics/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace yoload {
namespace {

using testing::HasSubstr;

Report report_with(double wait_s, double step_s, const char* slow_stage) {
  Report report;
  report.batches = 10;
  report.threads = 2;
  report.wall_s = wait_s + step_s;
  report.consumer_wait_s = wait_s;
  report.consumer_busy_s = step_s;
  for (const char* stage : {"read", "decode", "resize", "plan", "augment"}) {
    report.stages.push_back(
        {stage, 10, stage == std::string(slow_stage) ? report.wall_s * 1.8 : 0.01});
  }
  return report;
}

TEST(Verdict, NamesTheStageThatSaturatesTheThreads) {
  for (const char* stage : {"read", "decode", "resize", "augment"}) {
    const Report report = report_with(5, 5, stage);
    EXPECT_EQ(attribute(report).saturated_by, stage);
    EXPECT_THAT(verdict_of(report), HasSubstr("starved 50 %"));
    EXPECT_THAT(verdict_of(report), HasSubstr(std::string(stage) + " is "));
  }
}

TEST(Verdict, NamesTheStepWhenNothingStarves) {
  EXPECT_THAT(verdict_of(report_with(0.01, 10, "decode")), HasSubstr("training step is the limit"));
}

TEST(Verdict, DoesNotBlameAStageWhileThreadsIdle) {
  Report report = report_with(5, 5, "decode");
  for (StageReport& stage : report.stages) stage.busy_s = 0.1;
  EXPECT_THAT(verdict_of(report), HasSubstr("only"));
}

// ---- with a GPU ----

/// `busy` of the wall time each: one kind of GPU work, and one of the threads'.
Report gpu_report(const char* device_stage, double device_busy, const char* stage, double busy) {
  Report report = report_with(5, 5, "none");
  for (StageReport& s : report.stages) {
    s.busy_s = s.stage == stage ? report.wall_s * report.threads * busy : 0;
  }
  report.device = "cuda:0";
  for (const char* name : {"gpu engines", "gpu SMs", "gpu resize", "gpu upload", "gpu render"}) {
    report.device_stages.push_back(
        {name, 10, name == std::string(device_stage) ? report.wall_s * device_busy : 0.01});
  }
  report.decoded_by_engines = 90, report.decoded_by_cpu = 10;
  return report;
}

TEST(VerdictWithAGpu, NamesTheGpusWorkThatIsTheLimit) {
  const std::pair<const char*, const char*> kNames[] = {{"gpu engines", "JPEG engines"},
                                                        {"gpu SMs", "decoding on the multiproc"},
                                                        {"gpu resize", "resizing"},
                                                        {"gpu upload", "copying pixels"},
                                                        {"gpu render", "augmentation"}};
  for (const auto& [stage, text] : kNames) {
    // Two batches at a time: the engines' spans overlap beyond the wall time.
    const Report report = gpu_report(stage, 1.9, "submit", 0.1);
    EXPECT_EQ(attribute(report).device_stage, stage);
    EXPECT_EQ(attribute(report).device_stage_share, 1);
    EXPECT_THAT(verdict_of(report), HasSubstr("starved 50 %"));
    EXPECT_THAT(verdict_of(report), HasSubstr(text));
    EXPECT_THAT(verdict_of(report), HasSubstr("engines 90 %, multiprocessors 0 %, CPU 10 %"));
  }
}

TEST(VerdictWithAGpu, NamesTheThreadsWhereTheyAreTheLimit) {
  EXPECT_THAT(verdict_of(gpu_report("gpu engines", 0.4, "decode", 0.95)),
              HasSubstr("2 threads are 95 % busy, decode is 100 % of their work"));
  EXPECT_THAT(verdict_of(gpu_report("gpu engines", 0.4, "read", 0.95)), HasSubstr("cache=bytes"));
}

TEST(VerdictWithAGpu, BlamesNobodyWhereAllHaveTime) {
  const std::string verdict = verdict_of(gpu_report("gpu engines", 0.4, "decode", 0.3));
  EXPECT_THAT(verdict, HasSubstr("gpu engines was busy only 40 %"));
  EXPECT_THAT(verdict, HasSubstr("in flight"));
}

TEST(VerdictWithAGpu, NamesTheStepUnlessBatchesAreLate) {
  Report report = gpu_report("gpu render", 0.5, "submit", 0.1);
  report.consumer_wait_s = 0.01, report.consumer_busy_s = 10;
  EXPECT_THAT(verdict_of(report), HasSubstr("training step is the limit"));
  report.late_batches = 9;  // of 10: the consumer's stream waits, the consumer itself never does
  report.device_stages.back().busy_s = 0.9 * report.wall_s;
  EXPECT_THAT(verdict_of(report), HasSubstr("90 % of the batches were not finished"));
  EXPECT_THAT(verdict_of(report), HasSubstr("augmentation on the multiprocessors"));
}

}  // namespace
}  // namespace yoload

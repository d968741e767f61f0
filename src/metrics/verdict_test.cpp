// SPDX-License-Identifier: Apache-2.0
#include "metrics/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace yoload

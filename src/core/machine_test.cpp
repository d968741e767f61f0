// SPDX-License-Identifier: Apache-2.0
#include "core/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace yoload {
namespace {

/// A pretended / with the files that read_machine looks at.
class FakeRoot : public testing::Test {
 protected:
  FakeRoot()
      : root_(std::filesystem::temp_directory_path() /
              ("yoload_root_" + std::to_string(getpid()))) {}
  ~FakeRoot() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  MachineFacts read() { return read_machine(root_.string() + "/"); }
  std::filesystem::path root_;
};

TEST_F(FakeRoot, CgroupV2LimitsOfAParentCount) {
  write("proc/self/cgroup", "0::/job/worker\n");
  write("proc/meminfo", "MemTotal:       16777216 kB\n");
  write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/job/worker/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/job/memory.max", "1073741824\n");
  write("sys/fs/cgroup/job/worker/memory.max", "max\n");
  const MachineFacts facts = read();
  EXPECT_DOUBLE_EQ(facts.cpu_quota, 1.5);
  EXPECT_EQ(facts.usable_cores(), 1);
  EXPECT_EQ(facts.memory_bytes, uint64_t{1} << 30);
}

TEST_F(FakeRoot, CgroupV1LimitsCount) {
  write("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/x\n");
  write("proc/meminfo", "MemTotal:       16777216 kB\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "209715200\n");
  const MachineFacts facts = read();
  EXPECT_DOUBLE_EQ(facts.cpu_quota, 4.0);
  EXPECT_EQ(facts.memory_bytes, 209715200u);
}

TEST(DefaultWorkers, TakeMostButNotAllCores) {
  MachineFacts machine;
  for (const auto& [cores, workers] : {std::pair{1, 1}, {2, 2}, {8, 6}, {16, 13}, {64, 51}}) {
    machine.physical_cores = cores;
    EXPECT_EQ(default_workers(machine), workers);
  }
}

}  // namespace
}  // namespace yoload

// SPDX-License-Identifier: Apache-2.0
#include "core/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace yoload {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Folder of this process in the given cgroup hierarchy ("" is v2), e.g. "/user.slice/x".
std::string cgroup_folder(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool match = controller.empty()
                           ? controllers == ",,"
                           : controllers.find("," + controller + ",") != std::string::npos;
    if (match) return line.substr(second + 1);
  }
  return "";
}

/// Calls `visit` with every folder from the process's own group up to the mount point. In a
/// container the inner path may not exist below the mount: then only the mount point is left, which
/// is right.
template <class Visit>
void up_the_tree(const std::string& mount, std::string group, const Visit& visit) {
  while (true) {
    visit(mount + group);
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos || group.empty()) break;
    group.resize(slash);
  }
}

double cpu_quota(const std::string& root) {
  double quota = 0;
  const auto note = [&](double cores) {
    if (cores > 0) quota = quota == 0 ? cores : std::min(quota, cores);
  };
  up_the_tree(root + "sys/fs/cgroup", cgroup_folder(root, ""), [&](const std::string& folder) {
    std::istringstream line(first_line(folder + "/cpu.max"));
    std::string limit;
    double period = 0;
    if (line >> limit >> period && limit != "max" && period > 0)
      note(std::atof(limit.c_str()) / period);
  });
  for (const char* mount : {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}) {
    up_the_tree(root + mount, cgroup_folder(root, "cpu"), [&](const std::string& folder) {
      const double limit = std::atof(first_line(folder + "/cpu.cfs_quota_us").c_str());
      const double period = std::atof(first_line(folder + "/cpu.cfs_period_us").c_str());
      if (limit > 0 && period > 0) note(limit / period);
    });
  }
  return quota;
}

uint64_t memory_limit_bytes(const std::string& root) {
  uint64_t limit = 0;
  std::ifstream meminfo(root + "proc/meminfo");
  for (std::string key, unit; meminfo >> key;) {
    uint64_t kib = 0;
    meminfo >> kib;
    std::getline(meminfo, unit);
    if (key == "MemTotal:") {
      limit = kib << 10;
      break;
    }
  }
  const auto note = [&](const std::string& text) {
    if (text.empty() || text == "max") return;
    const uint64_t bytes = std::strtoull(text.c_str(), nullptr, 10);
    if (bytes > 0) limit = limit == 0 ? bytes : std::min(limit, bytes);
  };
  up_the_tree(root + "sys/fs/cgroup", cgroup_folder(root, ""),
              [&](const std::string& folder) { note(first_line(folder + "/memory.max")); });
  up_the_tree(
      root + "sys/fs/cgroup/memory", cgroup_folder(root, "memory"),
      [&](const std::string& folder) { note(first_line(folder + "/memory.limit_in_bytes")); });
  return limit;
}

}  // namespace

int MachineFacts::usable_cores() const {
  int cores = std::max(1, physical_cores);
  if (cpu_quota > 0) cores = std::min(cores, std::max(1, static_cast<int>(std::floor(cpu_quota))));
  return cores;
}

MachineFacts read_machine(const std::string& root) {
  MachineFacts facts;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  std::set<std::pair<std::string, std::string>> cores;
  for (const int cpu : cpus) {
    const std::string folder =
        root + "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string core = first_line(folder + "core_id");
    // Without topology every CPU counts as a core.
    cores.insert(core.empty() ? std::pair{std::string("cpu"), std::to_string(cpu)}
                              : std::pair{first_line(folder + "physical_package_id"), core});
  }
  facts.logical_cpus = static_cast<int>(cpus.size());
  facts.physical_cores = static_cast<int>(cores.size());
  facts.cpu_quota = cpu_quota(root);
  facts.memory_bytes = memory_limit_bytes(root);
  std::ifstream cpuinfo(root + "proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      facts.cpu_model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return facts;
}

int default_workers(const MachineFacts& machine) {
  return std::max(1, static_cast<int>(std::lround(0.8 * machine.usable_cores())));
}

uint64_t default_memory_budget_bytes(const MachineFacts& machine) {
  const uint64_t quarter = machine.memory_bytes / 4;
  return std::clamp<uint64_t>(quarter, uint64_t{128} << 20, uint64_t{4} << 30);
}

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

}  // namespace yoload

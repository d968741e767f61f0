// The subcommands as plain functions: main.cpp fills these structs from the command line.
//
// Every command writes its result to stdout and progress to stderr, and returns the exit code. What
// keeps a command from running at all is thrown as std::exception; main() prints it and returns
// kExitCouldNotRun.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "yoload/options.h"

namespace yoload::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitProblems = 1;     ///< the command ran and found problems in the data
inline constexpr int kExitCouldNotRun = 2;  ///< wrong arguments, unreadable data, no disk space ...

struct BenchCommand {
  LoaderOptions loader;
  int epochs = 1;      ///< measured epochs
  int warmup = 0;      ///< epochs before the measured ones
  double step_ms = 0;  ///< simulated training step; 0 takes batches flat out
  bool json = false;
};
int run_bench(const BenchCommand& command);

struct DigestCommand {
  LoaderOptions loader;
  int epochs = 1;
  bool each_batch = false;  ///< one digest a batch too, to find where two runs part
  bool json = false;
};
int run_digest(const DigestCommand& command);

struct ExplainCommand {
  LoaderOptions loader;
  uint32_t epoch = 0;
  uint64_t index = 0;  ///< position in the epoch's order
  uint64_t draws = 0;  ///< samples whose random numbers are printed, a line each; 0: the usual
  std::string out_path = "sample.png";
  bool json = false;
};
int run_explain(const ExplainCommand& command);

struct ReplayCommand {
  LoaderOptions loader;
  uint32_t epoch = 0;
  uint64_t batch = 0;  ///< in the epoch
  int tile_px = 400;   ///< longest side of one sample in the grid
  std::string out_path = "batch.png";
  bool json = false;
};
int run_replay(const ReplayCommand& command);

struct PreviewCommand {
  LoaderOptions loader;
  uint32_t epoch = 0;
  int count = 16;     ///< samples, from the start of the epoch
  int tile_px = 400;  ///< longest side of one sample in the grid
  std::string out_path = "preview.png";
  bool json = false;
};
int run_preview(const PreviewCommand& command);

struct CheckCommand {
  std::string data;
  std::string task;
  std::string cache_dir;
  std::string
      fix_list_path;  ///< one "path<TAB>line<TAB>kind<TAB>cause" per problem; "" writes none
  int imgsz = 640;    ///< size at which the box filter is judged
  int threads = 0;
  bool json = false;
  bool quiet = false;  ///< only the exit code counts
};
int run_check(const CheckCommand& command);

struct DemoCommand {
  LoaderOptions loader;  ///< loader.data empty: draw a data set first
  std::string out_dir;   ///< "" takes yoload-demo in the temporary directory
  double step_ms = 60;
  int epochs = 2;
  std::string only_data_dir;  ///< not empty: draw the data set there and stop
  int count = 160;  ///< training pictures to draw; a fifth as many are added for validation
  int width_px = 800, height_px = 600;
  bool json = false;
};
int run_demo(const DemoCommand& command);

}  // namespace yoload::cli

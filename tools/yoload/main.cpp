// The yoload program: reads the command line into plain structs and calls one function per
// subcommand.
//
// The only file that includes CLI11.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include "yoload/build_info.h"
#include "yoload/commands.h"
#include "yoload/units.h"

namespace yoload::cli {
namespace {

template <class Enum>
CLI::Option* add_choice(CLI::App* app, const std::string& name, Enum* target,
                        const std::map<std::string, Enum>& choices, const std::string& help) {
  std::string described = help;
  for (const auto& [word, value] : choices) {
    if (value == *target) described += " [" + word + "]";
  }
  std::string words;
  for (const auto& [word, value] : choices) words += (words.empty() ? "" : "|") + word;
  return app
      ->add_option_function<std::string>(
          name, [target, choices](const std::string& word) { *target = choices.at(word); },
          described)
      ->check([choices, words](const std::string& word) {
        return choices.count(word) != 0 ? "" : "'" + word + "' is none of " + words;
      })
      ->type_name(words);
}

void add_bytes(CLI::App* app, const std::string& name, uint64_t* target, const std::string& help) {
  app->add_option_function<std::string>(
         name, [target](const std::string& text) { *target = *parse_bytes(text); }, help)
      ->check([](const std::string& text) {
        return parse_bytes(text)
                   ? ""
                   : "'" + text + "' is not a size: write 256MB, 1GiB or a number of bytes";
      })
      ->type_name("SIZE");
}

/// Bounds as the help shows them: "0..1" instead of CLI11's "FLOAT in [0 - 1]".
template <class T>
CLI::Validator in_range(T low, T high) {
  return CLI::Range(low, high).description(fmt::format("{}..{}", low, high));
}
CLI::Validator at_least_zero() {
  return CLI::Validator(CLI::NonNegativeNumber).description("0..");
}

template <class T>
CLI::Option* add(CLI::App* app, const std::string& name, T* target, const std::string& help) {
  return app->add_option(name, *target, help)->capture_default_str();
}

void add_augment_options(CLI::App* app, LoaderOptions* o) {
  constexpr const char* kGroup = "Augmentation";
  AugmentOptions* a = &o->augment;
  const auto number = [&](const char* name, float* target, double high, const char* help) {
    add(app, name, target, help)->check(in_range(0.0, high))->group(kGroup);
  };
  number("--mosaic", &a->mosaic, 1, "probability of a mosaic");
  add(app, "--mosaic-tiles", &a->mosaic_tiles, "pictures in a mosaic: 4 (2x2) or 9 (3x3)")
      ->check(CLI::IsMember({4, 9}))
      ->group(kGroup);
  number("--mixup", &a->mixup, 1, "probability of blending with a second sample");
  number("--cutmix", &a->cutmix, 1, "probability of pasting a rectangle of a second sample");
  number("--copy-paste", &a->copy_paste, 1,
         "share of the objects to paste copies of (needs outlines)");
  add_choice<CopyPasteMode>(app, "--copy-paste-mode", &a->copy_paste_mode,
                            {{"flip", CopyPasteMode::flip}, {"mixup", CopyPasteMode::mixup}},
                            "paste mirrored copies (flip) or objects of another picture (mixup)")
      ->group(kGroup);
  number("--degrees", &a->degrees, 180, "rotation drawn from +- this");
  number("--translate", &a->translate, 1, "shift drawn from +- this fraction of the picture");
  number("--scale", &a->scale, 1, "gain drawn from 1 +- this");
  number("--shear", &a->shear, 89, "shear drawn from +- this many degrees");
  number("--perspective", &a->perspective, 0.001, "perspective drawn from +- this, per pixel");
  number("--hsv-h", &a->hsv_h, 1, "hue gain");
  number("--hsv-s", &a->hsv_s, 1, "saturation gain");
  number("--hsv-v", &a->hsv_v, 1, "value gain");
  number("--flipud", &a->flipud, 1, "probability of a vertical flip");
  number("--fliplr", &a->fliplr, 1, "probability of a horizontal flip");
  number("--bgr", &a->bgr, 1, "probability of leaving the channels in BGR order");
  number("--blur", &a->blur, 1, "probability of a box blur");
  number("--median-blur", &a->median_blur, 1, "probability of a median blur");
  number("--to-gray", &a->to_gray, 1, "probability of losing the colour");
  number("--clahe", &a->clahe, 1, "probability of contrast-limited histogram equalisation");
  number("--erasing", &a->erasing, 1, "classify: probability of a black rectangle");
  number("--multi-scale", &a->multi_scale, 1, "batch size drawn from imgsz x (1 +- this)");
  add(app, "--close-mosaic", &a->close_mosaic,
      "last epochs of --planned-epochs without mosaic and mixers")
      ->check(at_least_zero())
      ->group(kGroup);
  add_choice<BoxFilter>(app, "--box-filter", &a->box_filter,
                        {{"reference", BoxFilter::reference}, {"keep", BoxFilter::keep}},
                        "small and cut objects: drop them as the reference does, or keep them")
      ->group(kGroup);
  add(app, "--min-box-px", &a->min_box_px, "smallest side that --box-filter keep keeps")
      ->check(at_least_zero())
      ->group(kGroup);
  app->add_flag(
         "--no-augment", [o](int64_t) { o->augment_enabled = false; },
         "letterbox only, as for validation")
      ->group(kGroup);
}

void add_loader_options(CLI::App* app, LoaderOptions* o) {
  constexpr const char* kGroup = "Loader";
  const auto grouped = [&](CLI::Option* option) { option->group(kGroup); };
  grouped(add(app, "--split", &o->split, "train, val or test"));
  grouped(app->add_option("--task", o->task,
                          "detect, segment, pose, obb or classify [the data set's own]")
              ->check(CLI::IsMember({"detect", "segment", "pose", "obb", "classify"})));
  grouped(add(app, "--imgsz", &o->imgsz, "side of the output picture in pixels")
              ->check(in_range(32, 8192)));
  grouped(add(app, "--batch", &o->batch_size, "samples in a batch")->check(in_range(1, 65536)));
  grouped(add(app, "--threads", &o->workers,
              "worker threads; 0 takes 70-90 % of the usable physical cores")
              ->check(in_range(0, 1024)));
  grouped(add(app, "--seed", &o->seed, "every random draw is a function of it"));
  grouped(add(app, "--planned-epochs", &o->epochs,
              "epochs of the whole training, for close_mosaic; 0 never closes")
              ->check(at_least_zero()));
  grouped(
      add(app, "--prefetch", &o->prefetch_factor, "batches kept ready, as far as the budget allows")
          ->check(in_range(1, 1024)));
  add_bytes(app, "--memory-budget", &o->memory_budget_bytes,
            "pool, caches and prefetch together, such as 256MB or 1GiB [a quarter of the memory, "
            "at most 4 GiB]");
  app->get_option("--memory-budget")->group(kGroup);
  grouped(add(app, "--device", &o->device,
              "where batches are made: cpu, cuda, cuda:N, or auto: the GPU where there is one"));
  add_bytes(
      app, "--device-memory-budget", &o->device_memory_budget_bytes,
      "decoded pictures on the GPU [twice the window, at least 2 GiB, at most a tenth of it]");
  app->get_option("--device-memory-budget")->group(kGroup);
  grouped(add(app, "--decode-batch", &o->decode_batch,
              "pictures that one call decodes on the GPU; 0 is automatic")
              ->check(in_range(0, 1024)));
  grouped(app->add_flag(
      "--no-hardware-decode", [o](int64_t) { o->hardware_decode = false; },
      "leave the GPU's JPEG engines alone"));
  grouped(add(app, "--cpu-decode-share", &o->cpu_decode_share,
              "share of the pictures that the CPU decodes although the GPU could")
              ->check(in_range(0.0, 1.0)));
  grouped(
      add(app, "--sm-decode-share", &o->sm_decode_share, "the same for the GPU's multiprocessors")
          ->check(in_range(0.0, 1.0)));
  grouped(add_choice<Validate>(
      app, "--validate", &o->validate, {{"scan", Validate::scan}, {"decode", Validate::decode}},
      "before a GPU decodes a file: a look at its structure, or one full decode on the CPU"));
  grouped(add_choice<CacheMode>(
      app, "--cache", &o->cache,
      {{"none", CacheMode::none}, {"bytes", CacheMode::bytes}, {"pixels", CacheMode::pixels}},
      "keep files or decoded pictures in memory, within the budget"));
  grouped(app->add_option("--cache-dir", o->cache_dir,
                          "folder of the label caches [$XDG_CACHE_HOME/yoload]"));
  grouped(add_choice<Fidelity>(
      app, "--fidelity", &o->fidelity, {{"exact", Fidelity::exact}, {"fused", Fidelity::fused}},
      "exact resizes first, as the reference does; fused samples once, faster and sharper"));
  grouped(add_choice<ResizeMode>(
      app, "--resize", &o->resize,
      {{"letterbox", ResizeMode::letterbox}, {"stretch", ResizeMode::stretch}},
      "keep the aspect ratio, or stretch to a square"));
  grouped(add_choice<DType>(app, "--dtype", &o->dtype,
                            {{"uint8", DType::uint8},
                             {"float16", DType::float16},
                             {"bfloat16", DType::bfloat16},
                             {"float32", DType::float32}},
                            "numbers of the batch; floats are scaled to 0..1"));
  grouped(app->add_option("--classes", o->classes, "keep objects of these classes only")
              ->expected(1, -1));
  grouped(app->add_flag("--single-cls", o->single_cls, "all classes become one"));
  grouped(app->add_flag("--strict-labels", o->strict_labels,
                        "a bad label row costs its whole picture, as in the reference"));
  grouped(add(app, "--mask-ratio", &o->mask_ratio, "segment: masks at this fraction of the picture")
              ->check(in_range(1, 64)));
  grouped(
      app->add_flag("--scale-16bit", o->scale_16bit,
                    "stretch the used range of 16-bit pictures instead of taking the high byte"));
  grouped(add(app, "--max-pixels", &o->limits.max_pixels, "refuse larger pictures; 0 is no limit"));
  grouped(add(app, "--max-scans", &o->limits.max_scans,
              "refuse progressive JPEGs with more scans; 0 is no limit"));
  add_bytes(app, "--max-decode-memory", &o->limits.max_memory_bytes,
            "working memory of one decode [1GiB]");
  app->get_option("--max-decode-memory")->group(kGroup);
  grouped(add(app, "--max-seconds", &o->limits.max_seconds, "CPU time of one decode; 0 is no limit")
              ->check(at_least_zero()));
  grouped(add_choice<OnCorrupt>(app, "--on-corrupt", &o->on_corrupt,
                                {{"reject", OnCorrupt::reject}, {"accept", OnCorrupt::accept}},
                                "damaged pictures: replace them, or use what could be decoded"));
  grouped(add(app, "--error-budget", &o->error_budget,
              "share of records that may fail before the run stops, at least 10 records")
              ->check(in_range(0.0, 1.0)));
  grouped(add(app, "--window", &o->window, "positions that mosaic and mixup partners come from")
              ->check(in_range(8, 1 << 24)));
  grouped(add(app, "--fraction", &o->fraction, "share of the data set to use")
              ->check(in_range(0.0, 1.0)));
  grouped(app->add_flag("--rect", o->rect,
                        "batches of similar aspect ratio with the smallest padding"));
  grouped(
      app->add_flag("--drop-last", o->drop_last, "leave out the last batch when it is not full"));
  grouped(app->add_flag(
      "--no-shuffle", [o](int64_t) { o->shuffle = false; }, "the order of the data set"));
  grouped(
      app->add_option("--simd", o->simd, "force a code path, for tests [the best this machine has]")
          ->check(CLI::IsMember({"avx3", "avx2", "sse4", "scalar", "ref"})));
  add_augment_options(app, o);
}

/// What every subcommand shares: its function, --json, and the data set where it takes one.
CLI::App* add_command(CLI::App* program, const char* name, const char* help,
                      std::function<int()> run, bool* json, std::function<int()>* chosen) {
  CLI::App* app = program->add_subcommand(name, help);
  app->add_flag("--json", *json, "print the result as JSON");
  app->callback([run = std::move(run), chosen] { *chosen = run; });
  return app;
}

CLI::Option* add_data(CLI::App* app, std::string* data) {
  return app->add_option("DATA", *data, "data.yaml, folder, list of pictures or COCO json");
}

int run_program(int argc, char** argv) {
  CLI::App program{"yoload: finished YOLO training batches, and where the time goes"};
  program.name("yoload");
  program.footer("Exit codes: 0 fine, 1 problems found in the data, 2 could not run.");
  program.require_subcommand(1);
  program.set_version_flag("--version", version_text());
  std::function<int()> chosen;

  DemoCommand demo;
  CLI::App* app = add_command(
      &program, "demo",
      "the whole job: check, preview, two epochs, verdict; draws a data set unless one is given",
      [&] { return run_demo(demo); }, &demo.json, &chosen);
  add_data(app, &demo.loader.data);
  app->add_option(
      "--out", demo.out_dir,
      "folder for the drawn data set and preview.png [yoload-demo in the temporary folder]");
  add(app, "--epochs", &demo.epochs, "epochs to run")->check(in_range(1, 1'000'000));
  add(app, "--step-ms", &demo.step_ms, "simulated training step in milliseconds")
      ->check(at_least_zero());
  app->add_option("--only-data", demo.only_data_dir, "draw the data set into this folder and stop");
  add(app, "--count", &demo.count,
      "training pictures to draw; a fifth as many are added for validation")
      ->check(in_range(1, 1'000'000));
  add(app, "--width", &demo.width_px, "width of the drawn pictures")->check(in_range(64, 20000));
  add(app, "--height", &demo.height_px, "height of the drawn pictures")->check(in_range(64, 20000));
  add_loader_options(app, &demo.loader);

  CheckCommand check;
  app = add_command(
      &program, "check", "validate pictures and labels", [&] { return run_check(check); },
      &check.json, &chosen);
  add_data(app, &check.data)->required();
  app->add_option("--fix-list", check.fix_list_path,
                  "write one line per problem: file, line, kind, cause, divided by tabs");
  add(app, "--imgsz", &check.imgsz, "size at which small boxes are judged")
      ->check(in_range(32, 8192));
  app->add_option("--task", check.task,
                  "detect, segment, pose, obb or classify [the data set's own]")
      ->check(CLI::IsMember({"detect", "segment", "pose", "obb", "classify"}));
  app->add_option("--cache-dir", check.cache_dir,
                  "folder of the label caches [$XDG_CACHE_HOME/yoload]");
  add(app, "--threads", &check.threads, "threads; 0 takes what this process may use")
      ->check(in_range(0, 1024));

  PreviewCommand preview;
  app = add_command(
      &program, "preview", "a grid of augmented samples with their labels drawn",
      [&] { return run_preview(preview); }, &preview.json, &chosen);
  add_data(app, &preview.loader.data)->required();
  add(app, "-o,--out", &preview.out_path, "PNG file to write");
  add(app, "--count", &preview.count, "samples to show")->check(in_range(1, 400));
  add(app, "--tile", &preview.tile_px, "longest side of a sample in the grid, pixels")
      ->check(in_range(32, 4096));
  add(app, "--epoch", &preview.epoch, "epoch to show");
  add_loader_options(app, &preview.loader);

  BenchCommand bench;
  app = add_command(
      &program, "bench", "images a second, the stage table, and who waits for whom",
      [&] { return run_bench(bench); }, &bench.json, &chosen);
  add_data(app, &bench.loader.data)->required();
  add(app, "--epochs", &bench.epochs, "measured epochs")->check(in_range(1, 1'000'000));
  add(app, "--warmup", &bench.warmup, "epochs before them that do not count")
      ->check(in_range(0, 1'000'000));
  add(app, "--step-ms", &bench.step_ms, "simulated training step in milliseconds; 0 runs flat out")
      ->check(at_least_zero());
  add_loader_options(app, &bench.loader);

  DigestCommand digest;
  app = add_command(
      &program, "digest", "16 hex digits of the batch stream, equal for equal batches",
      [&] { return run_digest(digest); }, &digest.json, &chosen);
  add_data(app, &digest.loader.data)->required();
  add(app, "--epochs", &digest.epochs, "epochs to digest")->check(in_range(1, 1'000'000));
  app->add_flag("--each-batch", digest.each_batch,
                "a digest per batch too, to find where two runs part");
  add_loader_options(app, &digest.loader);

  ExplainCommand explain;
  app = add_command(
      &program, "explain", "the plan of one sample, and the sample as a picture",
      [&] { return run_explain(explain); }, &explain.json, &chosen);
  add_data(app, &explain.loader.data)->required();
  add(app, "--epoch", &explain.epoch, "epoch");
  add(app, "--index", &explain.index, "place in the order of the epoch, from 0");
  add(app, "--draws", &explain.draws,
      "only print the random numbers of so many samples from there, over as many epochs as needed: "
      "a line of JSON each");
  add(app, "-o,--out", &explain.out_path, "PNG file to write");
  add_loader_options(app, &explain.loader);

  ReplayCommand replay;
  app = add_command(
      &program, "replay", "one batch of a run made anew: its pictures, files and digest",
      [&] { return run_replay(replay); }, &replay.json, &chosen);
  add_data(app, &replay.loader.data)->required();
  add(app, "--epoch", &replay.epoch, "epoch");
  add(app, "--index", &replay.batch, "number of the batch in its epoch, from 0");
  add(app, "--tile", &replay.tile_px, "longest side of a sample in the grid, pixels")
      ->check(in_range(16, 4096));
  add(app, "-o,--out", &replay.out_path, "PNG file to write");
  add_loader_options(app, &replay.loader);

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? kExitOk : kExitCouldNotRun;
  }
  return chosen();
}

}  // namespace
}  // namespace yoload::cli

int main(int argc, char** argv) {
  try {
    return yoload::cli::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("yoload: out of memory: a smaller --memory-budget, --batch or --imgsz may help\n",
               stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "yoload: %s\n", error.what());
  }
  return yoload::cli::kExitCouldNotRun;
}

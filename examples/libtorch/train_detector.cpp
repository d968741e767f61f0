// Trains a small detector with LibTorch on batches of yoload, until it knows its few pictures by
// heart, and checks that it does: a whole training program, and a test of the way from file to
// tensor.
//
//   example_train_detector data.yaml [epochs] [imgsz] [batch]
//
// Exit code 0: the loss fell under kLossShare of the first epoch's, and most boxes were found by
// most of the detections. 1: it did not. 2: it could not run.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "batch_tensors.h"
#include "core/dataset_index.h"  // what Loader::index() gives: classes and channels
#include "detector.h"
#include "yoload/loader.h"

namespace {

constexpr double kLossShare = 0.2;
constexpr float kMinScore = 0.3f;

yoload::LoaderOptions loader_options(int argc, char** argv) {
  yoload::LoaderOptions options;
  options.data = argv[1];
  options.task = "detect";  // boxes, also of a data set that has more
  options.epochs = argc > 2 ? std::atoi(argv[2]) : 60;
  options.imgsz = argc > 3 ? std::atoi(argv[3]) : 320;
  options.batch_size = argc > 4 ? std::atoi(argv[4]) : 8;
  // To learn few pictures by heart they have to look the same every time. For training that is to
  // generalise leave this line out.
  options.augment = yoload::AugmentOptions::none();
  return options;
}

/// Mean loss of a box over one epoch.
double train_epoch(yoload::Loader* loader, int epoch, Detector model, torch::optim::Optimizer* adam,
                   torch::Device device) {
  model->train();
  loader->set_epoch(static_cast<uint32_t>(epoch));
  double sum = 0;
  int batches = 0;
  for (yoload::Batch batch; loader->next(&batch); ++batches) {
    const BatchTensors tensors = to_tensors(std::move(batch));
    const auto output = model->forward(tensors.img.to(device));  // bytes travel, not floats
    const auto loss = detection_loss(output, model->classes(), tensors);
    adam->zero_grad();
    loss.backward();
    adam->step();
    sum += loss.item<double>();
  }
  return sum / std::max(batches, 1);
}

struct Score {
  int boxes = 0, boxes_hit = 0;            ///< a detection of the class has its centre inside
  int detections = 0, detections_hit = 0;  ///< the centre lies in a box of the class
};

/// Counts hits on the training pictures, each once and without augmentation.
Score score_on_training_set(yoload::LoaderOptions options, Detector model, torch::Device device) {
  options.augment_enabled = false;
  options.shuffle = false;
  std::vector<BatchTensors> batches;
  {
    yoload::Loader loader(options);
    for (yoload::Batch batch; loader.next(&batch);) batches.push_back(to_tensors(std::move(batch)));
  }  // the loader is gone; its batches stay
  model->eval();
  torch::NoGradGuard no_grad;
  Score score;
  for (const BatchTensors& batch : batches) {
    const auto output = model->forward(batch.img.to(device));
    const std::vector<Detection> detections = decode(output, model->classes(), kMinScore);
    const auto cls = batch.cls.accessor<float, 1>(), image = batch.batch_idx.accessor<float, 1>();
    const auto xywh = batch.bboxes.accessor<float, 2>();
    const auto hits = [&](const Detection& found, int64_t box) {
      return found.image == static_cast<int>(image[box]) &&
             found.cls == static_cast<int>(cls[box]) &&
             2 * std::abs(found.x - xywh[box][0]) <= xywh[box][2] &&
             2 * std::abs(found.y - xywh[box][1]) <= xywh[box][3];
    };
    std::vector<bool> detection_hit(detections.size());
    for (int64_t box = 0; box < cls.size(0); ++box) {
      bool hit = false;
      for (size_t i = 0; i < detections.size(); ++i) {
        if (!hits(detections[i], box)) continue;
        hit = detection_hit[i] = true;
      }
      score.boxes_hit += hit;
    }
    score.boxes += static_cast<int>(cls.size(0));
    score.detections += static_cast<int>(detections.size());
    for (const bool hit : detection_hit) score.detections_hit += hit;
  }
  return score;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s data.yaml [epochs] [imgsz] [batch]\n", argv[0]);
    return 2;
  }
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const yoload::LoaderOptions options = loader_options(argc, argv);
  yoload::Loader loader(options);
  const int classes = loader.index().nc;
  Detector model(loader.index().channels, classes);
  model->to(device);
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(2e-3));
  std::printf("%llu pictures, %d classes, on %s\n",
              static_cast<unsigned long long>(loader.images_per_epoch()), classes,
              device.str().c_str());

  double first_loss = 0, loss = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    loss = train_epoch(&loader, epoch, model, &adam, device);
    if (epoch == 0) first_loss = loss;
    std::printf("epoch %d: loss %.4f\n", epoch, loss);
    std::fflush(stdout);
  }
  std::printf("%s\n", loader.report().verdict.c_str());

  const Score score = score_on_training_set(options, model, device);
  std::printf("loss: %.4f -> %.4f, %.3f of the start (must be under %.2f)\n", first_loss, loss,
              loss / first_loss, kLossShare);
  std::printf("%d of %d boxes found, %d of %d detections right (more than half must be)\n",
              score.boxes_hit, score.boxes, score.detections_hit, score.detections);
  const bool learned = loss < kLossShare * first_loss && 2 * score.boxes_hit > score.boxes &&
                       2 * score.detections_hit > score.detections;
  std::printf("%s\n", learned ? "learned" : "NOT learned");
  return learned ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}

// A detector small enough to read at a sitting: a convolutional net that marks the centre of every
// object on a heat map of one cell per 16 pixels, one channel a class, and says at each cell where
// in the cell the centre lies and how large the box is. No anchors, no NMS but a 3x3 maximum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "batch_tensors.h"

constexpr int kStridePx = 16;
constexpr int kBoxChannels = 4;  // centre in the cell (x, y), log of the size in cells (w, h)

struct Detection {
  int image = 0;
  int cls = 0;
  float score = 0;
  float x = 0, y = 0, w = 0, h = 0;  ///< xywh, fractions of the picture
};

struct DetectorImpl : torch::nn::Module {
  DetectorImpl(int channels, int classes) : classes_(classes) {
    add_block(channels, 16, 2);
    add_block(16, 32, 2);
    add_block(32, 64, 2);
    add_block(64, 64, 2);
    add_block(64, 64, 1);
    add_block(64, 64, 1);
    net_->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(64, classes + kBoxChannels, 1)));
    register_module("net", net_);
    // Nearly every cell is empty: start from "one in a hundred shows an object", not from one half.
    torch::NoGradGuard no_grad;
    net_[net_->size() - 1]->as<torch::nn::Conv2dImpl>()->bias.narrow(0, 0, classes).fill_(-4.6);
  }

  /// Takes pixels as the loader delivers them, N,C,H,W uint8; gives N,classes+4,H/16,W/16.
  torch::Tensor forward(const torch::Tensor& img) {
    return net_->forward(img.to(torch::kFloat).div(255));
  }

  int classes() const { return classes_; }

 private:
  void add_block(int in, int out, int stride) {
    net_->push_back(torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)));
    net_->push_back(torch::nn::BatchNorm2d(out));
    net_->push_back(torch::nn::SiLU());
  }

  int classes_;
  torch::nn::Sequential net_;
};
TORCH_MODULE(Detector);

/// CenterNet's loss (Zhou et al. 2019, arXiv:1904.07850): focal loss on the heat map, where cells
/// beside a centre count less, and L1 on the boxes of the cells that hold a centre.
inline torch::Tensor detection_loss(const torch::Tensor& output, int classes,
                                    const BatchTensors& batch) {
  const int64_t rows = output.size(2), columns = output.size(3);
  auto heat = torch::zeros({output.size(0), classes, rows, columns});
  auto box = torch::zeros({output.size(0), kBoxChannels, rows, columns});
  auto has_box = torch::zeros({output.size(0), 1, rows, columns});
  const auto xs = torch::arange(columns), ys = torch::arange(rows).unsqueeze(1);
  const auto cls = batch.cls.accessor<float, 1>(), image = batch.batch_idx.accessor<float, 1>();
  const auto xywh = batch.bboxes.accessor<float, 2>();
  auto box_at = box.accessor<float, 4>(), has_box_at = has_box.accessor<float, 4>();
  for (int64_t i = 0; i < cls.size(0); ++i) {
    const auto n = static_cast<int64_t>(image[i]), c = static_cast<int64_t>(cls[i]);
    const float x = xywh[i][0] * static_cast<float>(columns);  // all in cells
    const float y = xywh[i][1] * static_cast<float>(rows);
    const float w = xywh[i][2] * static_cast<float>(columns);
    const float h = xywh[i][3] * static_cast<float>(rows);
    const int64_t column = std::clamp<int64_t>(static_cast<int64_t>(x), 0, columns - 1);
    const int64_t row = std::clamp<int64_t>(static_cast<int64_t>(y), 0, rows - 1);
    const float spread_x = std::max(w / 6, 0.4f), spread_y = std::max(h / 6, 0.4f);
    const auto bump =
        torch::exp(-0.5 * (((xs - column) / spread_x).square() + ((ys - row) / spread_y).square()));
    heat[n][c].copy_(torch::maximum(heat[n][c], bump));  // 1 exactly at the centre's cell
    const float goal[] = {x - static_cast<float>(column), y - static_cast<float>(row),
                          std::log(std::max(w, 0.05f)), std::log(std::max(h, 0.05f))};
    for (int k = 0; k < kBoxChannels; ++k) box_at[n][k][row][column] = goal[k];
    has_box_at[n][0][row][column] = 1;
  }
  heat = heat.to(output.device());
  box = box.to(output.device());
  has_box = has_box.to(output.device());

  const auto logit = output.narrow(1, 0, classes), p = torch::sigmoid(logit);
  const auto centre = heat.eq(1).to(torch::kFloat);
  const auto found = torch::log_sigmoid(logit) * (1 - p).square() * centre;
  const auto empty = torch::log_sigmoid(-logit) * p.square() * (1 - heat).pow(4);
  const auto off = (output.narrow(1, classes, kBoxChannels) - box).abs() * has_box;
  return (off.sum() - found.sum() - empty.sum()) / has_box.sum().clamp_min(1);
}

/// Cells that score at least `threshold` and higher than their neighbours.
inline std::vector<Detection> decode(const torch::Tensor& output, int classes, float threshold) {
  const auto score = torch::sigmoid(output.narrow(1, 0, classes));
  const auto peak = torch::max_pool2d(score, 3, 1, 1).eq(score).logical_and(score.ge(threshold));
  const auto cells = peak.nonzero().cpu();  // n,4: image, class, row, column
  const auto scores = score.cpu(), boxes = output.narrow(1, classes, kBoxChannels).cpu();
  const auto cell = cells.accessor<int64_t, 2>();
  const auto score_at = scores.accessor<float, 4>(), box_at = boxes.accessor<float, 4>();
  const auto rows = static_cast<float>(output.size(2)),
             columns = static_cast<float>(output.size(3));
  std::vector<Detection> detections;
  for (int64_t i = 0; i < cell.size(0); ++i) {
    const int64_t n = cell[i][0], c = cell[i][1], row = cell[i][2], column = cell[i][3];
    Detection found;
    found.image = static_cast<int>(n);
    found.cls = static_cast<int>(c);
    found.score = score_at[n][c][row][column];
    found.x = (static_cast<float>(column) + box_at[n][0][row][column]) / columns;
    found.y = (static_cast<float>(row) + box_at[n][1][row][column]) / rows;
    found.w = std::exp(box_at[n][2][row][column]) / columns;
    found.h = std::exp(box_at[n][3][row][column]) / rows;
    detections.push_back(found);
  }
  return detections;
}

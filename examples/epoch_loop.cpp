// The smallest training loop: opens a data set, takes every batch of a few epochs, prints the
// verdict.
//
//   epoch_loop data.yaml [epochs]
//
// libtorch/ has a program that trains on the batches.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "yoload/loader.h"

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s data.yaml [epochs]\n", argv[0]);
    return 2;
  }
  yoload::LoaderOptions options;
  options.data = argv[1];
  options.imgsz = 640;
  options.batch_size = 16;
  options.epochs = argc > 2 ? std::atoi(argv[2]) : 2;
  // The last epochs see whole pictures, as usual; with two epochs that would be all of them.
  options.augment.close_mosaic = 0;

  yoload::Loader loader(options);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    loader.set_epoch(static_cast<uint32_t>(epoch));
    yoload::Batch batch;
    unsigned long long images = 0, objects = 0;
    while (loader.next(&batch)) {
      // batch.img: size,channels,height,width bytes. batch.bboxes: n,4 normalised xywh;
      // batch.batch_idx tells which picture of the batch each box belongs to.
      images += static_cast<unsigned>(batch.size);
      objects += batch.cls.size();
    }
    std::printf("epoch %d: %llu pictures, %llu objects\n", epoch, images, objects);
  }
  for (const yoload::LedgerEntry& entry : loader.ledger()) {
    std::printf("replaced %s: %s: %s\n", entry.path.c_str(), entry.stage.c_str(),
                entry.cause.c_str());
  }
  std::fputs(loader.report().to_text().c_str(), stdout);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}

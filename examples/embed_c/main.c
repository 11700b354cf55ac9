/* main.c - dsv4 in a C program
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Decodes two NVFP4 rows. Compile once, bind the arguments once, and launch on
 * a stream of your own. With a GPU, and the CUDA toolkit where it is built, it
 * runs there, in managed memory. Else the same program runs on the host target,
 * which needs g++.
 *
 *   embed_c examples/dequant_nvfp4.mlir
 */

#include <dsv4.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EMBED_CUDA
#include <cuda_runtime_api.h>
static void *allocate_managed(size_t bytes) {
  void *memory = NULL;
  return cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) ? NULL : memory;
}
static int has_gpu(dsv4_runtime *runtime) {
  int32_t count = 0;
  return dsv4_device_count(runtime, &count, NULL) == DSV4_OK;
}
static int wait_for_gpu(void) { return !cudaStreamSynchronize(NULL); }
#else
static void *allocate_managed(size_t bytes) { return (void)bytes, NULL; }
static int has_gpu(dsv4_runtime *runtime) { return (void)runtime, 0; }
static int wait_for_gpu(void) { return 1; }
#endif

/* Every error says what is wrong, with which argument, and what to do. */
static void check(dsv4_status status) {
  if (status == DSV4_OK)
    return;
  const dsv4_error *error = dsv4_last_error();
  fprintf(stderr, "embed_c: %s (%s): %s\n", dsv4_status_name(status), error->id,
          error->message);
  exit(1);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "embed_c: %s cannot be read\n", path);
    exit(1);
  }
  char *text = calloc(1, 1 << 16);
  if (!fread(text, 1, (1 << 16) - 1, file))
    text[0] = '\0';
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: embed_c dequant_nvfp4.mlir\n");
    return 1;
  }

  /* Once, when the engine starts. */
  dsv4_runtime *runtime;
  dsv4_program *program;
  check(dsv4_runtime_create(NULL, &runtime, NULL));
  const int on_gpu = has_gpu(runtime);
  dsv4_compile_options options = DSV4_INIT(dsv4_compile_options);
  options.target = on_gpu ? DSV4_TARGET_CUDA : DSV4_TARGET_HOST;
  options.source_name = argv[1];
  char *text = read_file(argv[1]);
  check(dsv4_compile(runtime, text, SIZE_MAX, &options, &program, NULL));
  free(text);

  /* Two rows of 512. Every value is 1 (two codes 2 per byte) times 0.5 (E4M3
   * 0x30) times 3 for the first row and 4 for the second. */
  enum { ROWS = 2 };
  const int64_t shapes[4][2] = {
      {ROWS, 256}, {ROWS, 32}, {ROWS, 0}, {ROWS, 512}};
  const size_t bytes[4] = {ROWS * 256, ROWS * 32, ROWS * 4, ROWS * 512 * 2};
  const float global[ROWS] = {3, 4};
  dsv4_tensor tensors[4];
  dsv4_argument arguments[4];
  for (int i = 0; i < 4; ++i) {
    tensors[i] = (dsv4_tensor)DSV4_INIT(dsv4_tensor);
    tensors[i].data = on_gpu ? allocate_managed(bytes[i])
                             : aligned_alloc(256, (bytes[i] + 255) / 256 * 256);
    tensors[i].ndim = i == 2 ? 1 : 2;
    tensors[i].shape = shapes[i];
    tensors[i].device_type =
        on_gpu ? DSV4_DEVICE_CUDA_MANAGED : DSV4_DEVICE_CPU;
    arguments[i] = (dsv4_argument)DSV4_INIT(dsv4_argument);
    arguments[i].value = &tensors[i];
    if (!tensors[i].data) {
      fprintf(stderr, "embed_c: no memory\n");
      return 1;
    }
  }
  memset(tensors[0].data, 0x22, bytes[0]);
  memset(tensors[1].data, 0x30, bytes[1]);
  memcpy(tensors[2].data, global, bytes[2]);

  /* Once per layer. */
  dsv4_block *block;
  check(dsv4_bind(program, arguments, 4, NULL, &block, NULL));

  /* In the request path: this line alone. */
  check(dsv4_launch(block, NULL, NULL));

  if (on_gpu && !wait_for_gpu()) {
    fprintf(stderr, "embed_c: the device failed\n");
    return 1;
  }
  /* 1.5 and 2 in bf16. */
  const uint16_t *out = tensors[3].data;
  const int right =
      out[0] == 0x3FC0 && out[511] == 0x3FC0 && out[512] == 0x4000;
  printf("row 0 is 0x%04x, row 1 is 0x%04x: %s\n", (unsigned)out[0],
         (unsigned)out[512], right ? "right" : "wrong");
  dsv4_block_destroy(block);
  dsv4_program_destroy(program);
  dsv4_runtime_destroy(runtime);
  return right ? 0 : 1;
}

/* Layout.c - dsv4.h as C11
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#include "Layout.h"

/* What a C program gets. */
dsv4_tensor dsv4LayoutTensor(void);
dsv4_tensor dsv4LayoutTensor(void) {
  dsv4_tensor tensor = DSV4_INIT(dsv4_tensor);
  return tensor;
}

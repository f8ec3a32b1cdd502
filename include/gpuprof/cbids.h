/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions in CUPTI's API records by their numbers: GP_RUNTIME_CBIDS and GP_DRIVER_CBIDS. */
#ifndef GPUPROF_CBIDS_H
#define GPUPROF_CBIDS_H

#include "gpuprof/cbids_driver.h"
#include "gpuprof/cbids_runtime.h"

#endif

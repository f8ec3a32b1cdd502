// SPDX-License-Identifier: BSD-3-Clause
/* pretrain: what a step launches, copies and reduces, and where it waits. */
#include <stdlib.h>

#include "pretrain.h"

enum { GRADIENT_BYTES = 800000000, LOOK_NS = 350000, NON_BLOCKING = 1 };

struct trainer {
	const struct pretrain *plan;
	struct loader *loader;
	uint64_t step;
	cudaStream_t compute, copy, reduce;
	cudaEvent_t copied, ready, reduced, done[PRETRAIN_AHEAD];
	ncclComm_t comm;
	char *batch[PRETRAIN_AHEAD], *gradients, *weights;
	float *loss;
};

/* The kernels: as in compiled CUDA code, the host function of that name launches itself. */

static void launch(const struct trainer *t, const void *kernel, unsigned int blocks)
{
	CHECK(cudaLaunchKernel(kernel, (dim3){ blocks, 1, 1 }, (dim3){ 256, 1, 1 }, NULL, 0,
			       t->compute));
}

static __attribute__((noinline)) void forward(const struct trainer *t)
{
	launch(t, (const void *)forward, 192 * 1024);
}

static __attribute__((noinline)) void relu(const struct trainer *t)
{
	launch(t, (const void *)relu, 2048);
}

static __attribute__((noinline)) void backward(const struct trainer *t)
{
	launch(t, (const void *)backward, 256 * 1024);
}

static __attribute__((noinline)) void adam(const struct trainer *t)
{
	launch(t, (const void *)adam, 256 * 1024);
}

static __attribute__((noinline)) void warm_up(void)
{
	CHECK(cudaLaunchKernel((const void *)warm_up, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0,
			       NULL));
}

/* As compiled CUDA code does before main. */
static __attribute__((constructor)) void register_kernels(void)
{
	static const struct {
		const void *host;
		const char *name;
	} kernels[] = {
		{ (const void *)warm_up, "_Z7warm_upv" },
		{ (const void *)forward, "_Z20sgemm_128x64_nn_kerniiiPKfS0_Pf" },
		{ (const void *)relu, "_Z16bias_relu_kernelPfPKfi" },
		{ (const void *)backward, "_Z20sgemm_128x64_nt_kerniiiPKfS0_Pf" },
		{ (const void *)adam, "_Z23multi_tensor_adam_applyPfPKfS_S_f" },
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		__cudaRegisterFunction(NULL, kernels[i].host, NULL, kernels[i].name, -1, NULL, NULL,
				       NULL, NULL, NULL);
}

/* What comes after it on `then` begins when all that is on `first` now has ended. */
static void order(cudaStream_t first, cudaEvent_t event, cudaStream_t then)
{
	CHECK(cudaEventRecord(event, first));
	CHECK(cudaStreamWaitEvent(then, event, 0));
}

/* The planted sync: the host waits, and looks at the result for as long as the clock says. */
static __attribute__((noinline)) void look(const struct trainer *t)
{
	uint64_t start_ns = marks_now_ns(), until_ns;

	CHECK(cudaStreamSynchronize(t->compute));
	marks_add(FAULT_SYNC, start_ns);
	until_ns = marks_now_ns() + LOOK_NS;
	while (marks_now_ns() < until_ns)
		;
}

static __attribute__((noinline)) void copy_batch(struct trainer *t)
{
	char *to = t->batch[t->step % PRETRAIN_AHEAD];
	const void *from = loader_next(t->loader);
	uint64_t start_ns = marks_now_ns();

	CHECK(cudaMemcpyAsync(to, from, LOADER_BYTES, cudaMemcpyHostToDevice, t->copy));
	if (t->plan->faults[FAULT_PAGEABLE])
		marks_add(FAULT_PAGEABLE, start_ns);
	order(t->copy, t->copied, t->compute);
}

static void run_forward(const struct trainer *t)
{
	int layer;

	for (layer = 0; layer < PRETRAIN_LAYERS; layer++) {
		forward(t);
		relu(t);
		if (t->plan->faults[FAULT_SYNC])
			look(t);
	}
}

static __attribute__((noinline)) void all_reduce(const struct trainer *t, size_t bytes,
						  cudaStream_t stream)
{
	CHECK(ncclAllReduce(t->gradients, t->gradients, bytes / 4, ncclFloat32, ncclSum, t->comm,
			    stream));
}

static void run_backward(const struct trainer *t)
{
	int layer;

	for (layer = 0; layer < PRETRAIN_LAYERS; layer++) {
		backward(t);
		if (t->plan->faults[FAULT_COMM])
			continue;
		order(t->compute, t->ready, t->reduce);
		all_reduce(t, GRADIENT_BYTES / PRETRAIN_LAYERS, t->reduce);
	}
	if (t->plan->faults[FAULT_COMM])
		all_reduce(t, GRADIENT_BYTES, t->compute);
	else
		order(t->reduce, t->reduced, t->compute);
}

void trainer_step(struct trainer *t)
{
	cudaEvent_t done = t->done[t->step % PRETRAIN_AHEAD];

	if (t->step >= PRETRAIN_AHEAD)
		CHECK(cudaEventSynchronize(done));
	copy_batch(t);
	run_forward(t);
	run_backward(t);
	adam(t);
	CHECK(cudaMemcpyAsync(t->loss, t->gradients, sizeof(*t->loss), cudaMemcpyDeviceToHost,
			      t->compute));
	CHECK(cudaEventRecord(done, t->compute));
	if (t->plan->faults[FAULT_SYNC])
		look(t);
	t->step++;
}

void trainer_warm_up(void)
{
	warm_up();
}

struct trainer *trainer_new(const struct pretrain *plan, struct loader *loader)
{
	struct trainer *t = calloc(1, sizeof(*t));
	ncclUniqueId id;
	int i;

	CHECK(t == NULL);
	t->plan = plan;
	t->loader = loader;
	CHECK(cudaStreamCreateWithFlags(&t->compute, NON_BLOCKING));
	CHECK(cudaStreamCreateWithFlags(&t->copy, NON_BLOCKING));
	CHECK(cudaStreamCreateWithFlags(&t->reduce, NON_BLOCKING));
	CHECK(cudaEventCreate(&t->copied));
	CHECK(cudaEventCreate(&t->ready));
	CHECK(cudaEventCreate(&t->reduced));
	for (i = 0; i < PRETRAIN_AHEAD; i++) {
		CHECK(cudaEventCreate(&t->done[i]));
		CHECK(cudaMalloc((void **)&t->batch[i], LOADER_BYTES));
	}
	CHECK(cudaMalloc((void **)&t->gradients, GRADIENT_BYTES));
	CHECK(cudaMalloc((void **)&t->weights, GRADIENT_BYTES));
	CHECK(cudaMallocHost((void **)&t->loss, sizeof(*t->loss)));
	CHECK(ncclGetUniqueId(&id));
	CHECK(ncclCommInitRank(&t->comm, 1, id, 0));
	return t;
}

void trainer_free(struct trainer *t)
{
	int i;

	CHECK(cudaDeviceSynchronize());
	CHECK(ncclCommDestroy(t->comm));
	for (i = 0; i < PRETRAIN_AHEAD; i++) {
		CHECK(cudaEventDestroy(t->done[i]));
		CHECK(cudaFree(t->batch[i]));
	}
	CHECK(cudaFree(t->gradients));
	CHECK(cudaFree(t->weights));
	CHECK(cudaFreeHost(t->loss));
	CHECK(cudaEventDestroy(t->copied));
	CHECK(cudaEventDestroy(t->ready));
	CHECK(cudaEventDestroy(t->reduced));
	CHECK(cudaStreamDestroy(t->compute));
	CHECK(cudaStreamDestroy(t->copy));
	CHECK(cudaStreamDestroy(t->reduce));
	free(t);
}

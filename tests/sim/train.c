// SPDX-License-Identifier: BSD-3-Clause
/*
 * A small training program for demonstrations and tests: loader threads read batches and hand them
 * over, training threads copy them to the device, launch the kernels of a few layers, read the loss
 * back. Every so many batches the storage is slow: the planted input stall that a profiler should
 * find. It knows the CUDA runtime's public functions alone; here it runs on the simulated one.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program.h"

enum { LAYERS = 8, PREFETCH = 2, MAX_THREADS = 64, LABEL_BYTES = 4096, READ_MS = 4 };

struct options {
	uint64_t steps, batch_bytes, stall_every, stall_ms, threads;
	bool quiet;
};

/* Batches ready for one training thread: a ring of PREFETCH host buffers. */
struct loader {
	const struct options *options;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t loaded, used;
	void *buffers[PREFETCH];
};

struct worker {
	const struct options *options;
	pthread_barrier_t *step_end;
	unsigned int index;
	struct loader loader;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	char *batch, *weights, *activations;
	float *loss;
	uint64_t launches, input_wait_ns;
	double device_ms;
};

static void launch(struct worker *worker, const void *kernel, dim3 grid, dim3 block,
		   void **arguments)
{
	CHECK(cudaLaunchKernel(kernel, grid, block, arguments, 0, worker->stream));
	worker->launches++;
}

/* The kernels: as in compiled CUDA code, the host function of that name launches itself. */

static __attribute__((noinline)) void warm_up(struct worker *worker)
{
	void *arguments[] = { &worker };

	launch(worker, (const void *)warm_up, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, arguments);
}

static __attribute__((noinline)) void gemm(struct worker *worker, int layer)
{
	void *arguments[] = { &worker->weights, &worker->activations, &layer };

	launch(worker, (const void *)gemm, (dim3){ 256, 192, 1 }, (dim3){ 256, 1, 1 }, arguments);
}

static __attribute__((noinline)) void bias_relu(struct worker *worker, int layer)
{
	void *arguments[] = { &worker->activations, &layer };

	launch(worker, (const void *)bias_relu, (dim3){ 2048, 1, 1 }, (dim3){ 256, 1, 1 },
	       arguments);
}

static __attribute__((noinline)) void softmax(struct worker *worker)
{
	void *arguments[] = { &worker->activations };

	launch(worker, (const void *)softmax, (dim3){ 1024, 1, 1 }, (dim3){ 128, 1, 1 }, arguments);
}

static __attribute__((noinline)) void backward(struct worker *worker, int layer)
{
	void *arguments[] = { &worker->weights, &worker->activations, &layer };

	launch(worker, (const void *)backward, (dim3){ 512, 256, 1 }, (dim3){ 16, 16, 1 },
	       arguments);
}

static __attribute__((noinline)) void adam(struct worker *worker)
{
	void *arguments[] = { &worker->weights };

	launch(worker, (const void *)adam, (dim3){ 16384, 1, 1 }, (dim3){ 256, 1, 1 }, arguments);
}

/* As compiled CUDA code does before main. */
static __attribute__((constructor)) void register_kernels(void)
{
	static const struct {
		const void *host;
		const char *name;
	} kernels[] = {
		{ (const void *)warm_up, "_Z7warm_upv" },
		{ (const void *)gemm, "_Z20sgemm_128x64_nn_kerniiiPKfS0_Pf" },
		{ (const void *)bias_relu, "_Z16bias_relu_kernelPfPKfi" },
		{ (const void *)softmax, "_Z22softmax_forward_kernelPfi" },
		{ (const void *)backward, "_Z20sgemm_128x64_nt_kerniiiPKfS0_Pf" },
		{ (const void *)adam, "_Z23multi_tensor_adam_applyPfPKfS_S_f" },
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		__cudaRegisterFunction(NULL, kernels[i].host, NULL, kernels[i].name, -1, NULL, NULL,
				       NULL, NULL, NULL);
}

static __attribute__((noinline)) void read_batch(const struct options *options, void *buffer,
						 uint64_t number)
{
	bool stalls = options->stall_every && (number + 1) % options->stall_every == 0;
	uint64_t ms = stalls ? options->stall_ms : READ_MS;
	struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	memset(buffer, (int)number, LABEL_BYTES);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void *load_batches(void *argument)
{
	struct loader *loader = argument;
	uint64_t number;

	for (number = 0; number < loader->options->steps; number++) {
		pthread_mutex_lock(&loader->lock);
		while (loader->loaded - loader->used == PREFETCH)
			pthread_cond_wait(&loader->changed, &loader->lock);
		pthread_mutex_unlock(&loader->lock);
		read_batch(loader->options, loader->buffers[number % PREFETCH], number);
		pthread_mutex_lock(&loader->lock);
		loader->loaded++;
		pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->lock);
	}
	return NULL;
}

static __attribute__((noinline)) void *next_batch(struct worker *worker)
{
	struct loader *loader = &worker->loader;
	uint64_t start = now_ns();
	void *buffer;

	pthread_mutex_lock(&loader->lock);
	while (loader->loaded == loader->used)
		pthread_cond_wait(&loader->changed, &loader->lock);
	buffer = loader->buffers[loader->used % PREFETCH];
	pthread_mutex_unlock(&loader->lock);
	worker->input_wait_ns += now_ns() - start;
	return buffer;
}

static void give_back_batch(struct loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->used++;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

static void forward_pass(struct worker *worker)
{
	int layer;

	for (layer = 0; layer < LAYERS; layer++) {
		gemm(worker, layer);
		bias_relu(worker, layer);
	}
	softmax(worker);
}

static void backward_pass(struct worker *worker)
{
	int layer;

	for (layer = LAYERS - 1; layer >= 0; layer--)
		backward(worker, layer);
	adam(worker);
}

static void train_step(struct worker *worker)
{
	char *host = next_batch(worker);
	uint64_t bytes = worker->options->batch_bytes;
	float ms = 0;

	CHECK(cudaEventRecord(worker->begin, worker->stream));
	CHECK(cudaMemcpyAsync(worker->batch, host, bytes, cudaMemcpyHostToDevice, worker->stream));
	CHECK(cudaMemcpyAsync(worker->batch + bytes, host, LABEL_BYTES, cudaMemcpyHostToDevice,
			      worker->stream));
	CHECK(cudaMemsetAsync(worker->activations, 0, bytes, worker->stream));
	forward_pass(worker);
	backward_pass(worker);
	CHECK(cudaMemcpyAsync(worker->loss, worker->activations, sizeof(*worker->loss),
			      cudaMemcpyDeviceToHost, worker->stream));
	CHECK(cudaEventRecord(worker->end, worker->stream));
	CHECK(cudaStreamSynchronize(worker->stream));
	CHECK(cudaEventElapsedTime(&ms, worker->begin, worker->end));
	worker->device_ms += (double)ms;
	give_back_batch(&worker->loader);
}

static void worker_prepare(struct worker *worker)
{
	uint64_t bytes = worker->options->batch_bytes;
	int i;

	pthread_mutex_init(&worker->loader.lock, NULL);
	pthread_cond_init(&worker->loader.changed, NULL);
	worker->loader.options = worker->options;
	/* As programs do that are measured: what is set up once goes into a call that is made often. */
	warm_up(worker);
	for (i = 0; i < PREFETCH; i++)
		CHECK(cudaMallocHost(&worker->loader.buffers[i], bytes + LABEL_BYTES));
	CHECK(cudaMallocHost((void **)&worker->loss, sizeof(*worker->loss)));
	CHECK(cudaMalloc((void **)&worker->batch, bytes + LABEL_BYTES));
	CHECK(cudaMalloc((void **)&worker->activations, bytes));
	CHECK(cudaMalloc((void **)&worker->weights, 64 << 20));
	CHECK(cudaStreamCreate(&worker->stream));
	CHECK(cudaEventCreate(&worker->begin));
	CHECK(cudaEventCreate(&worker->end));
}

static void worker_clean_up(struct worker *worker)
{
	int i;

	CHECK(cudaEventDestroy(worker->begin));
	CHECK(cudaEventDestroy(worker->end));
	CHECK(cudaStreamDestroy(worker->stream));
	CHECK(cudaFree(worker->batch));
	CHECK(cudaFree(worker->activations));
	CHECK(cudaFree(worker->weights));
	CHECK(cudaFreeHost(worker->loss));
	for (i = 0; i < PREFETCH; i++)
		CHECK(cudaFreeHost(worker->loader.buffers[i]));
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	pthread_t loader;
	char name[24];
	uint64_t step;

	if (worker->index > 0) {
		snprintf(name, sizeof(name), "train-%u", worker->index);
		pthread_setname_np(pthread_self(), name);
	}
	worker_prepare(worker);
	if (pthread_create(&loader, NULL, load_batches, &worker->loader))
		check(1, "cannot start the loader");
	snprintf(name, sizeof(name), "loader-%u", worker->index);
	pthread_setname_np(loader, name);
	for (step = 0; step < worker->options->steps; step++) {
		train_step(worker);
		pthread_barrier_wait(worker->step_end);
	}
	pthread_join(loader, NULL);
	worker_clean_up(worker);
	return NULL;
}

static void summarise(const struct options *options, const struct worker *workers, uint64_t wall_ns)
{
	uint64_t launches = 0, input_wait_ns = 0;
	double device_ms = 0;
	uint64_t i;

	for (i = 0; i < options->threads; i++) {
		launches += workers[i].launches;
		input_wait_ns += workers[i].input_wait_ns;
		device_ms += workers[i].device_ms;
	}
	printf("train: %" PRIu64 " steps on %" PRIu64 " thread(s), %" PRIu64
	       " launches, wall %.3f s",
	       options->steps, options->threads, launches, (double)wall_ns / 1e9);
	printf(", steps on device %.3f s, waited for input %.3f s\n", device_ms / 1e3,
	       (double)input_wait_ns / 1e9);
}

static void run(const struct options *options)
{
	static struct worker workers[MAX_THREADS];
	static pthread_t threads[MAX_THREADS];
	pthread_barrier_t step_end;
	uint64_t start = now_ns();
	unsigned int i;

	pthread_barrier_init(&step_end, NULL, (unsigned int)options->threads);
	for (i = 0; i < options->threads; i++) {
		workers[i].options = options;
		workers[i].index = i;
		workers[i].step_end = &step_end;
		if (i > 0 && pthread_create(&threads[i], NULL, work, &workers[i]))
			check(1, "cannot start a thread");
	}
	work(&workers[0]);
	for (i = 1; i < options->threads; i++)
		pthread_join(threads[i], NULL);
	if (!options->quiet)
		summarise(options, workers, now_ns() - start);
}

static int usage(void)
{
	fputs("usage: train [--steps N] [--batch-bytes B] [--stall-every K] [--stall-ms M] "
	      "[--threads T] [--quiet]\n"
	      "every K-th batch takes M ms to read (0: none)\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct options options = { 200, 16 << 20, 10, 40, 1, false };
	const struct program_option known[] = {
		{ "--steps", .number = &options.steps },
		{ "--batch-bytes", .number = &options.batch_bytes },
		{ "--stall-every", .number = &options.stall_every },
		{ "--stall-ms", .number = &options.stall_ms },
		{ "--threads", .number = &options.threads },
		{ "--quiet", .flag = &options.quiet },
	};

	(void)argc;
	if (!PROGRAM_OPTIONS(known, argv))
		return usage();
	if (!options.threads || options.threads > MAX_THREADS || !options.batch_bytes)
		return usage();
	run(&options);
	return 0;
}

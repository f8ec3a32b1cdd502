// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes, directions and streams of calls whose arguments do not fit the registers: copies of two
 * and three dimensions, structs by value, parameter structs; and shapes of matrix products. As in
 * test_decode.c the compiler lays the arguments out.
 */
#include "unit/decode_room.h"

#include "lib/test.h"

/* ---- the vendor's public layouts ------------------------------------------------------------- */

struct extent { size_t width, height, depth; };
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct pos { size_t x, y, z; };

struct copy3d {			/* cudaMemcpy3DParms */
	void *src_array;
	struct pos src_pos;
	struct pitched src;
	void *dst_array;
	struct pos dst_pos;
	struct pitched dst;
	struct extent extent;
	int kind;
};

struct copy3d_peer {		/* cudaMemcpy3DPeerParms */
	void *src_array;
	struct pos src_pos;
	struct pitched src;
	int src_device;
	void *dst_array;
	struct pos dst_pos;
	struct pitched dst;
	int dst_device;
	struct extent extent;
};

struct driver_copy2d {		/* CUDA_MEMCPY2D */
	size_t src_x, src_y;
	int src_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x, dst_y;
	int dst_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width, height;
};

struct driver_copy3d {		/* CUDA_MEMCPY3D, and _PEER with contexts where `src_more` is */
	size_t src_x, src_y, src_z, src_lod;
	int src_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array, *src_more;
	size_t src_pitch, src_height;
	size_t dst_x, dst_y, dst_z, dst_lod;
	int dst_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array, *dst_more;
	size_t dst_pitch, dst_height;
	size_t width, height, depth;
};

int see_copy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	       size_t height, int kind, handle stream) SEE;
int see_to_array(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
		 size_t height, int kind, handle stream) SEE;
int see_peer(void *to, int to_device, const void *from, int from_device, size_t bytes,
	     handle stream) SEE;
int see_params(const void *params, handle stream) SEE;
int see_set2d(void *to, size_t pitch, int value, size_t width, size_t height, handle stream) SEE;
int see_set3d(struct pitched to, int value, struct extent extent, handle stream) SEE;
int see_alloc3d(struct pitched *out, struct extent extent) SEE;
int see_pool(void **out, size_t bytes, handle pool, handle stream) SEE;
int see_gemm(handle h, int ta, int tb, int m, int n, int k, const float *alpha, const float *a,
	     int lda, const float *b, int ldb, const float *beta, float *c, int ldc) SEE;
int see_gemm_strided(handle h, int ta, int tb, int m, int n, int k, const float *alpha,
		     const float *a, int lda, long long stride_a, const float *b, int ldb,
		     long long stride_b, const float *beta, float *c, int ldc, long long stride_c,
		     int count) SEE;
int see_reduce(const void *from, void *to, size_t count, int type, int op, int root, handle comm,
	       handle stream) SEE;
int see_send(const void *from, size_t count, int type, int peer, handle comm, handle stream) SEE;

/* ---- checks ---------------------------------------------------------------------------------- */

#define NOWHERE UINT8_MAX

static void is_copy(const struct event *ev, uint64_t bytes, uint8_t dir)
{
	assert_true(ev->has & HAS_BYTES);
	assert_int_equal(ev->call.bytes, bytes);
	assert_int_equal(!!(ev->has & HAS_DIR), dir != NOWHERE);
	if (dir != NOWHERE)
		assert_int_equal(ev->call.dir, dir);
}

static void is_stream(const struct event *ev, uint64_t stream)
{
	assert_true(ev->has & HAS_STREAM);
	assert_int_equal(ev->call.stream, stream);
}

/* The same record, had the extra words not been readable. */
static struct event decode_fault(void *state, const char *name)
{
	struct raw raw;
	size_t len = record(&raw, name);

	memset(&raw.words[GP_REGS], 0, sizeof(raw.words) - GP_REGS * sizeof(raw.words[0]));
	raw.head.flags = GP_CALL_EXTRA_FAULT;
	return decode_len(state, &raw, len);
}

TEST_TITLED("copy: of two dimensions, width x height, also behind the registers", runtime_2d)
{
	struct event ev;

	see_copy2d(NULL, 512, NULL, 256, 200, 30, COPY_H2D, (handle)0x31);
	seen[6] |= POISON << 32;
	ev = decode_seen(state, "cudaMemcpy2DAsync");
	is_copy(&ev, 6000, COPY_H2D);
	is_stream(&ev, 0x31);
	ev = decode_seen(state, "cudaMemcpy2D");
	is_copy(&ev, 6000, COPY_H2D);
	ev = decode_fault(state, "cudaMemcpy2DAsync");
	assert_false(ev.has & (HAS_DIR | HAS_STREAM));
	see_to_array(NULL, 1, 2, NULL, 256, 100, 7, COPY_D2D, (handle)0x32);
	ev = decode_seen(state, "cudaMemcpy2DToArrayAsync");
	is_copy(&ev, 700, COPY_D2D);
	is_stream(&ev, 0x32);
	assert_false(decode_fault(state, "cudaMemcpy2DToArrayAsync").has & HAS_BYTES);
	see_peer(NULL, 1, NULL, 0, 12345, (handle)0x33);
	ev = decode_seen(state, "cudaMemcpyPeerAsync");
	is_copy(&ev, 12345, COPY_D2D);
	is_stream(&ev, 0x33);
	see_set2d(NULL, 512, 0, 100, 9, (handle)0x34);
	ev = decode_seen(state, "cudaMemset2DAsync");
	is_copy(&ev, 900, NOWHERE);
	is_stream(&ev, 0x34);
	ev = decode_seen(state, "cuMemsetD2D32Async");
	is_copy(&ev, 3600, NOWHERE);
}

TEST_TITLED("copy: of three dimensions by the runtime's struct; arrays are unknown", runtime_3d)
{
	struct copy3d copy = { .extent = { 64, 32, 8 }, .kind = COPY_D2H };
	struct copy3d_peer peer = { .extent = { 10, 20, 30 } };
	struct event ev;

	assert_int_equal(sizeof(copy), 160);
	see_params(&copy, (handle)0x35);
	ev = decode_seen(state, "cudaMemcpy3DAsync_ptsz");
	is_copy(&ev, 64 * 32 * 8, COPY_D2H);
	is_stream(&ev, 0x35);
	copy.dst_array = &copy;		/* the width counts elements now, of a size not known here */
	ev = decode_seen(state, "cudaMemcpy3D");
	assert_int_equal(ev.has & (HAS_BYTES | HAS_DIR), HAS_DIR);
	copy = (struct copy3d){ .src_array = &copy, .extent = { 1, 1, 1 } };
	assert_false(decode_seen(state, "cudaMemcpy3D").has & HAS_BYTES);
	copy = (struct copy3d){ .extent = { 1ull << 40, 1ull << 20, 1ull << 20 }, .kind = 9 };
	assert_false(decode_seen(state, "cudaMemcpy3D").has & (HAS_BYTES | HAS_DIR));
	assert_false(decode_fault(state, "cudaMemcpy3D").has & (HAS_BYTES | HAS_DIR));

	see_params(&peer, (handle)0x36);
	ev = decode_seen(state, "cudaMemcpy3DPeerAsync");
	is_copy(&ev, 6000, COPY_D2D);
	is_stream(&ev, 0x36);
	peer.src_array = &peer;
	assert_false(decode_seen(state, "cudaMemcpy3DPeer").has & HAS_BYTES);
}

TEST_TITLED("set, alloc: structs by value are where the compiler puts them", structs_by_value)
{
	struct pitched to = { &to, 512, 100, 9 };
	struct extent extent = { 40, 50, 60 };
	struct event ev;

	see_set3d(to, 7, extent, (handle)0x37);
	ev = decode_seen(state, "cudaMemset3DAsync");
	is_copy(&ev, 120000, NOWHERE);
	is_stream(&ev, 0x37);
	ev = decode_seen(state, "cudaMemset3D_ptds");
	is_copy(&ev, 120000, NOWHERE);
	see_alloc3d(&to, extent);
	ev = decode_seen(state, "cudaMalloc3D");
	is_copy(&ev, 120000, NOWHERE);
}

TEST_TITLED("copy: the driver's structs, directions by types of memory", driver_params)
{
	enum { HOST = 1, DEVICE, ARRAY, UNIFIED };
	static const struct { int src, dst; uint8_t dir; } types[] = {
		{ HOST, HOST, COPY_H2H }, { HOST, DEVICE, COPY_H2D }, { HOST, ARRAY, COPY_H2D },
		{ DEVICE, HOST, COPY_D2H }, { ARRAY, HOST, COPY_D2H }, { DEVICE, ARRAY, COPY_D2D },
		{ ARRAY, ARRAY, COPY_D2D }, { UNIFIED, HOST, COPY_DEFAULT },
		{ DEVICE, UNIFIED, COPY_DEFAULT }, { 0, HOST, NOWHERE }, { HOST, 5, NOWHERE },
		{ -1, 0, NOWHERE },
	};
	struct driver_copy2d two;
	struct driver_copy3d three;
	struct event ev;

	assert_int_equal(sizeof(two), 128);
	assert_int_equal(sizeof(three), 200);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(&two, 0xab, sizeof(two));	/* the padding, too */
		two.src_type = types[i].src, two.dst_type = types[i].dst;
		two.width = 300, two.height = 11;
		see_params(&two, (handle)0x38);
		ev = decode_seen(state, "cuMemcpy2DAsync_v2");
		is_copy(&ev, 3300, types[i].dir);
		is_stream(&ev, 0x38);
		memset(&three, 0xab, sizeof(three));
		three.src_type = types[i].src, three.dst_type = types[i].dst;
		three.width = 300, three.height = 11, three.depth = 2;
		see_params(&three, (handle)0x39);
		ev = decode_seen(state, "cuMemcpy3D_v2_ptds");
		is_copy(&ev, 6600, types[i].dir);
		ev = decode_seen(state, "cuMemcpy3DPeerAsync");
		is_copy(&ev, 6600, types[i].dir);
		is_stream(&ev, 0x39);
	}
}

TEST_TITLED("alloc: the pool is the entity", pools)
{
	static const char *const names[] = { "cudaMallocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz" };

	see_pool(NULL, 4096, (handle)0x9001, (handle)0x40);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct event ev = decode_seen(state, names[i]);

		is_copy(&ev, 4096, NOWHERE);
		is_stream(&ev, 0x40);
		assert_true(ev.has & HAS_ENTITY);
		assert_int_equal(ev.call.entity, 0x9001);
	}
}

static void is_product(const struct event *ev, uint32_t count)
{
	const uint32_t size[] = { 128, 256, 512 }, n[] = { count, 1, 1 };

	assert_true(ev->has & HAS_SHAPE);
	assert_memory_equal(ev->call.shape.grid, size, sizeof(size));
	assert_memory_equal(ev->call.shape.block, n, sizeof(n));
}

TEST_TITLED("library: m, n, k and the number of products are the shape", products)
{
	struct event ev;

	see_gemm(NULL, 0, 1, 128, 256, 512, NULL, NULL, 1, NULL, 2, NULL, NULL, 3);
	for (int i = 3; i <= 5; i++)
		seen[i] |= POISON << 32;
	ev = decode_seen(state, "cublasSgemm_v2");
	is_product(&ev, 1);
	see_gemm_strided(NULL, 0, 1, 128, 256, 512, NULL, NULL, 1, 10, NULL, 2, 20, NULL, NULL, 3, 30,
			 16);
	ev = decode_seen(state, "cublasSgemmStridedBatched");
	is_product(&ev, 16);
	assert_false(decode_fault(state, "cublasSgemmStridedBatched").has & HAS_SHAPE);
}

TEST_TITLED("collective: bytes and stream wherever they are", collectives)
{
	struct event ev;

	see_reduce(NULL, NULL, 100, 7, 0, 3, (handle)0x2, (handle)0x41);
	ev = decode_seen(state, "ncclReduce");
	is_copy(&ev, 400, NOWHERE);
	is_stream(&ev, 0x41);
	see_send(NULL, 50, 8, 1, (handle)0x77, (handle)0x42);
	ev = decode_seen(state, "ncclSend");
	is_copy(&ev, 400, NOWHERE);
	is_stream(&ev, 0x42);
	assert_int_equal(ev.call.entity, 0x77);
}

TEST_GROUP(setup, teardown);

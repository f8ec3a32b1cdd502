// SPDX-License-Identifier: BSD-3-Clause
/* The table of words, and its texts as lines. */
#include "view/words.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "view/view.h"

const struct word word_list[] = {
	/* ---- findings ---- */
	{
		.name = "input-stall", .kind = WORD_FINDING,
		.title = "waits for input or host",
		.what = "The GPU is idle because the thread that feeds it is outside of CUDA for "
			"1 ms or more: it waits for data, for a lock, for time to pass, or runs "
			"host code.",
		.measured = "GPU idle time during which that thread was in no CUDA or NCCL call; "
			    "the scheduler's records say why it did not run (lock, io, disk, "
			    "sleep).",
		.fix = "prepare the next batch on other threads (DataLoader: num_workers, "
		       "prefetch_factor).",
		.cuda = "prepare the next batch on another thread while the GPU works on this "
			"one; keep a queue of two batches or more; copy with cudaMemcpyAsync on a "
			"stream of its own.",
		.pytorch = "DataLoader(num_workers=4 or more, prefetch_factor=2 or more, "
			   "persistent_workers=True, pin_memory=True); batch.to(device, "
			   "non_blocking=True); move transforms to the GPU or to the workers.",
		.see = "lock io sleep offcpu",
	}, {
		.name = "needless-sync", .kind = WORD_FINDING,
		.title = "syncs empty the GPU",
		.what = "The GPU runs out of work while the thread waits for it in a "
			"synchronizing call or in a copy of less than 64 KiB, and stays idle "
			"until the thread has launched again.",
		.measured = "GPU idle time from the end of the last work, inside of such a call, "
			    "to the next work; less the host code or waiting of 1 ms or more in "
			    "between, which is input-stall. `at best` has that time and what "
			    "copies take, too: a host that runs ahead hides them under compute.",
		.fix = "wait later: launch the next step first; no .item() or print(tensor) in "
		       "the loop.",
		.cuda = "wait for what you need, as late as possible: cudaEventSynchronize or "
			"cudaStreamWaitEvent instead of cudaDeviceSynchronize; launch the next "
			"step before you read the last one's result; copy results to pinned "
			"memory.",
		.pytorch = "avoid .item(), .cpu(), .tolist(), print(tensor), `if tensor:` and "
			   "torch.cuda.synchronize() in the loop; log every N steps; gather "
			   "losses in a tensor and read them once; "
			   "torch.cuda.set_sync_debug_mode('warn') names the lines.",
		.see = "sync launch-bound",
	}, {
		.name = "exposed-comm", .kind = WORD_FINDING,
		.title = "communication alone",
		.what = "Communication between GPUs runs while no compute runs beside it.",
		.measured = "time of communication kernels (NCCL and the like) that no kernel of "
			    "another kind overlaps. Where another rank's are four times shorter, "
			    "that rank comes late, and its findings come first.",
		.fix = "start collectives early and on a stream of their own, beside compute "
		       "(DDP, FSDP do).",
		.cuda = "launch collectives on a stream of their own as soon as their input is "
			"there; fuse small ones; check NCCL_ALGO, NCCL_PROTO and the topology "
			"(nvidia-smi topo -m) if a large one is slow.",
		.pytorch = "DistributedDataParallel with a larger bucket_cap_mb; no_sync() while "
			   "gradients accumulate; FSDP with backward_prefetch and "
			   "forward_prefetch.",
		.see = "comm overlapped hang",
	}, {
		.name = "cpu-starved", .kind = WORD_FINDING,
		.title = "its thread has no CPU",
		.what = "The GPU is idle because the thread that feeds it is ready to run and has "
			"no CPU.",
		.measured = "GPU idle time while the scheduler had that thread on a run queue.",
		.fix = "give the process more CPUs, or let it run fewer threads "
		       "(OMP_NUM_THREADS, workers).",
		.cuda = "give the process more CPUs (cgroup cpu.max, Kubernetes limits), fewer "
			"threads (OMP_NUM_THREADS), or CPUs of its own (taskset, cpuset).",
		.pytorch = "fewer DataLoader workers than CPUs; torch.set_num_threads(n).",
		.see = "runqueue stopped",
	}, {
		.name = "stopped", .kind = WORD_FINDING,
		.title = "its thread is stopped",
		.what = "A signal (SIGSTOP, SIGTSTP) or a debugger has stopped the thread that "
			"feeds the GPU.",
		.measured = "GPU idle time while the thread was in state T or t.",
		.cuda = "kill -CONT PID; detach the debugger.",
		.see = "cpu-starved",
	}, {
		.name = "launch-bound", .kind = WORD_FINDING,
		.title = "launches come slowly",
		.what = "The GPU waits for the next launch: the CPU needs longer to launch "
			"kernels than the GPU to run them.",
		.measured = "GPU idle time while the thread was in launch calls or in host code "
			    "of less than 1 ms between them; less gpuprof's own cost in them.",
		.cuda = "CUDA graphs; fuse small kernels; more work per launch (larger batches).",
		.pytorch = "torch.compile(mode='reduce-overhead') or "
			   "torch.cuda.make_graphed_callables; fused optimizers (fused=True) and "
			   "foreach=True; larger batches.",
		.see = "small-kernels graph",
	}, {
		.name = "unpinned-copies", .kind = WORD_FINDING,
		.title = "copies pageable memory",
		.what = "Copies between host and device use pageable memory: they are slow, and "
			"the call waits for them.",
		.measured = "time of copies of pageable memory that no compute overlaps, and GPU "
			    "idle time inside of their calls. CUPTI's records say which memory is "
			    "pageable.",
		.fix = "copy from and to pinned memory: cudaMallocHost, or "
		       "DataLoader(pin_memory=True).",
		.cuda = "allocate host buffers with cudaMallocHost or cudaHostRegister, copy with "
			"cudaMemcpyAsync.",
		.pytorch = "DataLoader(pin_memory=True) and .to(device, non_blocking=True); "
			   "tensor.pin_memory() for buffers of your own.",
		.see = "blocking-copies copies copy-h2d",
	}, {
		.name = "blocking-copies", .kind = WORD_FINDING,
		.title = "calls wait for copies",
		.what = "Copies of 64 KiB or more run alone while the call waits for them, though "
			"their memory is pinned.",
		.measured = "time of such copies that no compute overlaps, and GPU idle time "
			    "inside of their calls.",
		.cuda = "cudaMemcpyAsync on a second stream, joined with cudaStreamWaitEvent.",
		.pytorch = ".to(device, non_blocking=True), in a torch.cuda.Stream of its own; "
			   "prefetch the next batch.",
		.see = "unpinned-copies copies",
	}, {
		.name = "steady-compile", .kind = WORD_FINDING,
		.title = "still compiles or loads",
		.what = "Code is still compiled or loaded in the later half of the session.",
		.measured = "GPU idle time inside of calls that compile or load modules (nvrtc, "
			    "cuModuleLoad, lazy loading).",
		.fix = "compile before the loop, avoid shapes that change; "
		       "CUDA_MODULE_LOADING=EAGER.",
		.cuda = "compile before the loop; CUDA_MODULE_LOADING=EAGER; keep the cache "
			"(CUDA_CACHE_PATH) between runs.",
		.pytorch = "avoid shapes that change: pad, or torch.compile(dynamic=True); "
			   "TORCH_LOGS=recompiles says why; keep TORCHINDUCTOR_CACHE_DIR.",
		.see = "compile",
	}, {
		.name = "alloc-stall", .kind = WORD_FINDING,
		.title = "allocates and frees",
		.what = "The GPU is idle while the thread allocates or frees memory. cudaMalloc "
			"and cudaFree may wait for the whole device.",
		.measured = "GPU idle time inside of calls that allocate or free.",
		.fix = "allocate once and reuse; cudaMallocAsync with a raised release threshold.",
		.cuda = "allocate once and reuse; cudaMallocAsync with a pool whose release "
			"threshold is raised.",
		.pytorch = "PYTORCH_CUDA_ALLOC_CONF (newer: PYTORCH_ALLOC_CONF) with "
			   "expandable_segments:True; no torch.cuda.empty_cache() in the loop; "
			   "batches of one size.",
		.see = "alloc memory",
	}, {
		.name = "comm-call", .kind = WORD_FINDING,
		.title = "waits in NCCL calls",
		.what = "The GPU is idle while the thread is inside of calls of the communication "
			"library.",
		.measured = "GPU idle time inside of NCCL calls.",
		.fix = "create communicators before the loop; put small collectives into one "
		       "group.",
		.cuda = "create communicators before the loop; put small collectives between "
			"ncclGroupStart and ncclGroupEnd.",
		.pytorch = "init_process_group(device_id=...), so that communicators are made "
			   "early; async_op=True.",
		.see = "comm-host exposed-comm",
	}, {
		.name = "small-kernels", .kind = WORD_FINDING,
		.title = "many tiny kernels",
		.what = "The GPU is idle for a moment between kernels of 20 us or less that were "
			"all launched in time: starting each takes the device longer than it "
			"should.",
		.measured = "gaps of less than 200 us between works that had been launched "
			    "before; an upper bound of what a CUDA graph saves, together with "
			    "launch-bound.",
		.cuda = "CUDA graphs, or fuse the kernels.",
		.pytorch = "torch.compile; fused or foreach optimizers; larger batches.",
		.see = "launch-bound queued",
	}, {
		.name = "device-wait", .kind = WORD_FINDING,
		.title = "waits for other streams",
		.what = "Work was launched and did not begin for 200 us or more, though the "
			"device was idle: it waits for another stream, an event or another "
			"device.",
		.measured = "idle time whose next work had been launched already.",
		.fix = "look for cudaStreamWaitEvent, and for work in the default stream, "
		       "which waits for all.",
		.cuda = "look for cudaStreamWaitEvent and for work in the default stream, which "
			"waits for all others; use streams made with cudaStreamNonBlocking.",
		.pytorch = "look for wait_stream() and wait_event(), and for collectives that "
			   "wait for a rank.",
		.see = "queued lanes",
	}, {
		.name = "never-freed", .kind = WORD_FINDING,
		.title = "memory never freed",
		.what = "Device memory was still allocated when the process ended: 1 MiB or more, "
			"and a hundredth of its peak or more.",
		.measured = "allocations without a free, by the calls and CUPTI's records.",
		.fix = "free it before the end; --table memory --by stack names who allocated it.",
		.cuda = "--table memory --by stack names who allocated it.",
		.see = "memory leaked",
	}, {
		.name = "hang", .kind = WORD_FINDING,
		.title = "the job hangs",
		.what = "No rank of a job has returned from its call for 1 s or more, except "
			"those that the others wait for, which the finding names.",
		.measured = "calls that have not returned, how many collectives each rank has "
			    "begun, and whether its threads were stopped when last read.",
		.fix = "gpuprof stacks shows where each rank is: look at the one that the "
		       "others wait for.",
		.cuda = "gpuprof stacks shows where each rank is. Usual causes: ranks that call "
			"collectives in another order or number, one that failed, one that is "
			"stopped.",
		.pytorch = "TORCH_NCCL_TRACE_BUFFER_SIZE (newer: TORCH_FR_BUFFER_SIZE) and "
			   "torch.distributed's flight recorder name the collective; uneven "
			   "inputs need DDP's join().",
		.see = "comm stopped",
	}, {
		.name = "cuda-error", .kind = WORD_FINDING,
		.title = "CUDA failed for good",
		.what = "A call failed, as all of its process do from then on: the device is "
			"gone, a kernel has broken the context, or there never was a device.",
		.measured = "results of calls.",
		.fix = "a driver that fails is mended first; a kernel that does is named by "
		       "compute-sanitizer.",
		.cuda = "compute-sanitizer finds the kernel that writes where it must not; "
			"CUDA_LAUNCH_BLOCKING=1 makes the failing launch the one that reports it.",
		.pytorch = "the same variables; in a PyTorch built with TORCH_USE_CUDA_DSA, "
			   "PYTORCH_USE_CUDA_DSA=1 names the assertion.",
		.see = "errors device-fault",
	}, {
		.name = "device-fault", .kind = WORD_FINDING,
		.title = "the device failed",
		.what = "The device itself has reported a fault: an XID, an error of its memory, "
			"or that it was lost.",
		.measured = "NVML's events.",
		.fix = "look up the XID in dmesg; drain the host if it comes again.",
		.cuda = "dmesg has the XID; nvidia-smi -q shows retired pages and remapped rows; "
			"drain the host if it comes again.",
		.see = "cuda-error",
	}, {
		.name = "throttled", .kind = WORD_FINDING,
		.title = "clocks are kept down",
		.what = "Heat or power has kept the device's clocks down.",
		.measured = "NVML's reasons for lower clocks.",
		.cuda = "check cooling and the power limit (nvidia-smi -q -d PERFORMANCE,POWER).",
		.see = "power_w sm_mhz",
	}, {
		.name = "unwatched-process", .kind = WORD_FINDING,
		.title = "others use the GPU",
		.what = "Processes that gpuprof does not watch have used the device.",
		.measured = "NVML's list of processes on the device, about once a second.",
		.cuda = "gpuprof -a watches all of them.",
		.see = "other-process devices",
	}, {
		.name = "untold-process", .kind = WORD_FINDING,
		.title = "others without helper",
		.what = "Only watched processes used the device, but one without the helper, so "
			"that its kernels are not known.",
		.measured = "NVML's samples of the device while no helper reported work.",
		.cuda = "start it with the variables of gpuprof env, or use --inject.",
		.see = "without-probes helper-not-found",
	},

	/* ---- buckets of threads and devices ---- */
	{
		.name = "other-process", .kind = WORD_BUCKET,
		.title = "another process had it",
		.what = "Of a device: work of this process was ready, and another watched process "
			"had the device. As a finding it costs the device nothing.",
		.cuda = "separate the jobs (another GPU, MIG), or share by MPS.",
		.see = "unwatched-process devices",
	}, {
		.name = "queued", .kind = WORD_BUCKET,
		.what = "Idle: the next work had been launched, and the device had not begun it.",
		.see = "small-kernels device-wait",
	}, {
		.name = "launch", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls that launch kernels. Of a device: idle, and the "
			"thread was inside of the call that launched the next work.",
		.see = "launch-bound",
	}, {
		.name = "sync", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls that wait for the device. Of a device: idle while "
			"its thread was in one.",
		.see = "needless-sync",
	}, {
		.name = "copy-host", .kind = WORD_BUCKET,
		.what = "Of a device: idle while its thread was in a call that copies.",
		.see = "unpinned-copies blocking-copies",
	}, {
		.name = "copy", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls that copy. Of a device: copying, in a direction "
			"that CUPTI does not name.",
		.see = "copies copy-h2d",
	}, {
		.name = "set", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls that set memory (cudaMemset). Of a device: setting "
			"it, or idle while its thread was in such a call.",
	}, {
		.name = "alloc", .kind = WORD_BUCKET,
		.what = "In calls that allocate memory, or a device that is idle meanwhile.",
		.see = "alloc-stall free",
	}, {
		.name = "free", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls that free memory.",
		.see = "alloc-stall alloc",
	}, {
		.name = "event", .kind = WORD_BUCKET,
		.what = "In calls about CUDA events, or a device that is idle meanwhile. A loop "
			"of cudaEventQuery is a wait.",
	}, {
		.name = "stream", .kind = WORD_BUCKET,
		.what = "In calls about streams (make, destroy, query, wait for an event), or a "
			"device that is idle meanwhile.",
	}, {
		.name = "graph", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls about CUDA graphs. Of a device: running a graph "
			"that is recorded as a whole (--graphs whole), or idle while its thread "
			"was in such a call.",
		.see = "launch-bound",
	}, {
		.name = "compile", .kind = WORD_BUCKET,
		.what = "In calls that compile or load code, or a device that is idle meanwhile.",
		.see = "steady-compile",
	}, {
		.name = "collective", .kind = WORD_BUCKET,
		.what = "Of a thread: in calls of the communication library (NCCL).",
		.see = "comm-host comm",
	}, {
		.name = "comm-host", .kind = WORD_BUCKET,
		.what = "Of a device: idle while its thread was in a call of the communication "
			"library.",
		.see = "comm-call",
	}, {
		.name = "init", .kind = WORD_BUCKET,
		.what = "In calls that start CUDA, or a device that is idle meanwhile.",
	}, {
		.name = "library", .kind = WORD_BUCKET,
		.what = "In routines of cublas, cublasLt or cudnn (--tier 1), or a device that is "
			"idle meanwhile.",
	}, {
		.name = "query", .kind = WORD_BUCKET,
		.what = "In calls that only ask for something (--tier 1), or a device that is "
			"idle meanwhile.",
	}, {
		.name = "other", .kind = WORD_BUCKET,
		.what = "Of a thread: on a CPU, in no call that gpuprof probes. Of a device: idle "
			"meanwhile, or running a kernel whose name says nothing of its kind.",
		.see = "input-stall",
	}, {
		.name = "runqueue", .kind = WORD_BUCKET,
		.what = "The thread was ready to run and had no CPU.",
		.see = "cpu-starved",
	}, {
		.name = "disk", .kind = WORD_BUCKET,
		.what = "The thread waited for a disk, outside of calls.",
		.cuda = "read ahead on another thread; cache; fewer and larger files.",
		.pytorch = "more DataLoader workers; a local copy of the data set.",
		.see = "input-stall offcpu",
	}, {
		.name = "io", .kind = WORD_BUCKET,
		.what = "The thread waited in a system call that reads, writes or polls, outside "
			"of calls.",
		.see = "input-stall offcpu",
	}, {
		.name = "lock", .kind = WORD_BUCKET,
		.what = "The thread waited in a futex, outside of calls: for a mutex, a "
			"condition, or another thread (the GIL, a DataLoader's queue).",
		.see = "input-stall offcpu",
	}, {
		.name = "page-fault", .kind = WORD_BUCKET,
		.what = "The thread waited for a page of memory, outside of calls.",
	}, {
		.name = "sleep", .kind = WORD_BUCKET,
		.what = "The thread slept for a time that it chose, outside of calls.",
	}, {
		.name = "off-cpu", .kind = WORD_BUCKET,
		.what = "The thread waited in another system call, outside of calls.",
		.see = "offcpu",
	}, {
		.name = "no-work", .kind = WORD_BUCKET,
		.what = "Of a device: idle after its last work; nothing more was launched.",
	}, {
		.name = "open", .kind = WORD_BUCKET,
		.what = "Of a device: idle, and it goes on; the cause is known when the next work "
			"comes. Of calls (a column): they have not returned.",
	}, {
		.name = "lost", .kind = WORD_BUCKET,
		.what = "Events were lost just then: of a thread, a call may be missing there; of "
			"a device, a work ran whose record never came. Also counted in the last "
			"lines of a report.",
		.cuda = "--ring-size with a larger size; record less (no --stacks, no --tier 1).",
		.see = "events unknown",
	}, {
		.name = "unarmed", .kind = WORD_BUCKET,
		.what = "A library was mapped, and its probes were not in place: not yet, or "
			"launches had none to keep --budget. Calls of that time are not counted.",
		.see = "budget",
	}, {
		.name = "unknown", .kind = WORD_BUCKET,
		.what = "It is not known: the device may run what was launched before, or whose "
			"end was not seen; a call that began before gpuprof may have returned; "
			"nothing was recorded just then. It is part of no loss. The ledger has it "
			"as a cause of idle time.",
		.see = "lost unarmed",
	}, {
		.name = "gpuprof", .kind = WORD_BUCKET,
		.what = "An estimate of what gpuprof itself cost the thread: calls times their "
			"cost, calibrated on this host when it started.",
		.see = "own_cost_ns",
	}, {
		.name = "idle", .kind = WORD_BUCKET,
		.what = "Of a device: it ran nothing; where that is not certain, the cause is "
			"unknown, lost or unarmed.",
		.see = "ledger unknown",
	}, {
		.name = "busy", .kind = WORD_BUCKET,
		.what = "Of a device: it ran kernels, copies or sets. On the first screen, the "
			"line below its bar shows when: the session from left to right, each "
			"column as long as the time at the right. The height of a block (1 to 8 "
			"in ASCII) is how busy it was, in eighths; a dot: not at all; ?: mostly "
			"unknown; blank: before the process began, after it ended.",
		.see = "ledger unknown",
	}, {
		.name = "compute", .kind = WORD_BUCKET,
		.what = "Of a device: it ran kernels that are not communication.",
	}, {
		.name = "comm", .kind = WORD_BUCKET,
		.what = "Of a device: it ran communication kernels (NCCL, NVSHMEM and the like, "
			"by their names).",
		.see = "exposed-comm",
	}, {
		.name = "gemm", .kind = WORD_BUCKET,
		.what = "Kernels that multiply matrices, by their names.",
	}, {
		.name = "attention", .kind = WORD_BUCKET,
		.what = "Kernels of attention, by their names.",
	}, {
		.name = "conv", .kind = WORD_BUCKET,
		.what = "Kernels of convolutions, by their names.",
	}, {
		.name = "norm", .kind = WORD_BUCKET,
		.what = "Kernels of normalization (batch, layer, RMS), by their names.",
	}, {
		.name = "elementwise", .kind = WORD_BUCKET,
		.what = "Kernels that treat each element alone, by their names: they are limited "
			"by memory bandwidth.",
		.pytorch = "torch.compile fuses them.",
	}, {
		.name = "reduce", .kind = WORD_BUCKET,
		.what = "Kernels that reduce or scan (sum, max, softmax), by their names.",
	}, {
		.name = "optimizer", .kind = WORD_BUCKET,
		.what = "Kernels of optimizers (Adam, multi_tensor), by their names.",
		.pytorch = "fused=True.",
	}, {
		.name = "copy-h2d", .kind = WORD_BUCKET,
		.what = "Copies from the host to the device.",
		.see = "unpinned-copies",
	}, {
		.name = "copy-d2h", .kind = WORD_BUCKET,
		.what = "Copies from the device to the host.",
		.see = "unpinned-copies needless-sync",
	}, {
		.name = "copy-d2d", .kind = WORD_BUCKET,
		.what = "Copies within a device.",
	}, {
		.name = "copy-h2h", .kind = WORD_BUCKET,
		.what = "Copies within the host's memory that the device does.",
	}, {
		.name = "copy-p2p", .kind = WORD_BUCKET,
		.what = "Copies between two devices.",
	}, {
		.name = "shared", .kind = WORD_BUCKET,
		.what = "Of a device of the host: several watched processes ran there at once.",
		.see = "devices",
	}, {
		.name = "unwatched", .kind = WORD_BUCKET,
		.what = "Of a device of the host: a process that gpuprof does not watch was "
			"there, and kernels ran.",
		.see = "unwatched-process",
	}, {
		.name = "untold", .kind = WORD_BUCKET,
		.what = "Of a device of the host: kernels ran, of watched processes without the "
			"helper. Of launches (a column of events): made while nothing was "
			"recorded.",
		.see = "untold-process",
	},

	/* ---- words of the screen ---- */
	{
		.name = "at best", .kind = WORD_SCREEN,
		.what = "How much faster the program is without that one loss, at most.",
		.measured = "1 / (1 - gain_bound).",
		.see = "gain_bound share",
	}, {
		.name = "cost", .kind = WORD_SCREEN,
		.what = "An estimate of what gpuprof took of the time of the threads it measured.",
		.see = "own_cost_share gpuprof",
	}, {
		.name = "gpu lost", .kind = WORD_SCREEN,
		.what = "The live view's share of a process's device time that its findings cost: "
			"time in which the device was idle because of it. What it waits while "
			"others keep the device busy is not in it.",
		.measured = "the sum of its findings' shares, over its devices; ? where too little "
			    "is known of them.",
		.see = "findings share",
	}, {
		.name = "gpu time", .kind = WORD_SCREEN,
		.what = "The live view's bar of a process's time on its devices: compute, copies, "
			"communication, unknown, idle.",
		.see = "ledger unknown",
	}, {
		.name = "waits most for", .kind = WORD_SCREEN,
		.what = "The live view's name for what a process waits for: its largest finding, "
			"else the cause of most of its devices' idle time; STOPPED where a signal "
			"or a debugger has stopped all of its threads.",
		.see = "findings idle_cause",
	}, {
		.name = "how often", .kind = WORD_SCREEN,
		.what = "How many times a loss happened, and how long one lasted on average.",
	}, {
		.name = "helper", .kind = WORD_SCREEN,
		.what = "The library that records device times in a process, by CUPTI. Commands "
			"behind -- get it; what is started later loads it with the variables of "
			"gpuprof env, and a running process with --inject.",
		.see = "helper-busy",
	},

	/* ---- notes ---- */
	{
		.name = "helper-busy", .kind = WORD_NOTE,
		.what = "Others read the helper of a process already, and it has no place for one "
			"more reader: device times are missing.",
		.cuda = "end another gpuprof of that process.",
	}, {
		.name = "helper-damaged", .kind = WORD_NOTE,
		.what = "The memory that the helper shares is not as it should be; it was left "
			"alone and device times are missing.",
	}, {
		.name = "helper-version", .kind = WORD_NOTE,
		.what = "The helper in the process is of another version of gpuprof.",
		.cuda = "start the process again, with this version's helper.",
	}, {
		.name = "helper-confined", .kind = WORD_NOTE,
		.what = "The process has put itself under a seccomp filter after the helper was "
			"loaded; the helper is left asleep, since its first system call could end "
			"the process.",
	}, {
		.name = "helper-not-found", .kind = WORD_NOTE,
		.what = "The process made launches, and no helper was found in it in time: its "
			"device times are not known.",
		.cuda = "start it with the variables of gpuprof env, or use --inject.",
	}, {
		.name = "helper-not-loadable", .kind = WORD_NOTE,
		.what = "CUDA could not load the helper in the process: its root or its user "
			"cannot see the file.",
		.cuda = "gpuprof env --for docker|k8s; or --inject.",
	}, {
		.name = "helpers-forgotten", .kind = WORD_NOTE,
		.what = "More processes with a helper ended than are told apart; their counts are "
			"only summed.",
	}, {
		.name = "injection-not-chained", .kind = WORD_NOTE,
		.what = "CUDA_INJECTION64_PATH named another library before, and it could not be "
			"loaded beside the helper.",
	}, {
		.name = "cupti-occupied", .kind = WORD_NOTE,
		.what = "Another profiler holds CUPTI in the process; the helper yields, and "
			"device times are missing meanwhile.",
		.cuda = "end it, or read its output.",
	}, {
		.name = "cupti-failed", .kind = WORD_NOTE,
		.what = "CUPTI refused to record in the process.",
		.cuda = "gpuprof doctor -p PID.",
	}, {
		.name = "records-lost", .kind = WORD_NOTE,
		.what = "Device records found no room and were dropped; their time is lost.",
		.cuda = "record less, or raise ulimit -f in the process.",
	}, {
		.name = "records-kept", .kind = WORD_NOTE,
		.what = "CUPTI has not given back buffers with records: works of the last moments "
			"may be missing.",
	}, {
		.name = "records-missing", .kind = WORD_NOTE,
		.what = "Kernels ran of which no record came; or launches have none.",
	}, {
		.name = "records-unread", .kind = WORD_NOTE,
		.what = "The process ended, or CUPTI did not answer, before the last records were "
			"handed on.",
	}, {
		.name = "reader-away", .kind = WORD_NOTE,
		.what = "gpuprof itself did not run for so long that the helper took it for gone; "
			"device time of that stretch is unknown.",
		.cuda = "more CPU for gpuprof; nice.",
	}, {
		.name = "calls-without-clock", .kind = WORD_NOTE,
		.what = "Calls that CUPTI recorded could not be placed in time and are lost.",
	}, {
		.name = "clock-set", .kind = WORD_NOTE,
		.what = "The clock that times device records was set during the session: around "
			"that time devices are unknown.",
	}, {
		.name = "clock-foreign", .kind = WORD_NOTE,
		.what = "Another profiler set CUPTI's clock to its own ticks; times are "
			"interpolated between readings.",
	}, {
		.name = "graphs-by-order", .kind = WORD_NOTE,
		.what = "Nodes of CUDA graphs are matched with the captured calls by their order, "
			"not by CUPTI's callback.",
	}, {
		.name = "graphs-unmatched", .kind = WORD_NOTE,
		.what = "Before CUPTI 13.1 Update 1 nodes of graphs in a second session have "
			"wrong numbers: they are not matched with their launches.",
	}, {
		.name = "forked-with-cuda", .kind = WORD_NOTE,
		.what = "A process that uses CUDA was forked: CUDA calls of the child fail.",
		.cuda = "start workers by spawn or exec, before CUDA is used. PyTorch: "
			"multiprocessing start method 'spawn'.",
	}, {
		.name = "device-times-missing", .kind = WORD_NOTE,
		.what = "Nothing is known of devices: there is no helper.",
		.cuda = "gpuprof stat -- CMD, gpuprof env, or --inject.",
	}, {
		.name = "nvml-incomplete", .kind = WORD_NOTE,
		.what = "NVML did not tell everything: activity, other processes and faults of "
			"devices may be missing.",
		.cuda = "gpuprof doctor says why.",
	}, {
		.name = "nvml-failed", .kind = WORD_NOTE,
		.what = "Devices could not be read by NVML.",
		.cuda = "gpuprof doctor says why.",
	}, {
		.name = "without-probes", .kind = WORD_NOTE,
		.what = "There are no probes: calls are those that CUPTI records, and time "
			"between them may be unknown.",
		.cuda = "run as root or with sudo.",
	}, {
		.name = "partially-probed", .kind = WORD_NOTE,
		.what = "Some functions or libraries have no probe.",
		.cuda = "gpuprof doctor.",
	}, {
		.name = "processes-unreadable", .kind = WORD_NOTE,
		.what = "Permission was denied to read processes; they are not followed.",
		.cuda = "run as root or with sudo.",
	}, {
		.name = "match-unknown", .kind = WORD_NOTE,
		.what = "Permission was denied to read processes, so that it is not known whether "
			"they match the options.",
		.cuda = "run as root or with sudo.",
	}, {
		.name = "too-many-children", .kind = WORD_NOTE,
		.what = "More child processes at once than are followed.",
		.cuda = "-a instead of -p.",
	}, {
		.name = "children-not-followed", .kind = WORD_NOTE,
		.what = "Child processes are not followed (--isolate).",
	}, {
		.name = "functions-not-seen", .kind = WORD_NOTE,
		.what = "Functions that are not probed, since that is refused or would cost too "
			"much a call.",
		.cuda = "--step-limit DUR accepts a higher cost.",
	}, {
		.name = "entry-only", .kind = WORD_NOTE,
		.what = "Processes of which only the begin of calls is probed, since a probe at "
			"the return would end them (seccomp on this kernel): counts, no times.",
	}, {
		.name = "launch-mode", .kind = WORD_NOTE,
		.what = "Where launches were probed: fewer probes cost less and see less.",
		.cuda = "--launch both probes each in both libraries.",
	}, {
		.name = "launches-unseen", .kind = WORD_NOTE,
		.what = "Launches that were neither probed nor recorded.",
		.cuda = "--launch both.",
	}, {
		.name = "budget", .kind = WORD_NOTE,
		.what = "Probes of launches would cost a thread more of its time than --budget "
			"allows, estimated as calls times their calibrated cost. One step after "
			"the other is taken: launches are what CUPTI records, where an awake "
			"helper does; they are probed for a part of the time; they are not "
			"probed until other calls cost less. Time without their probes is "
			"unarmed, never idle, and rates are of the rest. All are probed again "
			"when that has cost little for 30 s.",
		.cuda = "with the helper (gpuprof env, --inject) each launch is seen without a "
			"probe; --budget off probes all.",
		.see = "unarmed own_cost_ns launch-mode",
	}, {
		.name = "inflight-unknown", .kind = WORD_NOTE,
		.what = "Calls that began before gpuprof may have returned at an unknown moment.",
	}, {
		.name = "no-calls", .kind = WORD_NOTE,
		.what = "No call was seen, and why.",
		.cuda = "gpuprof doctor -p PID.",
	}, {
		.name = "states-unread", .kind = WORD_NOTE,
		.what = "The last states of threads could not be read: calls that are still open "
			"are not shown.",
	}, {
		.name = "off-cpu-unread", .kind = WORD_NOTE,
		.what = "It could not be read who is off the CPU just now.",
	}, {
		.name = "off-cpu-missing", .kind = WORD_NOTE,
		.what = "The kernel did not report when a thread was back on a CPU; that time is "
			"lost outside of calls.",
	}, {
		.name = "off-cpu-sampled", .kind = WORD_NOTE,
		.what = "Why threads did not run is estimated from samples of procfs.",
		.cuda = "--off-cpu on, as root.",
	}, {
		.name = "stacks-lost", .kind = WORD_NOTE,
		.what = "Copies of stacks found no room: their calls may have no stack.",
		.cuda = "--ring-size with a larger size.",
	}, {
		.name = "stacks-limit", .kind = WORD_NOTE,
		.what = "More different stacks or frames than are kept.",
	}, {
		.name = "stacks-failed", .kind = WORD_NOTE,
		.what = "Stacks cannot be taken any more.",
	}, {
		.name = "events-lost", .kind = WORD_NOTE,
		.what = "How many events were lost. Exit code 5 if more than --max-loss.",
		.cuda = "--ring-size with a larger size.",
	}, {
		.name = "unfollowed", .kind = WORD_NOTE,
		.what = "More processes, threads or devices than are followed at once: their "
			"events are counted as lost.",
	}, {
		.name = "events-invalid", .kind = WORD_NOTE,
		.what = "Events that contradict others were not used.",
	}, {
		.name = "records-malformed", .kind = WORD_NOTE,
		.what = "Records from the kernel could not be read: a defect of gpuprof.",
		.cuda = "please report it.",
	}, {
		.name = "counters-unbalanced", .kind = WORD_NOTE,
		.what = "Hits are not the sum of received and lost events: a defect of gpuprof.",
		.cuda = "please report it.",
	}, {
		.name = "works-outside", .kind = WORD_NOTE,
		.what = "Device works from before or after the session, which are in no table.",
	}, {
		.name = "time-late", .kind = WORD_NOTE,
		.what = "Time that became known after its interval was closed and is in none.",
	}, {
		.name = "processes-merged", .kind = WORD_NOTE,
		.what = "Many processes have ended; the least interesting are one row.",
	}, {
		.name = "goes-on", .kind = WORD_NOTE,
		.what = "The session goes on in the next file.",
		.cuda = "report both files.",
	}, {
		.name = "calls-by-cupti", .kind = WORD_NOTE,
		.what = "Calls of functions without a probe, taken from CUPTI's records.",
	}, {
		.name = "capture-incomplete", .kind = WORD_NOTE,
		.what = "The capture was cut off; everything before that was used.",
	},

	/* ---- fields of json ---- */
	{
		.name = "host", .kind = WORD_FIELD,
		.what = "Name of the host.",
	}, {
		.name = "command", .kind = WORD_FIELD,
		.what = "The command that gpuprof started, as a shell takes it, or CMD.",
	}, {
		.name = "gpus", .kind = WORD_FIELD,
		.what = "Models of the devices that were used, with their number.",
	}, {
		.name = "start", .kind = WORD_FIELD,
		.what = "When the session began, ISO 8601, UTC.",
	}, {
		.name = "end", .kind = WORD_FIELD,
		.what = "When it ended, or this report was made.",
	}, {
		.name = "duration_ns", .kind = WORD_FIELD,
		.what = "Time measured.",
	}, {
		.name = "version", .kind = WORD_FIELD,
		.what = "Version of gpuprof that measured.",
	}, {
		.name = "kernel", .kind = WORD_FIELD,
		.what = "Version of the kernel.",
	}, {
		.name = "driver_version", .kind = WORD_FIELD,
		.what = "Version of NVIDIA's driver, by NVML; null: NVML was not read.",
	}, {
		.name = "cuda_version", .kind = WORD_FIELD,
		.what = "CUDA version of the driver that processes loaded (the newest), by the "
			"helper.",
	}, {
		.name = "attach", .kind = WORD_FIELD,
		.what = "How probes are attached: session, multi, perf, or null: there are none.",
	}, {
		.name = "functions_probed", .kind = WORD_FIELD,
		.what = "Functions that have a probe.",
	}, {
		.name = "functions_left_out", .kind = WORD_FIELD,
		.what = "Functions that have none for want of room (perf).",
	}, {
		.name = "complete", .kind = WORD_FIELD,
		.what = "Whether the capture is whole; true of a live session.",
	}, {
		.name = "events", .kind = WORD_FIELD,
		.what = "Events recorded and lost. Also a table.",
	}, {
		.name = "lost", .kind = WORD_FIELD,
		.what = "Events that could not be recorded.",
	}, {
		.name = "unarmed_ns", .kind = WORD_FIELD,
		.what = "Time before libraries that processes had loaded were probed.",
	}, {
		.name = "own_cost_calls", .kind = WORD_FIELD,
		.what = "Calls that were hit by a probe.",
	}, {
		.name = "own_cost_nested", .kind = WORD_FIELD,
		.what = "Of these, calls inside of others; null: not known yet.",
	}, {
		.name = "own_cost_ns", .kind = WORD_FIELD,
		.what = "An estimate of what gpuprof cost the targets' threads.",
	}, {
		.name = "own_cost_share", .kind = WORD_FIELD,
		.what = "The same, of those threads' time.",
	}, {
		.name = "return_probes", .kind = WORD_FIELD,
		.what = "Whether returns are probed: all, some, none.",
	}, {
		.name = "entry_only_calls", .kind = WORD_FIELD,
		.what = "Calls that are counted without a time.",
	}, {
		.name = "single_stepped", .kind = WORD_FIELD,
		.what = "Functions whose probe the kernel single-steps.",
	}, {
		.name = "not_seen", .kind = WORD_FIELD,
		.what = "Functions that are not probed.",
	}, {
		.name = "launch", .kind = WORD_FIELD,
		.what = "Where launches were probed (--launch).",
	}, {
		.name = "launches_reached_driver", .kind = WORD_FIELD,
		.what = "Launches of the runtime that called the driver; null: the session goes "
			"on.",
	}, {
		.name = "clock_uncertainty_ns", .kind = WORD_FIELD,
		.what = "How far device times may be off.",
	}, {
		.name = "sources", .kind = WORD_FIELD,
		.what = "Where calls and works come from.",
	}, {
		.name = "nvml", .kind = WORD_FIELD,
		.what = "What NVML reads: driver, devices, whether their activity.",
	}, {
		.name = "nvml_missing", .kind = WORD_FIELD,
		.what = "Why there is none, or what it did not tell.",
	}, {
		.name = "verdict", .kind = WORD_FIELD,
		.what = "The first finding, in words.",
	}, {
		.name = "notes", .kind = WORD_FIELD,
		.what = "What a report's last lines say, as code, severity, pid and text.",
	}, {
		.name = "code", .kind = WORD_FIELD,
		.what = "The name of a note: gpuprof help CODE.",
	}, {
		.name = "severity", .kind = WORD_FIELD,
		.what = "High from 20 % of the device's time, medium from 5 %, low; of a note "
			"warning or info.",
	}, {
		.name = "meta", .kind = WORD_FIELD,
		.what = "Facts about the session.",
	}, {
		.name = "tables", .kind = WORD_FIELD,
		.what = "The tables, each a list of rows.",
	}, {
		.name = "schema_version", .kind = WORD_FIELD,
		.what = "Of the json; a new one if a key changes its meaning.",
	}, {
		.name = "text", .kind = WORD_FIELD,
		.what = "Of a note: the sentence.",
	},
	{ .name = NULL },
};

static const struct {
	const char *one, *all;
} kinds[WORD_KINDS] = {
	[WORD_FINDING] = { "finding", "findings" },
	[WORD_BUCKET] = { "bucket of time", "buckets of time" },
	[WORD_SCREEN] = { "word of the screen", "words of the screen" },
	[WORD_NOTE] = { "note", "notes" },
	[WORD_FIELD] = { "field of json", "fields of json" },
};

const char *word_kind_names(unsigned int kind)
{
	return kind < WORD_KINDS ? kinds[kind].all : "?";
}

const struct word *word_of_finding(const char *name)
{
	for (const struct word *w = word_list; w->name; w++)
		if (w->title && !strcmp(w->name, name))
			return w;
	return NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum { LABEL_WIDTH = 10, COLUMN_WIDTH = 26 };

/* "label      text ...", in lines of that width; the text begins behind `room` columns, or behind a
 * longer label. NULL: nothing. */
static void add_labelled(struct strbuf *out, const char *label, const char *text, int room,
			 size_t width)
{
	size_t at = num_max(strlen(label), (size_t)room);
	bool at_start = true;

	if (!text)
		return;
	strbuf_addf(out, "%-*s", room, label);
	while (*text) {
		const size_t len = strcspn(text, " ");

		if (!at_start && at + 1 + len > width) {
			strbuf_addf(out, "\n%*s", room, "");
			at = (size_t)room;
		}
		at_start = false;
		strbuf_addch(out, ' ');
		strbuf_add(out, text, len);
		at += 1 + len;
		text += len;
		text += strspn(text, " ");
	}
	strbuf_addch(out, '\n');
}

static void add_word(struct strbuf *out, const struct word *w, size_t width)
{
	strbuf_addf(out, "%s: a %s\n", w->name, kinds[w->kind].one);
	add_labelled(out, "meaning", w->what, LABEL_WIDTH, width);
	add_labelled(out, "measured", w->measured, LABEL_WIDTH, width);
	add_labelled(out, w->pytorch ? "in CUDA" : "what to do", w->cuda, LABEL_WIDTH, width);
	add_labelled(out, "in PyTorch", w->pytorch, LABEL_WIDTH, width);
	add_labelled(out, "see", w->see, LABEL_WIDTH, width);
}

static void add_table(struct strbuf *out, const struct view *v, size_t width)
{
	strbuf_addf(out, "%s: a table (--table %s)\n", v->name, v->name);
	add_labelled(out, "a row", v->help, LABEL_WIDTH, width);
	strbuf_addstr(out, "columns\n");
	for (unsigned int i = 0; i < v->n_columns; i++) {
		strbuf_addstr(out, "  ");
		add_labelled(out, v->columns[i].name, v->columns[i].help, COLUMN_WIDTH, width - 2);
	}
}

/* In each table that has it, by its name or its heading. False: none has. */
static bool add_column(struct strbuf *out, const char *name, size_t width)
{
	bool any = false;

	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];
		const int at = column_find(v->columns, v->n_columns, name);

		if (at < 0)
			continue;
		if (!any)
			strbuf_addf(out, "%s: a column\n", v->columns[at].name);
		any = true;
		add_labelled(out, v->name, v->columns[at].help, LABEL_WIDTH, width);
	}
	return any;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* As typed for a shell: "at-best" is "at best". */
static bool is_word(const char *word, const char *typed)
{
	while (*word && (*word == *typed || (*word == ' ' && *typed == '-'))) {
		word++;
		typed++;
	}
	return !*word && !*typed;
}

int words_explain(struct strbuf *out, const char *name, size_t width)
{
	bool any = false;

	for (const struct word *w = word_list; w->name; w++) {
		if (!is_word(w->name, name))
			continue;
		add_word(out, w, width);
		any = true;
	}
	for (size_t i = 0; view_list[i]; i++) {
		if (strcmp(view_list[i]->name, name))
			continue;
		add_table(out, view_list[i], width);
		any = true;
	}
	return add_column(out, name, width) || any ? 0 : -ENOENT;
}

static void add_names(struct strbuf *out, const char *title, struct strbuf *names, size_t width)
{
	strbuf_addf(out, "%s\n", title);
	add_labelled(out, "", names->s, 1, width);
	out->failed |= names->failed;
	strbuf_reset(names);
}

void words_add_list(struct strbuf *out, size_t width)
{
	struct strbuf names = STRBUF_INIT;

	strbuf_addstr(out, "gpuprof help WORD explains one of these, or a column of a table.\n\n");
	for (size_t i = 0; view_list[i]; i++)
		strbuf_addf(&names, "%s%s", i ? " " : "", view_list[i]->name);
	add_names(out, "tables", &names, width);
	for (const struct word *w = word_list; w->name; w++) {
		strbuf_addf(&names, "%s%s", names.len ? " " : "", w->name);
		if (w[1].kind != w->kind || !w[1].name)
			add_names(out, word_kind_names(w->kind), &names, width);
	}
	strbuf_free(&names);
}

void words_each(void (*f)(void *ctx, const char *name), void *ctx)
{
	for (const struct word *w = word_list; w->name; w++)
		f(ctx, w->name);
	for (size_t i = 0; view_list[i]; i++) {
		f(ctx, view_list[i]->name);
		for (unsigned int k = 0; k < view_list[i]->n_columns; k++)
			f(ctx, view_list[i]->columns[k].name);
	}
}

# SPDX-License-Identifier: BSD-3-Clause
"""bench-operators: what --torch python costs training steps on the CPU, where they are dearest, beside
torch.profiler in the process itself, in interleaved rounds.
"""
import os

from switches import Switcher, gpuprof
from table import Row

STEPS = 60              # of a round
ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
PROFILER_BOUND = 0.5    # of what torch.profiler adds to a step
STACKS_BOUND = 0.35     # ... with_stack=True, which names modules


def measure(build, workload):
    """The least microseconds of a step, in each way."""
    os.environ["LD_LIBRARY_PATH"] = ":".join(os.path.join(build, name) for name in ("torch", "sim/cupti13.3", "sim"))
    loop = Switcher(os.path.join(build, "torch-venv", "bin", "python"),
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_loop.py"), workload)
    least = dict.fromkeys(("plain", "profiler", "stacks", "gpuprof"), float("inf"))
    try:
        if loop.process.stdout.readline().strip() != "ready":
            raise OSError("no PyTorch: make torch")
        for _ in range(ROUNDS):
            for way in ("plain", "profiler", "stacks"):
                least[way] = min(least[way], float(loop.say(f"{way} {STEPS}")))
            with gpuprof(build, "--torch", "python", "-p", str(loop.pid)):
                least["gpuprof"] = min(least["gpuprof"], float(loop.say(f"plain {STEPS}")))
    finally:
        loop.close()
    return least


def run(table, build):
    for workload in ("mlp", "cnn", "transformer"):
        us = measure(build, workload)
        adds = {way: us[way] - us["plain"] for way in us}
        for peer, bound in (("profiler", PROFILER_BOUND), ("stacks", STACKS_BOUND)):
            ratio = adds["gpuprof"] / adds[peer]
            table.add(Row(f"--torch python, {workload}", f"{us['gpuprof']:.0f} us", f"{us[peer]:.0f} us torch.profiler"
                          f"{', with_stack' if peer == 'stacks' else ''}", ratio, ("<=", bound), ratio,
                          f"of a step of {us['plain']:.0f} us; the ratio is that of what they add"))

"""Does a worker answer that starts after its parent has computed something in parallel?

A worker that has not answered by then never will: the test calls that bad itself, well before its own deadline.
"""

import multiprocessing
import os
import sys

import torch

GOOD, BAD, CANNOT_TELL = 0, 1, 125
PATIENCE_S = 8.0
ELEMENTS = 1 << 20  # enough for torch to share the work out among its threads


def total(answers):
    answers.put((torch.ones(ELEMENTS) * 2).sum().item())


def main():
    if (os.cpu_count() or 1) < 2:
        print("needs two cores")
        return CANNOT_TELL
    torch.ones(ELEMENTS).mul(2).sum()  # the parent's threads exist from here on
    context = multiprocessing.get_context(os.environ["WORKER_START_METHOD"])
    answers = context.SimpleQueue()
    worker = context.Process(target=total, args=(answers,), daemon=True)
    worker.start()
    worker.join(PATIENCE_S)
    if worker.is_alive():
        worker.kill()
        print("the worker hangs")
        return BAD
    print("the worker ended with", worker.exitcode)
    return GOOD if worker.exitcode == 0 else CANNOT_TELL


if __name__ == "__main__":
    sys.exit(main())

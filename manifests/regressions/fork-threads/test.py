"""Does a worker answer that starts after its parent has computed something in parallel?

A worker that has begun and has not answered by then never will: the test calls that bad itself, well before its own
deadline.
"""

import multiprocessing
import os
import sys

import torch

GOOD, BAD, CANNOT_TELL = 0, 1, 125
START_S, ANSWER_S = 30.0, 8.0
ELEMENTS = 1 << 20  # enough for torch to share the work out among its threads


def work(answers):
    answers.send("begun")  # with spawn, torch has been imported once more
    answers.send((torch.ones(ELEMENTS) * 2).sum().item())


def main():
    if (os.cpu_count() or 1) < 2:
        print("needs two cores")
        return CANNOT_TELL
    torch.ones(ELEMENTS).mul(2).sum()  # the parent's threads exist from here on
    context = multiprocessing.get_context(os.environ["WORKER_START_METHOD"])
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=work, args=(sender,), daemon=True)
    worker.start()
    sender.close()  # the worker's is the last one: its death is an end of file here
    try:
        if not receiver.poll(START_S):
            print("the worker did not begin")
            return CANNOT_TELL
        receiver.recv()
        if not receiver.poll(ANSWER_S):
            print("the worker hangs")
            return BAD
        answer = receiver.recv()
    except EOFError:
        print("the worker died")
        return CANNOT_TELL
    finally:
        worker.kill()
    print("the worker answers", answer)
    return GOOD


if __name__ == "__main__":
    sys.exit(main())

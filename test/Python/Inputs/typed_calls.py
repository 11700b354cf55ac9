"""Calls as users type them. An `ignore` that hides no error is one itself: mypy must find each."""

import dsv4
import numpy as np

scores = np.zeros((4, 64), np.float32)
slots = np.zeros(4, np.int64)
values = np.zeros((4, 512), np.float32)
cache = np.zeros((2, 64 * 584), np.uint8)


class Stream:
    cuda_stream = 0


class OfJAX:
    """As the stub of jax.Array has it."""

    def __dlpack__(self) -> object: ...


class OfTorch:
    """As torch.Tensor has it."""

    def __dlpack__(self, *, stream: object = -1, copy: bool | None = None) -> object: ...


indices = dsv4.topk(scores, 8, lengths=slots, stream=Stream())
dsv4.topk(scores, 8, return_values=True, out=(scores, slots), stream=0, workspace=slots)
dsv4.gather((cache, cache), slots, record="v4_584")
dsv4.append_(cache, slots, (values, scores), record="v4_584", requests=slots, lengths=slots, ring=8)
dsv4.norm_rope_append_(values, cache, slots, record="v4_584", page_size=64)
dsv4.topk(OfJAX(), 8, lengths=OfTorch())
kernel: dsv4.Kernel = dsv4.compile("", stream=Stream())
kernel(scores, slots, 3, stream=Stream(), workspace=slots)

dsv4.topk([1.0, 2.0], 8)  # type: ignore[arg-type]
dsv4.topk(scores, "8")  # type: ignore[arg-type]
dsv4.topk(scores, 8, stream="default")  # type: ignore[arg-type]
dsv4.topk(scores, 8, lengths=5)  # type: ignore[arg-type]
dsv4.append_(cache, slots, values, record=584)  # type: ignore[arg-type]
kernel(scores, "3")  # type: ignore[arg-type]
kernel(scores, stream=cache)  # type: ignore[arg-type]

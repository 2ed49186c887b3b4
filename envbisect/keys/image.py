"""Keys of the container image and of what a container may see."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, Order, ValueType


def _image(name: str, doc: str, kind: ValueType = ValueType.STRING, order: Order = Order.FLAG) -> KeySpec:
    return KeySpec(name=f"image.{name}", type=kind, layer=Layer.IMAGE, mover=Mover.IMAGE, doc=doc, order=order)


SPECS: Final[tuple[KeySpec, ...]] = (
    _image(
        "base", "Base image, best with its digest: `debian:12@sha256:…`; the digest decides, the tag is for people."
    ),
    _image("shm_size", 'Size of /dev/shm ("8g"); Docker gives 64 MiB, too little for data-loader workers and NCCL.'),
    _image(
        "ulimits.*",
        'A resource limit of the container\'s processes: a number, -1 for none, or "soft:hard".',
        ValueType.SCALAR,
    ),
    _image("apt.*", "Version of a Debian package in the image.", ValueType.STRING, Order.RELEASES),
    _image(
        "run.mounts", "What is mounted, as `source:target[:ro]`; nothing else of the host is seen.", ValueType.STRINGS
    ),
    _image("run.devices", "Devices that the container may use, besides the GPUs.", ValueType.STRINGS),
    _image("run.gpus", 'GPUs that the container sees: "all", "none", or indices and UUIDs separated by commas.'),
    _image("run.ipc", 'IPC namespace: "private", "host" or "shareable"; it decides whether ranks share /dev/shm.'),
    _image("run.network", 'Network of the container: "none", "bridge" or "host".'),
    _image("run.cap_add", "Linux capabilities that are added.", ValueType.STRINGS),
    _image("run.user", 'User that the processes run as, "uid" or "uid:gid".'),
    _image("run.cpuset", 'CPUs that the container may use, as a list: "0-7".'),
    _image("run.memory", 'Memory limit of the container: "64g".'),
)

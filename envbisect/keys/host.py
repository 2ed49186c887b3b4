"""Keys of the host: what a container inherits and a process cannot change."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType


def _host(
    name: str,
    doc: str,
    *,
    type: ValueType = ValueType.STRING,  # noqa: A002 - the field's own name
    mover: Mover = Mover.NOBODY,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
) -> KeySpec:
    return KeySpec(
        name=f"host.{name}", type=type, layer=Layer.HOST, mover=mover, doc=doc, choices=choices, minimum=minimum
    )


SPECS: Final[tuple[KeySpec, ...]] = (
    _host("driver", "Version of the NVIDIA kernel driver, as in /proc/driver/nvidia/version."),
    _host(
        "driver_module",
        "Flavour of the NVIDIA kernel modules; they differ in where the firmware (GSP) runs.",
        choices=("open", "proprietary"),
    ),
    _host("libcuda", "Version of the user-mode driver (libcuda.so) that processes load; may differ from `driver`."),
    _host("fabricmanager", "Version of nvidia-fabricmanager; on NVSwitch machines it must match the driver."),
    _host("ofed", "Version of the RDMA stack (MLNX_OFED or DOCA), as `ofed_info -s` prints it."),
    _host("kernel", "Release of the Linux kernel, as `uname -r` prints it.", mover=Mover.KERNEL),
    _host(
        "cgroup",
        "Control-group hierarchy that is mounted: v1, v2 or both (hybrid).",
        choices=("v1", "v2", "hybrid"),
        mover=Mover.KERNEL,
    ),
    _host("os", 'Distribution and release of the host, for example "ubuntu 22.04".'),
    _host("arch", "Machine architecture, as `uname -m` prints it.", choices=("x86_64", "aarch64", "ppc64le")),
    _host("gpu", "Product name of the GPUs, as `nvidia-smi --query-gpu=name` prints it."),
    _host("gpu_count", "Number of GPUs that the host has.", type=ValueType.INTEGER, minimum=0),
    _host(
        "gpu.clocks",
        'Locked SM clocks in MHz, one number or "low,high"; "default" if none are locked.',
        type=ValueType.SCALAR,
    ),
    _host("gpu.power_limit_w", "Enforced power limit of each GPU in watts.", type=ValueType.NUMBER, minimum=0),
    _host(
        "gpu.persistence",
        "Persistence mode: without it the driver unloads between processes.",
        type=ValueType.BOOLEAN,
    ),
    _host("gpu.mig", "Whether GPUs are partitioned (multi-instance GPU).", type=ValueType.BOOLEAN),
    _host("cpu.governor", "Frequency governor of the CPUs (cpufreq/scaling_governor); absent in most guests."),
    _host("irq.affinity", "CPUs that the network adapters' interrupts may run on, as a CPU list; irqbalance moves it."),
    _host("numa.binding", 'Binding of processes to NUMA nodes, for example "interleave" or "gpu-local".'),
    _host(
        "cmdline.*",
        "A parameter of the kernel's command line (/proc/cmdline); true for one without a value.",
        type=ValueType.SCALAR,
        mover=Mover.KERNEL,
    ),
    _host(
        "sysctl.*",
        "A kernel setting under /proc/sys, by its sysctl name.",
        type=ValueType.SCALAR,
        mover=Mover.KERNEL,
    ),
    _host(
        "modules.*",
        "A parameter of a kernel module: `modules.nvidia.NVreg_EnableGpuFirmware`.",
        type=ValueType.SCALAR,
        mover=Mover.KERNEL,
    ),
    _host(
        "firmware.*",
        "A fact of BIOS, VBIOS or adapter firmware that only a person or a fleet can change.",
        type=ValueType.SCALAR,
    ),
)

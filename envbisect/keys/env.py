"""Environment variables: the table is open; what is known of a variable is documented here.

NCCL facts are those of version 2.30: integers go through ``strtoll``, so that text is silently 0, level names are
case-sensitive, unknown names are ignored, and ``NCCL_CONF_FILE`` and ``/etc/nccl.conf`` fill in what is not set.
"""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType


def _variable(name: str, doc: str) -> KeySpec:
    return KeySpec(name=f"env.{name}", type=ValueType.STRING, layer=Layer.ENV, mover=Mover.ENV, doc=doc)


_LEVELS: Final = "LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS (case-sensitive)"

_NCCL: Final = (
    ("ALGO", "Algorithms NCCL may use: Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT; `^` excludes."),
    ("PROTO", "Protocols NCCL may use: LL, LL128, Simple; `^` excludes. Changes the order of summation."),
    ("P2P_DISABLE", "1 disables direct GPU-to-GPU access; a number, text counts as 0."),
    ("P2P_LEVEL", f"Longest path over which GPUs talk directly: {_LEVELS}."),
    ("SHM_DISABLE", "1 disables the shared-memory transport; a number, `true` counts as 0."),
    ("IB_DISABLE", "1 disables InfiniBand and RoCE; NCCL falls back to sockets."),
    ("NET_GDR_LEVEL", f"Longest path between GPU and NIC for GPUDirect RDMA: {_LEVELS}."),
    ("NET_GDR_READ", "Whether sends read GPU memory directly; -2 decides by platform."),
    ("NVLS_ENABLE", "NVLink SHARP: 0 off, 1 on, 2 automatic (default); `true` counts as 0."),
    ("CROSS_NIC", "Whether a ring may change NIC between nodes: 0, 1 or 2 (default, tries to avoid it)."),
    ("IB_HCA", "InfiniBand adapters to use, by prefix; `=` exact, `^` excludes."),
    ("SOCKET_IFNAME", "Network interfaces to use, by prefix; `=` exact, `^` excludes."),
    ("IB_TIMEOUT", "InfiniBand timeout exponent (default 20): 4.096 µs × 2^n; a number, units are cut off."),
    ("IB_RETRY_CNT", "InfiniBand retries before an error (default 7)."),
    ("IB_QPS_PER_CONNECTION", "Queue pairs of a connection (default 1)."),
    ("IB_GID_INDEX", "RoCE GID index; -1 chooses."),
    ("IB_TC", "InfiniBand traffic class; -1 leaves the default."),
    ("IB_SL", "InfiniBand service level; -1 leaves the default."),
    ("IB_PCI_RELAXED_ORDERING", "PCIe relaxed ordering of NICs: 0, 1 or 2 (automatic, default)."),
    ("DMABUF_ENABLE", "Whether GPU memory is registered through dma-buf (default 1)."),
    ("BUFFSIZE", "Size of NCCL's buffers in bytes; -2 chooses."),
    ("MIN_CTAS", "Least number of CTAs (channels) of a communicator; changes the order of summation."),
    ("MAX_CTAS", "Largest number of CTAs (channels) of a communicator; changes the order of summation."),
    ("MIN_NCHANNELS", "Former name of NCCL_MIN_CTAS."),
    ("MAX_NCHANNELS", "Former name of NCCL_MAX_CTAS."),
    ("NTHREADS", "Threads of a CTA; -2 chooses."),
    ("IGNORE_CPU_AFFINITY", "1 lets NCCL choose CPUs by GPU alone, against the process's affinity."),
    ("PROXY_CPUSET", "CPUs of NCCL's proxy threads."),
    ("GRAPH_MIXING_SUPPORT", "Whether captured and eager collectives may be mixed on a communicator."),
    ("GRAPH_REGISTER", "Whether buffers are registered when collectives are captured in a CUDA graph (default 1)."),
    ("CUMEM_ENABLE", "Whether NCCL allocates through cuMem; -2 chooses."),
    ("LAUNCH_MODE", "How kernels of a group are launched: PARALLEL or GROUP."),
    ("NET", "Name of the network to use: IB, Socket or a plugin's."),
    ("NET_PLUGIN", "Network plugin to load."),
    ("TUNER_PLUGIN", "Tuner plugin to load; it may choose algorithms by measurement."),
    ("TOPO_FILE", "Topology to believe instead of the machine's."),
    ("CONF_FILE", "Configuration file read instead of ~/.nccl.conf; the environment wins against it."),
    ("DEBUG", "NCCL's log: VERSION, WARN, INFO, TRACE."),
    ("DEBUG_SUBSYS", "Parts of NCCL that log: INIT, COLL, P2P, NET, GRAPH, TUNING and others."),
    ("DEBUG_FILE", "File of NCCL's log; %h host, %p process."),
)

_OTHERS: Final = (
    ("CUDA_VISIBLE_DEVICES", "GPUs that the process sees, and their order: indices or UUIDs."),
    ("CUDA_DEVICE_ORDER", "Order of GPU indices: FASTEST_FIRST (default) or PCI_BUS_ID."),
    ("CUDA_MODULE_LOADING", "LAZY (default since CUDA 12.2) loads kernels at first use, EAGER at start."),
    ("CUDA_LAUNCH_BLOCKING", "1 makes every launch synchronous: it hides races."),
    ("CUDA_DEVICE_MAX_CONNECTIONS", "Hardware queues from the host to a GPU; some overlap schemes rely on 1."),
    (
        "CUBLAS_WORKSPACE_CONFIG",
        "cuBLAS workspace, :4096:8 or :16:8 for determinism; ignored after the context exists.",
    ),
    ("NVIDIA_TF32_OVERRIDE", "0 forbids, 1 forces TF32 in NVIDIA's libraries, whatever the program says."),
    ("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1 makes TF32 the default of matrix products."),
    ("PYTORCH_ALLOC_CONF", "Options of torch's caching allocator."),
    ("PYTORCH_CUDA_ALLOC_CONF", "Former name of PYTORCH_ALLOC_CONF."),
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1 switches the caching allocator off: every allocation is the driver's."),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "What happens when a collective fails or times out (default 3)."),
    ("TORCH_NCCL_BLOCKING_WAIT", "1 makes wait() block and raise on a timeout."),
    ("TORCH_NCCL_AVOID_RECORD_STREAMS", "1 keeps tensors alive by reference instead of by stream events."),
    ("TORCH_NCCL_DESYNC_DEBUG", "1 names the ranks that fell out of step."),
    ("TORCH_NCCL_DUMP_ON_TIMEOUT", "1 writes the flight recorder when a collective times out."),
    ("TORCH_NCCL_NAN_CHECK", "1 checks inputs of collectives for NaN."),
    ("TORCH_FR_BUFFER_SIZE", "Entries of the flight recorder (default 2000)."),
    ("TORCH_NCCL_TRACE_BUFFER_SIZE", "Former name of TORCH_FR_BUFFER_SIZE."),
    ("TORCH_LOGS", "What torch.compile logs."),
    ("TORCHINDUCTOR_CACHE_DIR", "Folder of compiled kernels: a hidden input if it is shared."),
    ("TRITON_CACHE_DIR", "Folder of Triton's compiled kernels: a hidden input if it is shared."),
    ("ATEN_CPU_CAPABILITY", "Instruction set of torch's CPU kernels: default, avx2, avx512; changes bits."),
    ("MKL_CBWR", "Conditional numerical reproducibility of MKL, by instruction set."),
    ("MKL_NUM_THREADS", "Threads of MKL; unset, it follows OMP_NUM_THREADS."),
    ("OPENBLAS_NUM_THREADS", "Threads of OpenBLAS; unset, it follows OMP_NUM_THREADS."),
    ("OMP_NUM_THREADS", "Threads of OpenMP and torch; changes the order of sums. torchrun sets 1 unless it is set."),
    ("OMP_PROC_BIND", "Whether OpenMP threads are bound to places."),
    ("OMP_SCHEDULE", "Schedule of OpenMP loops that leave it open."),
    ("OMP_WAIT_POLICY", "How waiting OpenMP threads wait: active or passive."),
    ("KMP_AFFINITY", "Thread placement of Intel's and LLVM's OpenMP."),
    ("KMP_BLOCKTIME", "Milliseconds for which an idle OpenMP thread spins before it sleeps."),
    ("GOMP_CPU_AFFINITY", "Thread placement of GNU's OpenMP."),
    ("PYTHONHASHSEED", "Seed of str and bytes hashes, so of the order of sets: a number or `random`."),
    ("PYTHONPATH", "Folders searched before the installed packages; may exchange any module."),
    ("LD_LIBRARY_PATH", "Folders searched first for shared libraries; may exchange the CUDA libraries of wheels."),
    ("LD_PRELOAD", "Libraries loaded before all others; may exchange NCCL, the allocator or read()."),
    ("MALLOC_ARENA_MAX", "Arenas of glibc's allocator."),
    ("GLOO_SOCKET_IFNAME", "Network interfaces that gloo uses."),
    ("UCX_TLS", "Transports that UCX may use."),
    ("HF_HUB_OFFLINE", "1 keeps Hugging Face libraries from the network: inputs cannot change."),
    ("TOKENIZERS_PARALLELISM", "Threads in Hugging Face tokenizers; they do not survive a fork."),
    ("TZ", "Time zone of the process."),
    ("LC_ALL", "Locale of the process: sorting, number formats and text encoding follow it."),
)

SPECS: Final[tuple[KeySpec, ...]] = (
    _variable("*", "An environment variable. Absent, empty and 0 are three different values."),
    *(_variable(f"NCCL_{name}", doc) for name, doc in _NCCL),
    *(_variable(name, doc) for name, doc in _OTHERS),
)

# SPDX-License-Identifier: MIT
"""Runs in every Python process that `emulate` starts, before the script: asks Numba for source
lines, gives each CuPy array an allocation of its own, and words what cannot work.

Python imports the first module of this name on its path; another one is imported from here.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import importlib
import importlib.abc
import importlib.metadata
import os
import re
import sys
import traceback
import warnings

from emulator_script_lines import CUPYS_OWN, is_library, with_lines

# The releases with which the tests in tests/python pass: each from its first to below its second.
TESTED = {
    "numba-cuda": (("0.30", "0.31"),),
    "cupy-cuda13x": (("14.2", "14.3"),),
    "cupy-cuda12x": (("14.2", "14.3"),),
    "cuda-bindings": (("12.9", "12.10"), ("13.5", "13.6")),
    "cuda-core": (("1.2", "1.3"),),
}
# What to install for a module that is missing.
PACKAGES = {
    "numba": "numba-cuda[cu13]",
    "cupy": "cupy-cuda13x[ctk]",
    "cuda": "cuda-python",
    "pycuda": "pycuda",
}
LIBRARIES = ("cuda.", "numba.", "cupy.", "cupy_backends.", "pycuda.")


def say(text: str) -> None:
    """One line of the emulator's own."""
    sys.stdout.flush()
    print(f"emulator: {text}", file=sys.stderr, flush=True)


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 0.30.4 -> (0, 30, 4)."""
    parts = []
    for part in version.split("."):
        digits = "".join(c for c in part if c.isdigit())
        if digits != part:
            break
        parts.append(int(digits))
    return tuple(parts)


def check_version(package: str) -> None:
    """Says so where the installed release is not one of those that were tested."""
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return
    known = TESTED[package]
    if not any(numbers(first) <= numbers(found) < numbers(end) for first, end in known):
        releases = " or ".join(f"{first} to below {end}" for first, end in known)
        say(
            f"{package} {found} is not a release that was tested here ({releases}); "
            "if something fails in it, install one of those, or run `make python`"
        )


# --- what is changed in a library when it is imported ---------------------------------------------


def lines_for_kernels(module) -> None:
    """numba.cuda.decorators: kernels are compiled with source lines, as with lineinfo=True."""
    check_version("numba-cuda")
    original = module.jit

    def jit(*arguments, **options):
        debug = options.get("debug")
        if debug is None:
            debug = module.config.CUDA_DEBUGINFO_DEFAULT
        if not debug and len(arguments) < 9:
            options.setdefault("lineinfo", True)
        return original(*arguments, **options)

    jit.__doc__ = original.__doc__
    module.jit = jit


def flags_of_debug_info(module) -> None:
    """numba.cuda.debuginfo: modules with source lines can be linked with those of NVRTC.

    Numba links C++ of its own, as for float16. NVRTC says in its modules that another version of
    debug information is an error, Numba that it is a warning, and the linker refuses to merge the
    two, on a card as well, if a kernel is compiled with lineinfo=True.
    """
    original = module.DIBuilder._set_module_flags
    error, warning = 1, 2  # LLVM's "module flags metadata"

    def _set_module_flags(self):
        number = self._const_int
        self._const_int = lambda value: number(error if value == warning else value)
        try:
            original(self)
        finally:
            del self._const_int

    module.DIBuilder._set_module_flags = _set_module_flags


def own_allocations(module) -> None:
    """cupy: without its memory pool, which hides the ends of arrays and their reuse."""
    check_version("cupy-cuda13x")
    check_version("cupy-cuda12x")
    try:
        module.cuda.set_allocator(module.cuda.memory._malloc)
        module.cuda.set_pinned_memory_allocator(None)
    except AttributeError:
        say("CuPy's memory pool could not be switched off: the ends of arrays are not checked")


def lines_for_sources(module) -> None:
    """cupy.cuda.compiler: compiles with the lines of the script; nvcc writes PTX."""
    original = module._compile_with_cache_cuda

    def compile_with_lines(source, *arguments, **options):
        library = "cupy" if CUPYS_OWN.search(source) else ""
        return original(with_lines(source, library), *arguments, **options)

    module._compile_with_cache_cuda = compile_with_lines
    machine_code = module.compile_using_nvcc

    def compile_using_nvcc(
        source, options=(), arch=None, filename="kern.cu", code_type="cubin",
        separate_compilation=False, log_stream=None,
    ):  # fmt: skip
        if code_type == "cubin" and not separate_compilation:
            code_type, options = "ptx", (*options, "-lineinfo")
        return machine_code(
            source, options, arch, filename, code_type, separate_compilation, log_stream
        )

    module.compile_using_nvcc = compile_using_nvcc


def ptx_for_pycuda(module) -> None:
    """pycuda.compiler: nvcc writes PTX with source lines instead of machine code."""
    original = module.compile_plain

    def compile_plain(source, options, keep, nvcc, cache_dir, target="cubin"):
        if target == "cubin":
            target, options = "ptx", [*options, "-lineinfo"]
        caller = sys._getframe(1)  # of its compiler: the script, or a module of its own
        while caller.f_back and caller.f_code.co_filename == module.__file__:
            caller = caller.f_back
        library = "pycuda" if is_library(caller.f_code.co_filename) else ""
        marked = with_lines(source, library)
        # PyCUDA keeps what it compiled under the preprocessed text, without its `#line`s.
        lines = "".join(re.findall("^#line.*", marked, re.MULTILINE))
        options = [*options, f"-DEMULATOR_LINES_{hashlib.sha256(lines.encode()).hexdigest()[:12]}"]
        return original(marked, options, keep, nvcc, cache_dir, target)

    module.compile_plain = compile_plain


def runtime_functions(module, library: str = "libcudart.so.13") -> None:
    """cuda.bindings' copy of NVIDIA's runtime: its functions become the emulator's.

    Other modules import them from a table of capsules (Cython's), named after their signatures.
    """
    runtime = ctypes.CDLL(library)
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_void_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    table = getattr(module, "__pyx_capi__", {})
    for name, capsule in list(table.items()):
        function = getattr(runtime, name.removeprefix("_"), None) if "cuda" in name else None
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            table[name] = api.PyCapsule_New(address, api.PyCapsule_GetName(capsule), None)


CHANGES = {
    "cuda.bindings._internal.runtime": runtime_functions,
    # The same of CUDA 12, whose structs are smaller.
    "cuda.bindings._bindings.cyruntime": lambda module: runtime_functions(
        module, "libcudart.so.12"
    ),
    "pycuda.compiler": ptx_for_pycuda,
    "numba.cuda.decorators": lines_for_kernels,
    "numba.cuda.debuginfo": flags_of_debug_info,
    "cupy.cuda.compiler": lines_for_sources,
    "cupy": own_allocations,
    "cuda.core": lambda module: check_version("cuda-core"),
    "cuda.bindings.driver": lambda module: check_version("cuda-bindings"),
}


class Changing(importlib.abc.Loader):
    """Loads a module as its own loader does, and then changes it."""

    def __init__(self, loader, change) -> None:
        self.loader, self.change = loader, change

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module) -> None:
        # The module sees its own loader: it may ask it for files.
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.change(module)


class Finder(importlib.abc.MetaPathFinder):
    """Wraps the loader of the modules in CHANGES."""

    def find_spec(self, name, path=None, target=None):
        if name not in CHANGES:
            return None
        change = CHANGES.pop(name)
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec and spec.loader:
                spec.loader = Changing(spec.loader, change)
                return spec
        CHANGES[name] = change
        return None


# --- errors ---------------------------------------------------------------------------------------


def explain(kind, error, trace) -> None:
    """sys.excepthook: shows an error inside a CUDA library with the script's lines alone."""
    atexit.unregister(tell_without_cuda)  # the error is the message
    name = getattr(error, "name", None) or ""
    missing = isinstance(error, ModuleNotFoundError) and name.split(".")[0] in PACKAGES
    inside = f"{kind.__module__}.".startswith(LIBRARIES)
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if not is_library(frame.filename)]
    if not own or not (missing or inside) or os.environ.get("NUMBA_FULL_TRACEBACKS") == "1":
        sys.__excepthook__(kind, error, trace)
        return
    sys.stdout.flush()
    print("Traceback (most recent call last, without the libraries):", file=sys.stderr)
    sys.stderr.writelines(traceback.format_list(own))
    sys.stderr.writelines(traceback.format_exception_only(kind, error))
    if missing:
        package = PACKAGES[name.split(".")[0]]
        say(
            f"{own[-1].filename}:{own[-1].lineno}: {name} is not installed for {sys.executable}: "
            f"`{sys.executable} -m pip install '{package}'`, or `make python` in the workbook"
        )


def loads_cuda() -> bool:
    """Whether a library that the script has opened, say with ctypes, needs CUDA."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        mapped = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if ".so" in line}
    own = os.environ.get("EMULATOR_FOLDER", "/nowhere")
    for path in mapped:
        if os.path.dirname(path) == own or not os.path.isfile(path):
            continue
        with open(path, "rb") as library:
            if re.search(rb"libcuda(rt)?\.so", library.read()):
                return True
    return False


def tell_without_cuda() -> None:
    """At the end of a script that imported no CUDA library: it was run for nothing."""
    libraries = ("numba.cuda", "cupy", "pycuda", "cuda.bindings")
    path = sys.argv[0]
    typed = path in ("", "-", "-c")
    program = os.path.join(path, "__main__.py") if os.path.isdir(path) else path
    if not typed and not os.path.exists(program):  # "-m" stays there if there is no such module
        return  # Python has said that there is none
    if not any(name in sys.modules for name in libraries) and not loads_cuda():
        script = "the program" if typed else path
        say(f"{script} imported neither numba.cuda, cupy, pycuda nor cuda: nothing was emulated")


def import_other() -> None:
    """Imports the sitecustomize that Python would have found without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    kept = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.path[:] = kept
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError:
        if this:
            sys.modules["sitecustomize"] = this


# Numba's @vectorize compiles functions that stand in no file, with the source lines asked for here.
warnings.filterwarnings("ignore", "Could not find source for function")
# PTX of any of the tested compilers loads here.
warnings.filterwarnings("ignore", "The CUDA driver version is older than the backend version")
sys.meta_path.insert(0, Finder())
sys.excepthook = explain
if os.environ.get("EMULATOR_PROCESS") == str(os.getpid()) and not sys.flags.interactive:
    atexit.register(tell_without_cuda)
import_other()

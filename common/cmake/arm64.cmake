# SPDX-License-Identifier: MIT
# Toolchain file: a build for Linux on arm64 on another machine, whose programs run under qemu.
#
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=common/cmake/arm64.cmake \
#       -DWORKBOOK_ARM64_SYSROOT=... -DWORKBOOK_ARM64_TOOLKIT=...
#
# SYSROOT: a folder with Debian's arm64 packages of the libraries, unpacked. TOOLKIT: one with bin and
# nvvm of a CUDA toolkit for this machine, and targets/aarch64-linux of one for arm64.
# tests/setup/arm64.py makes both.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WORKBOOK_ARM64_SYSROOT WORKBOOK_ARM64_TOOLKIT)
foreach(name IN ITEMS WORKBOOK_ARM64_SYSROOT WORKBOOK_ARM64_TOOLKIT)
    if(NOT IS_DIRECTORY "${${name}}")
        message(FATAL_ERROR "${name} is not a folder: ${${name}}. tests/setup/arm64.py makes it")
    endif()
endforeach()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CUDA_COMPILER ${WORKBOOK_ARM64_TOOLKIT}/bin/nvcc)
set(CMAKE_CUDA_HOST_COMPILER aarch64-linux-gnu-g++)
set(CUDAToolkit_ROOT ${WORKBOOK_ARM64_TOOLKIT})

set(CMAKE_FIND_ROOT_PATH ${WORKBOOK_ARM64_SYSROOT} ${WORKBOOK_ARM64_TOOLKIT}/targets/aarch64-linux)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# What the libraries need themselves is only looked for in folders that are named.
set(sysroot_libraries ${WORKBOOK_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu)
foreach(kind IN ITEMS EXE SHARED)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT
        "-Wl,-rpath-link,${sysroot_libraries} -Wl,-rpath-link,${WORKBOOK_ARM64_SYSROOT}/lib/aarch64-linux-gnu")
endforeach()

find_program(WORKBOOK_QEMU qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR
    ${WORKBOOK_QEMU} -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${sysroot_libraries}:${WORKBOOK_ARM64_SYSROOT}/lib/aarch64-linux-gnu)

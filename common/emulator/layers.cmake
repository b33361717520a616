# Links the layers: their external dependencies, the drop-in libcudart, and the launcher `emulate`.
include(${CMAKE_CURRENT_SOURCE_DIR}/ptx/dependencies.cmake OPTIONAL)
include(${CMAKE_CURRENT_SOURCE_DIR}/machine/flags.cmake OPTIONAL)
# g++ 12 reports overlaps in std::string's own code that cannot happen (GCC bug 105329).
target_compile_options(emulator_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

# The device is built against the headers of CUDA 13.0, whichever toolkit is installed. `make`
# downloads them from PyPI when the toolkit found here is another one.
set(EMULATOR_CUDA_INCLUDE "" CACHE PATH "Folder of CUDA 13.0's headers; empty: searched for")
function(emulator_cuda_version folder out)
    set(${out} "" PARENT_SCOPE)
    if(EXISTS "${folder}/cuda_runtime_api.h")
        file(STRINGS "${folder}/cuda_runtime_api.h" line REGEX "^#define CUDART_VERSION +[0-9]+")
        string(REGEX MATCH "[0-9]+$" version "${line}")
        set(${out} "${version}" PARENT_SCOPE)
    endif()
endfunction()
set(cuda_include ${EMULATOR_CUDA_INCLUDE})
if(NOT cuda_include)
    foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS
            ITEMS ${PROJECT_SOURCE_DIR}/.workbook/headers/include)
        emulator_cuda_version("${folder}" version)
        if(version STREQUAL 13000)
            set(cuda_include ${folder})
            break()
        endif()
    endforeach()
endif()
emulator_cuda_version("${cuda_include}" version)
if(NOT version STREQUAL 13000)
    message(FATAL_ERROR "The emulated device is built against the headers of CUDA 13.0. "
        "EMULATOR_CUDA_INCLUDE is '${EMULATOR_CUDA_INCLUDE}', and ${CUDAToolkit_NVCC_EXECUTABLE} is "
        "CUDA ${CUDAToolkit_VERSION}. `make` fetches them (3 MB); by hand: install "
        "nvidia-cuda-runtime==13.0.* and nvidia-cuda-crt==13.0.* with pip, and configure with "
        "-DEMULATOR_CUDA_INCLUDE=.../site-packages/nvidia/cu13/include")
endif()

set(EMULATOR_HEADERS ${cuda_include} CACHE INTERNAL "CUDA 13.0's headers")

find_path(LIBDW_INCLUDE_DIR elfutils/libdwfl.h)
find_library(LIBDW_LIBRARY dw)
mark_as_advanced(LIBDW_INCLUDE_DIR LIBDW_LIBRARY)
if(NOT LIBDW_LIBRARY OR NOT LIBDW_INCLUDE_DIR)
    message(FATAL_ERROR "libdw was not found. On Debian and Ubuntu: apt install libdw-dev")
endif()
target_include_directories(emulator_runtime SYSTEM PUBLIC ${LIBDW_INCLUDE_DIR})
target_include_directories(emulator_runtime SYSTEM PUBLIC ${cuda_include})
target_include_directories(emulator_driver SYSTEM PUBLIC ${cuda_include})
target_link_libraries(emulator_runtime PUBLIC ${LIBDW_LIBRARY} ${CMAKE_DL_LIBS})
# API calls are never attributed to these: the emulator itself, the wrappers that lessons share, and
# the harness, through which a student's calls go.
get_filename_component(host_wrappers ${CMAKE_CURRENT_SOURCE_DIR}/../host ABSOLUTE)
get_filename_component(harness ${CMAKE_CURRENT_SOURCE_DIR}/../harness ABSOLUTE)
target_compile_definitions(emulator_runtime PRIVATE
    EMULATOR_LIBRARY_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/:${host_wrappers}/:${harness}/")

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(names ${CMAKE_CURRENT_SOURCE_DIR}/names)
set(generation ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generation.py)
# The driver API: names and types from CUDA's headers, exported by the same library.
set(driver_sources ${generated}/driver_stubs.cpp ${generated}/driver_per_thread.cpp
    ${generated}/driver_entry_points.cpp)
add_custom_command(
    OUTPUT ${generated}/driver.stamp
    BYPRODUCTS ${driver_sources}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/driver/generate_driver.py
        --include ${cuda_include} --names ${names}/libcuda.so.1.txt --out ${generated}
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/driver.stamp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/driver/generate_driver.py ${generation}
        ${names}/libcuda.so.1.txt ${cuda_include}/cuda.h
    COMMENT "Stubs and tables of the driver API" VERBATIM)
# The runtime API: stubs for what its sources do not define, and per-thread spellings of what they do.
file(GLOB_RECURSE runtime_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/*.cpp)
set(stub_sources ${generated}/stubs.cpp ${generated}/cudart_per_thread.cpp
    ${generated}/cudart12_table.cpp ${generated}/cudart12.cpp)
add_custom_command(
    OUTPUT ${generated}/stubs.stamp
    BYPRODUCTS ${stub_sources} ${generated}/cudart.map ${generated}/cudart12.map
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py
        --include ${cuda_include} --names ${names} --sources ${runtime_sources} --out ${generated}
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stubs.stamp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py ${generation} ${runtime_sources}
        ${names}/libcudart.so.12.txt ${names}/libcudart.so.13.txt ${generated}/driver.stamp
    COMMENT "Stubs and version scripts of libcudart" VERBATIM)
add_custom_target(emulator_stubs DEPENDS ${generated}/stubs.stamp)

set_source_files_properties(${stub_sources} ${driver_sources} PROPERTIES GENERATED TRUE)
file(GLOB cudart_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/*.cpp)
add_library(emulator_cudart_objects OBJECT ${cudart_sources}
    ${generated}/stubs.cpp ${generated}/cudart_per_thread.cpp ${generated}/cudart12_table.cpp
    ${driver_sources})
add_dependencies(emulator_cudart_objects emulator_stubs)
# The generated ones declare the functions of CUDA's headers otherwise; the check runs before the
# processor is known to have what other code needs.
set_source_files_properties(cudart/processor_check.cpp ${stub_sources} ${driver_sources}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
emulator_unity(emulator_cudart_objects 12)
target_compile_options(emulator_cudart_objects PRIVATE -Og)  # once for a call or a finding
target_link_libraries(emulator_cudart_objects PRIVATE emulator_runtime emulator_driver emulator_checks)

# An undefined name is an error at link time, not at run time. (The sanitizers' own names are only
# defined when the program starts.)
set(no_undefined_names)
if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}" MATCHES "-fsanitize")
    set(no_undefined_names -Wl,-z,defs)
endif()

# What the drop-in library is linked from.
add_library(emulator_cudart_link INTERFACE)
# Links all of the runtime's objects: nothing refers to cudaMalloc, and a weak stub would take its place.
target_link_libraries(emulator_cudart_link INTERFACE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,emulator_runtime>
    $<LINK_LIBRARY:WHOLE_ARCHIVE,emulator_driver>
    emulator_checks emulator_machine emulator_ptx)
target_link_options(emulator_cudart_link INTERFACE ${no_undefined_names}
    -Wl,--version-script=${generated}/cudart.map -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
set_target_properties(emulator_cudart_link PROPERTIES INTERFACE_LINK_DEPENDS ${generated}/stubs.stamp)

# emulator_shared_library(NAME FOLDER LEVELS): the drop-in library with handlers for these processor
# levels in addition to the chosen one.
function(emulator_shared_library name folder levels)
    add_library(${name} SHARED $<TARGET_OBJECTS:emulator_cudart_objects>)
    target_link_libraries(${name} PRIVATE emulator_cudart_link ${levels})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME cudart SOVERSION 13
        LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()
emulator_shared_library(emulator_cudart ${PROJECT_BINARY_DIR}/emulator emulator_chosen_levels)

# The same with more processor levels, for the tests of other processors.
emulator_shared_library(
    emulator_cudart_levels ${PROJECT_BINARY_DIR}/emulator_levels emulator_tested_levels)
set_target_properties(emulator_cudart_levels PROPERTIES EXCLUDE_FROM_ALL ON)

# libcuda.so.1 contains nothing but a dependency on the library above, so that both APIs share one
# state however a program loads them.
file(WRITE ${generated}/libcuda.cpp "// Nothing: the functions are those of libcudart.so.13.\n")
add_library(emulator_cuda SHARED ${generated}/libcuda.cpp)
target_link_libraries(emulator_cuda PRIVATE emulator_cudart)
target_link_options(emulator_cuda PRIVATE -Wl,--no-as-needed)
set_target_properties(emulator_cuda PROPERTIES
    OUTPUT_NAME cuda SOVERSION 1 INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH TRUE
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)

# What a program of the driver API is linked with, on every toolkit: its functions, which do nothing,
# under the soname of the library above. At run time that one is loaded.
file(STRINGS ${names}/libcuda.so.1.txt cuda_names REGEX "^cu[A-Z]")
list(TRANSFORM cuda_names REPLACE "(.+)" "void \\1(void) {}\n")
string(JOIN "" cuda_functions ${cuda_names})
file(CONFIGURE OUTPUT ${generated}/libcuda_link.c CONTENT "@cuda_functions@" @ONLY)
add_library(emulator_cuda_link SHARED EXCLUDE_FROM_ALL ${generated}/libcuda_link.c)
target_link_options(emulator_cuda_link PRIVATE -nostdlib -Wl,-soname,libcuda.so.1)
set_target_properties(emulator_cuda_link PROPERTIES
    OUTPUT_NAME cuda NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator/link)
add_dependencies(emulator_cuda_link emulator_cuda)
set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_cuda emulator_cuda_link)

# libcudart.so.12, for programs of CUDA 12: each name jumps to libcudart.so.13. There is no plain
# libcudart.so for it: that is the name of libcudart.so.13.
add_library(emulator_cudart12 SHARED ${generated}/cudart12.cpp)
add_dependencies(emulator_cudart12 emulator_stubs)
target_link_libraries(emulator_cudart12 PRIVATE emulator_options emulator_cudart)
target_link_options(emulator_cudart12 PRIVATE
    -Wl,--no-as-needed -Wl,--version-script=${generated}/cudart12.map ${no_undefined_names})
set_target_properties(emulator_cudart12 PROPERTIES
    OUTPUT_NAME cudart SUFFIX .so.12 INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH TRUE
    LINK_DEPENDS ${generated}/stubs.stamp LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)

# For processes that load CUDA code while they run (Python): the audit library, which uses no C++
# library, and the wrappers around NVIDIA's compilers, which only the audit library hands out.
add_library(emulator_audit SHARED process/audit.cpp process/static_runtime.cpp)
target_link_libraries(emulator_audit PRIVATE emulator_options)
# Nor a sanitizer's: it is loaded before the program, into a namespace of its own.
target_compile_options(emulator_audit PRIVATE
    -O2 -fno-exceptions -fno-rtti -fno-stack-protector -fno-sanitize=all)
target_link_options(emulator_audit PRIVATE -nodefaultlibs -Wl,-z,defs -fno-sanitize=all)
target_link_libraries(emulator_audit PRIVATE c gcc)  # on arm64 libgcc clears the instruction cache
set_target_properties(emulator_audit PROPERTIES
    OUTPUT_NAME emulator_audit LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
set(python_hooks "")
foreach(script IN ITEMS sitecustomize.py emulator_script_lines.py)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/process/python/${script})
    set(copy ${PROJECT_BINARY_DIR}/emulator/python/${script})
    add_custom_command(OUTPUT ${copy}
        COMMAND ${CMAKE_COMMAND} -E copy ${source} ${copy} DEPENDS ${source} VERBATIM)
    list(APPEND python_hooks ${copy})
endforeach()
add_custom_target(emulator_python_hooks DEPENDS ${python_hooks})
set(emulator_process_targets emulator_audit emulator_python_hooks)

# emulator_wrapper(NAME PREFIX SOURCE SONAMES...): exports PREFIX*.
function(emulator_wrapper name prefix source)
    set(objects emulator_${prefix}_objects)
    add_library(${objects} OBJECT process/wrappers/${source} process/wrappers/wrapped.cpp)
    target_compile_definitions(${objects} PRIVATE WRAPPED_NAME="${name}")
    target_compile_options(${objects} PRIVATE -Og)
    target_link_libraries(${objects} PRIVATE emulator_options)
    emulator_unity(${objects} 2)
    foreach(soname IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER ${soname} id)
        set(script ${generated}/${soname}.map)
        file(CONFIGURE OUTPUT ${script} @ONLY CONTENT
            "@soname@ { global: @prefix@*; __@prefix@*; emulator_wrapped_library; local: *; };\n")
        add_library(emulator_${id} SHARED $<TARGET_OBJECTS:${objects}>)
        target_link_libraries(emulator_${id} PRIVATE emulator_options emulator_cudart ${CMAKE_DL_LIBS})
        target_link_options(emulator_${id} PRIVATE
            -Wl,--version-script=${script} -Wl,-soname,${soname} ${no_undefined_names})
        set_target_properties(emulator_${id} PROPERTIES
            LINKER_LANGUAGE CXX PREFIX "" OUTPUT_NAME ${soname} SUFFIX "" NO_SONAME ON LINK_DEPENDS ${script}
            INSTALL_RPATH "$ORIGIN/.." BUILD_WITH_INSTALL_RPATH TRUE
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator/wrappers)
        list(APPEND emulator_process_targets emulator_${id})
    endforeach()
    set(emulator_process_targets ${emulator_process_targets} PARENT_SCOPE)
endfunction()
emulator_wrapper(NVRTC nvrtc nvrtc.cpp libnvrtc.so.13 libnvrtc.so.12)
emulator_wrapper(nvJitLink nvJitLink nvjitlink.cpp libnvJitLink.so.13 libnvJitLink.so.12)

file(GLOB emulator_platforms CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/machine/platform/*64.cpp)
add_executable(emulate programs/emulate.cpp programs/elf_facts.cpp cudart/options.cpp
    ${emulator_platforms})
target_compile_options(emulate PRIVATE -Og)
emulator_unity(emulate 12)
target_link_libraries(emulate PRIVATE emulator_options)
set_target_properties(emulate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
add_dependencies(emulate emulator_cudart emulator_cudart12 emulator_cuda ${emulator_process_targets})

# The self-test's program, which `make` and `make doctor` run on a device that was just built.
add_executable(emulator_self_test programs/self_test.cu)
target_compile_options(emulator_self_test PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -Xcompiler=-g>)
target_link_libraries(emulator_self_test PRIVATE CUDA::cudart)
target_link_directories(emulator_self_test PRIVATE ${CUDAToolkit_LIBRARY_DIR})
target_link_options(emulator_self_test PRIVATE ${WORKBOOK_LINKER})
set_target_properties(emulator_self_test PROPERTIES
    OUTPUT_NAME self_test RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
add_dependencies(emulator_self_test emulator_cudart emulator_cudart12)

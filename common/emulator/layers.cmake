# Assembly: what the layers need from outside, the drop-in libcudart, and the launcher `emulate`.
include(${CMAKE_CURRENT_SOURCE_DIR}/ptx/dependencies.cmake OPTIONAL)
include(${CMAKE_CURRENT_SOURCE_DIR}/machine/flags.cmake OPTIONAL)
# g++ 12 sees overlaps in std::string's own code that cannot happen (GCC bug 105329).
target_compile_options(emulator_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

# The library that ours stands in for: its soname, version nodes and exported names are ours too.
# NVIDIA's wheels carry it without the plain libcudart.so.
set(cudart_library ${CUDA_cudart_LIBRARY})
if(NOT EXISTS "${cudart_library}")
    file(GLOB cudart_candidates
        ${CUDAToolkit_LIBRARY_DIR}/libcudart.so.* ${CUDAToolkit_LIBRARY_ROOT}/lib/libcudart.so.*
        ${CUDAToolkit_BIN_DIR}/../lib*/libcudart.so.*)
    if(NOT cudart_candidates)
        message(FATAL_ERROR "libcudart.so was not found beside ${CUDAToolkit_NVCC_EXECUTABLE}: "
            "install the CUDA runtime (apt: cuda-cudart-dev, PyPI: nvidia-cuda-runtime)")
    endif()
    list(GET cudart_candidates 0 cudart_library)
endif()
file(REAL_PATH ${cudart_library} cudart_library)
execute_process(COMMAND ${CMAKE_READELF} -d ${cudart_library}
    OUTPUT_VARIABLE cudart_dynamic ERROR_QUIET)
if(NOT cudart_dynamic MATCHES "\\[(libcudart\\.so\\.([0-9]+)[^]]*)\\]")
    message(FATAL_ERROR "${cudart_library} has no soname libcudart.so.N")
endif()
set(cudart_soname ${CMAKE_MATCH_1})
string(REGEX REPLACE "^libcudart\\.so\\." "" cudart_version ${cudart_soname})

find_path(LIBDW_INCLUDE_DIR elfutils/libdwfl.h)
find_library(LIBDW_LIBRARY dw)
mark_as_advanced(LIBDW_INCLUDE_DIR LIBDW_LIBRARY)
if(NOT LIBDW_LIBRARY OR NOT LIBDW_INCLUDE_DIR)
    message(FATAL_ERROR "libdw was not found. On Debian and Ubuntu: apt install libdw-dev")
endif()
target_include_directories(emulator_runtime PRIVATE ${LIBDW_INCLUDE_DIR})
# The toolkit's headers only: its libraries are what we replace.
target_include_directories(emulator_runtime SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(emulator_runtime PUBLIC ${LIBDW_LIBRARY} ${CMAKE_DL_LIBS})
# Never blamed for an API call: the emulator itself and the wrappers that lessons share.
get_filename_component(host_wrappers ${CMAKE_CURRENT_SOURCE_DIR}/../host ABSOLUTE)
target_compile_definitions(emulator_runtime PRIVATE
    EMULATOR_LIBRARY_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/:${host_wrappers}/")

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
add_custom_command(
    OUTPUT ${generated}/stubs.stamp
    BYPRODUCTS ${generated}/stubs.cpp ${generated}/cudart.map
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py
        --library ${cudart_library} --soname ${cudart_soname} --nm ${CMAKE_NM}
        --source ${generated}/stubs.cpp --version-script ${generated}/cudart.map
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stubs.stamp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py ${cudart_library}
    COMMENT "Stubs and version script from ${cudart_soname}" VERBATIM)
add_custom_target(emulator_stubs DEPENDS ${generated}/stubs.stamp)

add_library(emulator_cudart SHARED libcudart.cpp options.cpp output.cpp ${generated}/stubs.cpp)
set_source_files_properties(${generated}/stubs.cpp PROPERTIES GENERATED TRUE)
add_dependencies(emulator_cudart emulator_stubs)
# The runtime's objects all go in: nothing refers to cudaMalloc, and a weak stub stands for it.
target_link_libraries(emulator_cudart PRIVATE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,emulator_runtime> emulator_checks emulator_machine emulator_ptx)
target_link_options(emulator_cudart PRIVATE
    -Wl,--version-script=${generated}/cudart.map -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
# A name that nobody defines is an error now, not in the middle of a program. (The sanitizers' own
# names are only there when the program starts.)
if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}" MATCHES "-fsanitize")
    target_link_options(emulator_cudart PRIVATE -Wl,-z,defs)
endif()
set_target_properties(emulator_cudart PROPERTIES
    OUTPUT_NAME cudart SOVERSION ${cudart_version} LINK_DEPENDS ${generated}/stubs.stamp
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)

add_executable(emulate emulate.cpp elf_facts.cpp options.cpp)
target_link_libraries(emulate PRIVATE emulator_options)
target_compile_definitions(emulate PRIVATE EMULATOR_CUDART_SONAME="${cudart_soname}")
set_target_properties(emulate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
add_dependencies(emulate emulator_cudart)

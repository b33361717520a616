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
target_include_directories(emulator_driver SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(emulator_runtime PUBLIC ${LIBDW_LIBRARY} ${CMAKE_DL_LIBS})
# Never blamed for an API call: the emulator itself and the wrappers that lessons share.
get_filename_component(host_wrappers ${CMAKE_CURRENT_SOURCE_DIR}/../host ABSOLUTE)
target_compile_definitions(emulator_runtime PRIVATE
    EMULATOR_LIBRARY_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/:${host_wrappers}/")

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
# The driver API: names and types from the toolkit's headers, exported by the same library.
set(driver_sources ${generated}/driver_stubs.cpp ${generated}/driver_per_thread.cpp
    ${generated}/driver_entry_points.cpp)
find_file(driver_stub_library libcuda.so NO_DEFAULT_PATH
    PATHS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib PATH_SUFFIXES stubs)
mark_as_advanced(driver_stub_library)
list(GET CUDAToolkit_INCLUDE_DIRS 0 driver_include)
add_custom_command(
    OUTPUT ${generated}/driver.stamp
    BYPRODUCTS ${driver_sources} ${generated}/driver_names.txt
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/driver/generate_driver.py
        --include ${driver_include} --library "${driver_stub_library}" --nm ${CMAKE_NM}
        --out ${generated}
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/driver.stamp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/driver/generate_driver.py ${driver_include}/cuda.h
    COMMENT "The driver API's names from cuda.h" VERBATIM)
add_custom_command(
    OUTPUT ${generated}/stubs.stamp
    BYPRODUCTS ${generated}/stubs.cpp ${generated}/cudart.map
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py
        --library ${cudart_library} --soname ${cudart_soname} --nm ${CMAKE_NM}
        --source ${generated}/stubs.cpp --version-script ${generated}/cudart.map
        --node libcuda.so.1=${generated}/driver_names.txt
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stubs.stamp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/generate_stubs.py ${cudart_library}
        ${generated}/driver.stamp
    COMMENT "Stubs and version script from ${cudart_soname}" VERBATIM)
add_custom_target(emulator_stubs DEPENDS ${generated}/stubs.stamp)

set_source_files_properties(${generated}/stubs.cpp ${driver_sources} PROPERTIES GENERATED TRUE)
add_library(emulator_cudart_objects OBJECT libcudart.cpp host_access.cpp options.cpp output.cpp
    processor_check.cpp ${generated}/stubs.cpp ${driver_sources})
add_dependencies(emulator_cudart_objects emulator_stubs)
target_link_libraries(emulator_cudart_objects PRIVATE emulator_runtime emulator_driver emulator_checks)

# emulator_shared_library(NAME FOLDER LEVELS): the drop-in library with the handlers of these
# processor levels beside the oldest ones.
function(emulator_shared_library name folder levels)
    add_library(${name} SHARED $<TARGET_OBJECTS:emulator_cudart_objects>)
    # The runtime's objects all go in: nothing refers to cudaMalloc, and a weak stub stands for it.
    target_link_libraries(${name} PRIVATE
        $<LINK_LIBRARY:WHOLE_ARCHIVE,emulator_runtime,emulator_driver>
        emulator_checks emulator_machine emulator_ptx ${levels})
    target_link_options(${name} PRIVATE
        -Wl,--version-script=${generated}/cudart.map -Wl,-Bsymbolic-functions -Wl,-z,nodelete)
    # A name that nothing defines is an error now, not in the middle of a program. (The sanitizers'
    # own names are only there when the program starts.)
    if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}" MATCHES "-fsanitize")
        target_link_options(${name} PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(${name} PROPERTIES
        LINKER_LANGUAGE CXX OUTPUT_NAME cudart SOVERSION ${cudart_version}
        LINK_DEPENDS ${generated}/stubs.stamp LIBRARY_OUTPUT_DIRECTORY ${folder})
endfunction()
emulator_shared_library(emulator_cudart ${PROJECT_BINARY_DIR}/emulator emulator_chosen_levels)

# The same with every level, for the tests of other processors.
emulator_shared_library(
    emulator_cudart_all_levels ${PROJECT_BINARY_DIR}/emulator_all_levels emulator_all_levels)
set_target_properties(emulator_cudart_all_levels PROPERTIES EXCLUDE_FROM_ALL ON)

# For the tests: a device that dies at every launch.
add_library(emulator_broken_launches OBJECT EXCLUDE_FROM_ALL
    ${PROJECT_SOURCE_DIR}/tests/support/broken_launches.cpp)
target_link_libraries(emulator_broken_launches PRIVATE emulator_runtime)
add_library(emulator_broken_objects INTERFACE)
target_sources(emulator_broken_objects INTERFACE $<TARGET_OBJECTS:emulator_broken_launches>)
emulator_shared_library(
    emulator_cudart_broken ${PROJECT_BINARY_DIR}/emulator_broken emulator_broken_objects)
set_target_properties(emulator_cudart_broken PROPERTIES EXCLUDE_FROM_ALL ON)

# libcuda.so.1 is a name for the same library: it has nothing in it but the need for it, so that both
# APIs share one state however a program comes by them.
file(WRITE ${generated}/libcuda.cpp "// Nothing: the functions are those of ${cudart_soname}.\n")
add_library(emulator_cuda SHARED ${generated}/libcuda.cpp)
target_link_libraries(emulator_cuda PRIVATE emulator_cudart)
target_link_options(emulator_cuda PRIVATE -Wl,--no-as-needed)
set_target_properties(emulator_cuda PROPERTIES
    OUTPUT_NAME cuda SOVERSION 1 INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH TRUE
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)

file(GLOB emulator_platforms CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/machine/platform_*.cpp)
add_executable(emulate emulate.cpp elf_facts.cpp options.cpp ${emulator_platforms})
target_link_libraries(emulate PRIVATE emulator_options)
target_compile_definitions(emulate PRIVATE EMULATOR_CUDART_SONAME="${cudart_soname}")
set_target_properties(emulate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
add_dependencies(emulate emulator_cudart emulator_cuda)

# The known program that `make` and `make doctor` run on a device that was just built.
add_executable(emulator_self_test self_test.cu)
target_compile_options(emulator_self_test PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -Xcompiler=-g>)
target_link_libraries(emulator_self_test PRIVATE CUDA::cudart)
target_link_options(emulator_self_test PRIVATE ${WORKBOOK_LINKER})
set_target_properties(emulator_self_test PROPERTIES
    OUTPUT_NAME self_test RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
add_dependencies(emulator_self_test emulator_cudart)

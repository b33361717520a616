# SPDX-License-Identifier: MIT
# The libraries that a lesson's interface may include: common/libraries/libraries.json lists them, by
# header. WORKBOOK_LIBRARY_x, a global property, names the target that programs link for library x.
# On the emulated device the stand-ins (common/libraries) and the driver API (common/emulator) set it
# themselves.
set(WORKBOOK_LIBRARIES ${PROJECT_SOURCE_DIR}/common/libraries/libraries.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WORKBOOK_LIBRARIES})

# NVIDIA's own libraries, which only run on a card.
if(DEVICE STREQUAL gpu)
    foreach(library IN ITEMS cublas cufft cusolver curand cusparse)
        set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_${library} CUDA::${library})
    endforeach()
    set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_cuda CUDA::cuda_driver)
    # NCCL is no part of the toolkit.
    find_library(WORKBOOK_NCCL_LIBRARY NAMES nccl libnccl.so.2)
    find_path(WORKBOOK_NCCL_INCLUDE nccl.h)
    mark_as_advanced(WORKBOOK_NCCL_LIBRARY WORKBOOK_NCCL_INCLUDE)
    if(WORKBOOK_NCCL_LIBRARY AND WORKBOOK_NCCL_INCLUDE AND NOT TARGET workbook_nccl)
        add_library(workbook_nccl UNKNOWN IMPORTED GLOBAL)
        set_target_properties(workbook_nccl PROPERTIES IMPORTED_LOCATION ${WORKBOOK_NCCL_LIBRARY})
        set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_nccl workbook_nccl)
        set_property(GLOBAL PROPERTY WORKBOOK_HEADERS_nccl ${WORKBOOK_NCCL_INCLUDE})
    endif()
endif()

# NVRTC runs on the host, so it is NVIDIA's own on either device: the toolkit's, or the package from
# PyPI that `make` puts into .workbook/nvrtc. Its headers are beside it.
file(GLOB nvrtc_packages ${PROJECT_SOURCE_DIR}/.workbook/nvrtc/lib/python3*/site-packages/nvidia/*)
list(TRANSFORM nvrtc_packages APPEND /lib OUTPUT_VARIABLE nvrtc_folders)
find_library(NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12
    PATHS ${CUDAToolkit_LIBRARY_DIR} ${nvrtc_folders} NO_DEFAULT_PATH)
if(NVRTC_LIBRARY)
    cmake_path(GET NVRTC_LIBRARY PARENT_PATH nvrtc_folder)
    cmake_path(GET nvrtc_folder PARENT_PATH nvrtc_root)
    find_path(NVRTC_INCLUDE_DIR nvrtc.h
        PATHS ${nvrtc_root}/include ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
endif()
mark_as_advanced(NVRTC_LIBRARY NVRTC_INCLUDE_DIR)
if(NVRTC_LIBRARY AND NVRTC_INCLUDE_DIR AND NOT TARGET workbook_nvrtc)
    add_library(workbook_nvrtc SHARED IMPORTED GLOBAL)
    set_target_properties(workbook_nvrtc PROPERTIES IMPORTED_LOCATION ${NVRTC_LIBRARY})
    set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_nvrtc workbook_nvrtc)
    if(NOT NVRTC_INCLUDE_DIR IN_LIST CUDAToolkit_INCLUDE_DIRS)
        set_property(GLOBAL PROPERTY WORKBOOK_HEADERS_nvrtc ${NVRTC_INCLUDE_DIR})
    endif()
    # What a program that is not linked by CMake needs to find it.
    set_property(GLOBAL PROPERTY WORKBOOK_OPTIONS_nvrtc -Wl,-rpath,${nvrtc_folder})
endif()

# workbook_libraries_of(HEADER LIBRARIES HEADERS ABSENT): sets the targets of the libraries that an
# interface includes, after -Wl,--no-as-needed (a test that stands between a program and a library calls
# it by name at run time); the folders of headers that the toolkit does not have; and whether a library
# is missing.
function(workbook_libraries_of header libraries headers absent)
    set(targets "")
    set(folders "")
    set(missing FALSE)
    file(STRINGS ${header} includes REGEX "^#include <")
    file(READ ${WORKBOOK_LIBRARIES} list)
    string(JSON count LENGTH "${list}")
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
        string(JSON name MEMBER "${list}" ${index})
        if(NOT "#include <${name}>" IN_LIST includes)
            continue()
        endif()
        string(JSON library GET "${list}" ${name} library)
        get_property(target GLOBAL PROPERTY WORKBOOK_LIBRARY_${library})
        get_property(folder GLOBAL PROPERTY WORKBOOK_HEADERS_${library})
        get_property(options GLOBAL PROPERTY WORKBOOK_OPTIONS_${library})
        if(target AND TARGET ${target})
            list(APPEND targets ${target} ${options})
            list(APPEND folders ${folder})
        else()
            set(missing TRUE)
        endif()
    endforeach()
    if(targets)
        # A stand-in needs functions of the emulated device, which takes the place of NVIDIA's runtime
        # only when the program runs.
        list(PREPEND targets -Wl,--no-as-needed -Wl,--allow-shlib-undefined)
    endif()
    set(${libraries} "${targets}" PARENT_SCOPE)
    set(${headers} "${folders}" PARENT_SCOPE)
    set(${absent} ${missing} PARENT_SCOPE)
endfunction()

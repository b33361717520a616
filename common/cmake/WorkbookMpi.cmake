# SPDX-License-Identifier: MIT
# Open MPI, for lessons whose interface includes mpi.h: the real one, on either device. Programs are
# linked with mpi_watch (common/libraries/mpi), which stands before it. Where Open MPI is missing,
# these lessons have no targets; common/workbook/setup/lesson_libraries.py installs it.
set(places /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi /usr/local /opt/openmpi)
find_path(OPENMPI_INCLUDE_DIR mpi-ext.h PATHS ${places} PATH_SUFFIXES include)
find_library(OPENMPI_LIBRARY mpi PATHS ${places} PATH_SUFFIXES lib)
find_program(OPENMPI_RUN NAMES mpirun.openmpi mpirun)
mark_as_advanced(OPENMPI_INCLUDE_DIR OPENMPI_LIBRARY OPENMPI_RUN)
if(OPENMPI_INCLUDE_DIR AND OPENMPI_LIBRARY AND OPENMPI_RUN)
    add_library(workbook_openmpi SHARED IMPORTED GLOBAL)
    set_target_properties(workbook_openmpi PROPERTIES
        IMPORTED_LOCATION ${OPENMPI_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OPENMPI_INCLUDE_DIR})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/libraries/mpi/*.cpp)
    add_library(mpi_watch SHARED EXCLUDE_FROM_ALL ${sources})
    target_include_directories(mpi_watch PRIVATE
        ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/common/emulator)
    target_compile_definitions(mpi_watch PRIVATE OMPI_SKIP_MPICXX)
    target_compile_features(mpi_watch PRIVATE cxx_std_20)
    target_compile_options(mpi_watch PRIVATE -O2 -Wall -Wextra)
    target_link_libraries(mpi_watch PUBLIC workbook_openmpi PRIVATE CUDA::cudart ${CMAKE_DL_LIBS})
    set_target_properties(mpi_watch PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulator)
    set_property(GLOBAL PROPERTY WORKBOOK_LIBRARY_mpi mpi_watch)
    set_property(GLOBAL PROPERTY WORKBOOK_HEADERS_mpi
        ${OPENMPI_INCLUDE_DIR} ${PROJECT_SOURCE_DIR}/common/libraries/mpi)
    # What a program that is not linked by CMake needs.
    set_property(GLOBAL PROPERTY WORKBOOK_OPTIONS_mpi
        ${OPENMPI_LIBRARY} -Wl,-rpath,${PROJECT_BINARY_DIR}/emulator)
endif()

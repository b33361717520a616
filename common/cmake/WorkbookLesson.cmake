# SPDX-License-Identifier: MIT
# workbook_add_lesson(NN_slug): builds the student's file and the solution against the one test.
#
#   lessons/NN_slug/slug.cu    + tests/lessons/NN_slug/test_*.cpp -> lesson_NN_slug
#   solutions/NN_slug/slug.cu  + the same objects of the tests    -> solution_NN_slug
#
# The tests are compiled once; after an edit only the student's file is. The solution is not part of
# the default build. Where tests/lessons/NN_slug/workload.cpp exists, the same objects of the two .cu
# files are also linked with it and with bench_main.cpp, for the clock: bench_lesson_NN_slug and
# bench_solution_NN_slug.
#
# A lesson whose interface includes a header of common/libraries/libraries.json is linked with its
# library (WorkbookLibraries.cmake). Where a library is missing, the lesson has no targets, and
# WORKBOOK_ABSENT_LESSONS, a global property, names it.
#
# A lesson whose interface declares functions of C (`extern "C"`) is a library for other languages, too:
# shared_lesson_NN_slug and shared_solution_NN_slug, shared/lesson/libslug.so and shared/solution/libslug.so
# in the build folder, which Python's ctypes loads (common/workbook/running/python_programs.py).
#
# lessons/link_NN_slug.txt and link_bench_NN_slug.txt in the build folder list what another .cu file
# (a variant, a mutant) is linked with to take the place of the solution.
function(workbook_add_lesson id)
    string(REGEX REPLACE "^[0-9]+_" "" slug ${id})
    workbook_libraries_of(${PROJECT_SOURCE_DIR}/lessons/${id}/${slug}.h libraries headers absent)
    if(absent)
        set_property(GLOBAL APPEND PROPERTY WORKBOOK_ABSENT_LESSONS ${id})
        return()
    endif()
    set(folder ${PROJECT_SOURCE_DIR}/tests/lessons/${id})
    file(GLOB tests CONFIGURE_DEPENDS ${folder}/test_*.cpp)
    add_library(lesson_test_${id} OBJECT EXCLUDE_FROM_ALL ${tests})
    target_link_libraries(lesson_test_${id} PRIVATE workbook_lesson_test)
    # As the lesson's own file. The library's headers take half a second less than with C++20.
    set_target_properties(lesson_test_${id} PROPERTIES CXX_STANDARD 17
        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 2)
    target_precompile_headers(lesson_test_${id} REUSE_FROM workbook_precompiled)
    target_include_directories(lesson_test_${id} PRIVATE
        ${PROJECT_SOURCE_DIR}/lessons/${id} ${headers})
    workbook_link_list(link_${id} lesson_test_${id} workbook_lesson_main workbook_catch_session
        LIBRARIES ${libraries})
    set(workload ${folder}/workload.cpp)
    if(EXISTS ${workload})
        add_library(lesson_workload_${id} OBJECT EXCLUDE_FROM_ALL ${workload})
        # After the tests' -Og: reference() is what one core can do. g++ 12 warns of its own strings.
        set_source_files_properties(${workload} PROPERTIES COMPILE_OPTIONS "-O3;-Wno-restrict")
        target_link_libraries(lesson_workload_${id} PRIVATE workbook_lesson_test)
        target_include_directories(lesson_workload_${id} PRIVATE
            ${PROJECT_SOURCE_DIR}/lessons/${id} ${headers})
        workbook_link_list(link_bench_${id} lesson_workload_${id} workbook_bench_main
            LIBRARIES ${libraries})
    endif()
    # A test that watches host threads is told of each access to memory by the code it tests.
    set(options)
    foreach(test IN LISTS tests)
        file(STRINGS ${test} watches REGEX "thread_hooks.h")
        if(watches)
            set(options $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fsanitize=thread>)
        endif()
    endforeach()
    # workbook_device names the emulated device's folder, and that one alone: a toolkit's own libraries
    # of the same names must not be found before.
    set(skips "")
    if(DEVICE STREQUAL emulator)
        set(skips SKIP_BUILD_RPATH TRUE)
    endif()
    file(STRINGS ${PROJECT_SOURCE_DIR}/lessons/${id}/${slug}.h has_functions_of_c REGEX "^extern \"C\"")
    foreach(kind IN ITEMS lesson solution)
        set(target ${kind}_${id})
        add_executable(${target} EXCLUDE_FROM_ALL
            ${PROJECT_SOURCE_DIR}/${kind}s/${id}/${slug}.cu $<TARGET_OBJECTS:lesson_test_${id}>)
        target_include_directories(${target} PRIVATE
            ${PROJECT_SOURCE_DIR}/lessons/${id} ${PROJECT_SOURCE_DIR}/common/host ${headers})
        target_compile_options(${target} PRIVATE ${options})
        target_link_libraries(${target} PRIVATE
            workbook_device $<$<STREQUAL:${kind},solution>:workbook_solution> workbook_lesson_main
            ${libraries})
        set_target_properties(${target} PROPERTIES ${skips}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lessons)
        if(has_functions_of_c)
            add_library(shared_${target} SHARED EXCLUDE_FROM_ALL
                ${PROJECT_SOURCE_DIR}/${kind}s/${id}/${slug}.cu)
            target_include_directories(shared_${target} PRIVATE
                ${PROJECT_SOURCE_DIR}/lessons/${id} ${PROJECT_SOURCE_DIR}/common/host ${headers})
            target_link_libraries(shared_${target} PRIVATE workbook_device ${libraries})
            set_target_properties(shared_${target} PROPERTIES OUTPUT_NAME ${slug}
                LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/shared/${kind})
        endif()
        if(EXISTS ${workload})
            add_executable(bench_${target} EXCLUDE_FROM_ALL
                $<TARGET_OBJECTS:${target}> $<TARGET_OBJECTS:lesson_workload_${id}>)
            target_link_libraries(bench_${target} PRIVATE
                workbook_device workbook_bench_main ${libraries})
            set_target_properties(bench_${target} PROPERTIES ${skips} LINKER_LANGUAGE CUDA
                RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lessons)
        endif()
    endforeach()
endfunction()

# workbook_link_list(NAME object-library... [LIBRARIES library...]): lessons/NAME.txt with the objects
# and libraries, and the linker's options, one a line.
function(workbook_link_list name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
    set(lines "")
    foreach(library IN LISTS arg_UNPARSED_ARGUMENTS)
        string(APPEND lines "$<JOIN:$<TARGET_OBJECTS:${library}>,\n>\n")
    endforeach()
    foreach(library IN LISTS arg_LIBRARIES)
        if(TARGET ${library})
            set(library $<TARGET_FILE:${library}>)
        endif()
        string(APPEND lines "${library}\n")
    endforeach()
    string(APPEND lines "$<TARGET_FILE:CUDA::cudart>\n${WORKBOOK_LINKER}\n${WORKBOOK_LINK_NOW}\n")
    if(WORKBOOK_CATCH_LIBRARY)
        string(APPEND lines "${WORKBOOK_CATCH_LIBRARY}\n")
    endif()
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/lessons/${name}.txt CONTENT "${lines}")
endfunction()

# workbook_add_lesson(NN_slug): builds the student's file and the solution against the one test.
#
#   lessons/NN_slug/slug.cu    + tests/lessons/test_NN_slug.cpp -> lesson_NN_slug
#   solutions/NN_slug/slug.cu  + the same test object           -> solution_NN_slug
#
# The test is compiled once; after an edit only the student's file is. The solution is not part of
# the default build.
function(workbook_add_lesson id)
    string(REGEX REPLACE "^[0-9]+_" "" slug ${id})
    add_library(lesson_test_${id} OBJECT EXCLUDE_FROM_ALL
        ${PROJECT_SOURCE_DIR}/tests/lessons/test_${id}.cpp)
    target_link_libraries(lesson_test_${id} PRIVATE workbook_lesson_test)
    target_include_directories(lesson_test_${id} PRIVATE ${PROJECT_SOURCE_DIR}/lessons/${id})
    foreach(kind IN ITEMS lesson solution)
        set(target ${kind}_${id})
        add_executable(${target} EXCLUDE_FROM_ALL
            ${PROJECT_SOURCE_DIR}/${kind}s/${id}/${slug}.cu $<TARGET_OBJECTS:lesson_test_${id}>)
        target_include_directories(${target} PRIVATE
            ${PROJECT_SOURCE_DIR}/lessons/${id} ${PROJECT_SOURCE_DIR}/common/host)
        target_link_libraries(${target} PRIVATE workbook_device workbook_catch_main)
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lessons)
    endforeach()
endfunction()

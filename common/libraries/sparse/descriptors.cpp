// SPDX-License-Identifier: MIT
// Handles and descriptors of the stand-in for cuSPARSE: creation, changes and destruction.
#include "sparse/descriptors.h"

namespace sparse {

template <class T>
static stand_in::Handles<T>& all_of() {
    static auto& instance = *new stand_in::Handles<T>;
    return instance;
}
stand_in::Handles<cusparseContext>& handles() {
    return all_of<cusparseContext>();
}
stand_in::Handles<const cusparseSpMatDescr>& matrices() {
    return all_of<const cusparseSpMatDescr>();
}
stand_in::Handles<const cusparseDnVecDescr>& vectors() {
    return all_of<const cusparseDnVecDescr>();
}

const char* status_name(cusparseStatus_t status) {
    switch (status) {
    case CUSPARSE_STATUS_SUCCESS:
        return "CUSPARSE_STATUS_SUCCESS";
    case CUSPARSE_STATUS_NOT_INITIALIZED:
        return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case CUSPARSE_STATUS_ALLOC_FAILED:
        return "CUSPARSE_STATUS_ALLOC_FAILED";
    case CUSPARSE_STATUS_INVALID_VALUE:
        return "CUSPARSE_STATUS_INVALID_VALUE";
    case CUSPARSE_STATUS_EXECUTION_FAILED:
        return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case CUSPARSE_STATUS_NOT_SUPPORTED:
        return "CUSPARSE_STATUS_NOT_SUPPORTED";
    default:
        return "an error of cuSPARSE";
    }
}

cusparseStatus_t finish(const char* name, cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) emulatorLibraryFailed(name, status_name(status));
    return status;
}

namespace {

bool is_index(cusparseIndexType_t type) {
    return type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

template <class Descriptor>
cusparseStatus_t make_csr(const char* name, Descriptor* to, const cusparseSpMatDescr& matrix) {
    if (!to || matrix.rows < 0 || matrix.columns < 0 || matrix.nonzeros < 0 ||
        !is_index(matrix.offset_type) || !is_index(matrix.index_type))
        return finish(name, CUSPARSE_STATUS_INVALID_VALUE);
    auto* made = new cusparseSpMatDescr(matrix);
    matrices().add(made);
    *to = made;
    return CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor>
cusparseStatus_t make_vector(const char* name, Descriptor* to, const cusparseDnVecDescr& vector) {
    if (!to || vector.size < 0) return finish(name, CUSPARSE_STATUS_INVALID_VALUE);
    auto* made = new cusparseDnVecDescr(vector);
    vectors().add(made);
    *to = made;
    return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace sparse

using namespace sparse;

STAND_IN_API cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
    if (!handle) return finish("cusparseCreate", CUSPARSE_STATUS_INVALID_VALUE);
    stand_in::note_creation("cusparseCreate", "handle");
    if (cudaFree(nullptr) != cudaSuccess)
        return finish("cusparseCreate", CUSPARSE_STATUS_NOT_INITIALIZED);
    *handle = handles().add(new cusparseContext);
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    if (!handles().remove(handle))
        return finish("cusparseDestroy", CUSPARSE_STATUS_NOT_INITIALIZED);
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    if (!handles().has(handle)) return finish("cusparseSetStream", CUSPARSE_STATUS_NOT_INITIALIZED);
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
    if (!handles().has(handle)) return finish("cusparseGetStream", CUSPARSE_STATUS_NOT_INITIALIZED);
    if (!stream) return finish("cusparseGetStream", CUSPARSE_STATUS_INVALID_VALUE);
    *stream = handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                                     cusparsePointerMode_t mode) {
    if (!handles().has(handle))
        return finish("cusparseSetPointerMode", CUSPARSE_STATUS_NOT_INITIALIZED);
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle,
                                                     cusparsePointerMode_t* mode) {
    if (!handles().has(handle))
        return finish("cusparseGetPointerMode", CUSPARSE_STATUS_NOT_INITIALIZED);
    if (!mode) return finish("cusparseGetPointerMode", CUSPARSE_STATUS_INVALID_VALUE);
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
    if (!handles().has(handle))
        return finish("cusparseGetVersion", CUSPARSE_STATUS_NOT_INITIALIZED);
    if (!version) return finish("cusparseGetVersion", CUSPARSE_STATUS_INVALID_VALUE);
    *version = 12600;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API const char* cusparseGetErrorName(cusparseStatus_t status) {
    return status_name(status);
}
STAND_IN_API const char* cusparseGetErrorString(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_SUCCESS ? "success" : status_name(status);
}

STAND_IN_API cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                int64_t cols, int64_t nnz, void* offsets,
                                                void* columns, void* values,
                                                cusparseIndexType_t offset_type,
                                                cusparseIndexType_t column_type,
                                                cusparseIndexBase_t base, cudaDataType type) {
    return make_csr(
        "cusparseCreateCsr",
        matrix,
        {rows, cols, nnz, offsets, columns, values, offset_type, column_type, base, type});
}
STAND_IN_API cusparseStatus_t cusparseCreateConstCsr(
    cusparseConstSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz, const void* offsets,
    const void* columns, const void* values, cusparseIndexType_t offset_type,
    cusparseIndexType_t column_type, cusparseIndexBase_t base, cudaDataType type) {
    return make_csr(
        "cusparseCreateConstCsr",
        matrix,
        {rows, cols, nnz, offsets, columns, values, offset_type, column_type, base, type});
}
STAND_IN_API cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets,
                                                     void* columns, void* values) {
    if (!matrices().has(matrix))
        return finish("cusparseCsrSetPointers", CUSPARSE_STATUS_INVALID_VALUE);
    matrix->offsets = offsets;
    matrix->indexes = columns;
    matrix->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
    if (!matrices().remove(matrix))
        return finish("cusparseDestroySpMat", CUSPARSE_STATUS_INVALID_VALUE);
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

STAND_IN_API cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size,
                                                  void* values, cudaDataType type) {
    return make_vector("cusparseCreateDnVec", vector, {size, values, type});
}
STAND_IN_API cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector,
                                                       int64_t size, const void* values,
                                                       cudaDataType type) {
    return make_vector("cusparseCreateConstDnVec", vector, {size, const_cast<void*>(values), type});
}
STAND_IN_API cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
    if (!vectors().has(vector))
        return finish("cusparseDnVecSetValues", CUSPARSE_STATUS_INVALID_VALUE);
    vector->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
STAND_IN_API cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
    if (!vectors().remove(vector))
        return finish("cusparseDestroyDnVec", CUSPARSE_STATUS_INVALID_VALUE);
    delete vector;
    return CUSPARSE_STATUS_SUCCESS;
}

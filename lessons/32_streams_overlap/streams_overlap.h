// SPDX-License-Identifier: MIT
// Lesson 32, streams: what streams_overlap.cu implements and the test calls.
//
// A detector's samples are made linear: a sample x becomes the y with x = y + y^3 / 4. The samples
// are in host memory, and so are the results. n is the number of samples, 0 to 2^28; for n = 0
// nothing is queued. `chunk` is the number of samples in a chunk, 1 to 2^28; the last chunk may be
// shorter. If chunk >= n, there is only one.
//
// d_ marks device memory. "Pinned" host memory is that of cudaMallocHost. The arrays of one call do
// not overlap, and inputs are not changed. A call that fails throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// Makes n >= 1 samples at d_data linear, in place: one kernel in `stream`. This function is given.
void launch_linearize(float* d_data, int n, cudaStream_t stream);

// Uploads n samples, makes them linear and downloads the results, one after the other, in `stream`.
// in and out are pinned, d_data has n floats. Returns when `out` is complete. This function is
// given.
void linearize_serial(const float* in, float* out, float* d_data, int n, cudaStream_t stream);

// The least time of the three steps for `chunks` equal chunks. up, kernel and down are the times of
// the steps for all chunks together. The steps of one chunk run one after the other, and each step
// processes one chunk at a time. chunks >= 1; times are 0 or more, in any unit.
double pipeline_time(double up, double kernel, double down, int chunks);

// The same result as linearize_serial, chunk by chunk. All work is queued in these streams, which
// take the chunks in turn. The host waits only when all chunks are queued, and only for these
// streams: other streams of the program may work for a long time. Returns when `out` is complete.
// in and out are pinned, d_data has n floats. The streams are idle, and none is the default stream;
// stream_count is 1 or more.
void linearize_chunks(const float* in, float* out, float* d_data, int n, int chunk,
                      const cudaStream_t* streams, int stream_count);

// The resources that a chunk needs while it is uploaded, computed and downloaded.
struct Stage {
    cudaStream_t stream;  // does not wait for the default stream
    float* in;            // pinned: `chunk` samples that are uploaded from here
    float* out;           // pinned: `chunk` results that are downloaded to here
    float* d_data;        // `chunk` floats of device memory
    cudaEvent_t done;     // recorded after the download
};

// Creates `count` stages for chunks of `chunk` samples. The old contents of stages[s] are not used.
void make_stages(Stage* stages, int count, int chunk);

// Frees everything that make_stages has created.
void free_stages(Stage* stages, int count);

// The same result from and to ordinary memory, through the buffers of the stages: chunk k uses
// stages[k % count]. Nothing else is allocated, pinned or registered. The host waits for one stage
// at a time, with its `done`: before it uses the stage again, and at the end. The stages are idle
// and were created for this `chunk`; count is 1 or more.
void linearize_staged(const float* in, float* out, int n, int chunk, const Stage* stages,
                      int count);

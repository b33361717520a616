// SPDX-License-Identifier: MIT
// The host touches managed and pinned memory right behind asynchronous work, and may: it has waited
// for the right thing, or these bytes are not in use.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void square(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

__global__ void square_and_tell(int* x, int n, volatile int* flag) {
    int i = threadIdx.x;
    if (i < n) x[i] *= x[i];
    __threadfence_system();
    __syncthreads();
    if (i == 0) *flag = 1;
}

static int check(bool good, int number) {
    if (!good) std::printf("step %d is wrong\n", number);
    return good ? 0 : 1;
}

// twin: race-global
// Double buffering: each half is written again only when the event behind its upload has passed.
static int double_buffering(cudaStream_t stream) {
    const int n = 600, steps = 6;
    int *staging, *device, *out;
    cudaEvent_t sent[2];
    cudaMallocHost(&staging, 2 * n * sizeof(int));
    cudaMalloc(&device, steps * n * sizeof(int));
    cudaMallocHost(&out, steps * n * sizeof(int));
    for (cudaEvent_t& event : sent) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (int step = 0; step < steps; ++step) {
        int* half = staging + step % 2 * n;
        cudaEventSynchronize(sent[step % 2]);
        for (int i = 0; i < n; ++i) half[i] = step * n + i;
        cudaMemcpyAsync(device + step * n, half, n * sizeof(int), cudaMemcpyHostToDevice, stream);
        cudaEventRecord(sent[step % 2], stream);
    }
    cudaMemcpyAsync(out, device, steps * n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    int wrong = 0;
    for (int i = 0; i < steps * n; ++i) wrong += out[i] != i;
    for (cudaEvent_t event : sent) cudaEventDestroy(event);
    cudaFreeHost(staging);
    cudaFreeHost(out);
    cudaFree(device);
    return check(wrong == 0, 1);
}

// twin: race-global
// Two streams on two thirds of one small array, the host on the last one, all in one page.
static int three_parts(cudaStream_t one, cudaStream_t two) {
    const int n = 100;
    int* x;
    cudaMallocManaged(&x, 3 * n * sizeof(int));
    for (int i = 0; i < 3 * n; ++i) x[i] = i;
    square<<<1, 128, 0, one>>>(x, n);
    square<<<1, 128, 0, two>>>(x + n, n);
    for (int i = 2 * n; i < 3 * n; ++i) x[i] *= x[i];
    char line[400];
    std::memcpy(line, x + 2 * n, sizeof line);
    cudaStreamSynchronize(one);
    int wrong = x[n - 1] != (n - 1) * (n - 1);
    cudaStreamSynchronize(two);
    for (int i = 0; i < 3 * n; ++i) wrong += x[i] != i * i;
    cudaFree(x);
    return check(wrong == 0, 2);
}

// twin: race-global
// A host function of the stream reads what the kernel before it wrote, and then tells the program.
struct Box {
    int* x;
    int sum = 0;
    std::atomic<bool> done{false};
};
static int callbacks(cudaStream_t stream) {
    const int n = 1000;
    Box box, other;
    cudaMallocManaged(&box.x, n * sizeof(int));
    cudaMallocHost(&other.x, n * sizeof(int));
    for (int i = 0; i < n; ++i) box.x[i] = 2;
    square<<<4, 256, 0, stream>>>(box.x, n);
    cudaMemcpyAsync(other.x, box.x, n * sizeof(int), cudaMemcpyDefault, stream);
    const auto add = [](void* data) {
        Box& b = *static_cast<Box*>(data);
        for (int i = 0; i < n; ++i) b.sum += b.x[i];
        b.done = true;
    };
    cudaLaunchHostFunc(stream, add, &other);
    cudaStreamAddCallback(
        stream,
        [](cudaStream_t, cudaError_t, void* data) { static_cast<Box*>(data)->done = true; },
        &box,
        0);
    while (!box.done || !other.done) std::this_thread::yield();
    const bool good = box.x[n - 1] == 4 && other.x[0] == 4 && other.sum == 4 * n;
    cudaFree(box.x);
    cudaFreeHost(other.x);
    return check(good, 3);
}

// twin: race-global
// read, write, fread and fwrite on the halves that no work uses.
static int files(cudaStream_t stream) {
    const int n = 3000;  // bytes: the halves meet inside of a page
    char *both, *device;
    cudaMallocHost(&both, 2 * n);
    cudaMalloc(&device, n);
    std::memset(both, 'a', n);
    std::memset(both + n, 'b', n);
    std::FILE* file = std::tmpfile();
    std::setvbuf(file, nullptr, _IONBF, 0);
    cudaMemcpyAsync(device, both, n, cudaMemcpyHostToDevice, stream);
    bool good = write(fileno(file), both + n, n) == n;
    good &= std::fwrite(both, 1, n, file) == size_t(n);  // the upload reads it as well
    good &= pread(fileno(file), both + n, n, n) == n;
    std::rewind(file);
    good &= std::fread(both + n, 1, n, file) == size_t(n);
    cudaStreamSynchronize(stream);
    cudaMemcpyAsync(both + n, device, n, cudaMemcpyDeviceToHost, stream);
    good &= pread(fileno(file), both, n, 0) == n && both[0] == 'b';
    good &= std::fwrite(both, 1, n, file) == size_t(n);
    cudaStreamSynchronize(stream);
    good &= both[n] == 'a';
    both[n - 1] = 0;
    cudaMemcpyAsync(both + n, device, n, cudaMemcpyDeviceToHost, stream);
    std::rewind(file);
    good &= std::fputs(both, file) >= 0 && std::ftell(file) == n - 1;
    cudaStreamSynchronize(stream);
    std::fclose(file);
    cudaFreeHost(both);
    cudaFree(device);
    return check(good, 4);
}

// twin: race-global
// Asking until the answer is yes is waiting.
static int polling(cudaStream_t stream) {
    const int n = 5000;
    int* x;
    cudaEvent_t start, done;
    cudaEventCreate(&start);
    cudaEventCreate(&done);
    cudaMallocManaged(&x, n * sizeof(int));
    for (int i = 0; i < n; ++i) x[i] = 3;
    square<<<20, 256, 0, stream>>>(x, n);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    bool good = x[0] == 9;
    square<<<20, 256, 0, stream>>>(x, n);
    cudaEventRecord(done, stream);
    while (cudaEventQuery(done) == cudaErrorNotReady) {
    }
    good &= x[n - 1] == 81;
    cudaEventRecord(start, stream);
    square<<<20, 256, 0, stream>>>(x, n / 2);
    cudaEventRecord(done, stream);
    float ms = 0.0f;
    while (cudaEventElapsedTime(&ms, start, done) == cudaErrorNotReady) {
    }
    good &= x[0] == 81 * 81;
    cudaEventDestroy(start);
    cudaEventDestroy(done);
    cudaFree(x);
    return check(good, 5);
}

// twin: race-global
// Another thread waits, and hands over; a flag in mapped memory says that the kernel is done.
static int threads(cudaStream_t stream) {
    const int n = 128;
    int *x, *flag;
    cudaMallocManaged(&x, n * sizeof(int));
    cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
    *flag = 0;
    for (int i = 0; i < n; ++i) x[i] = 3;
    square<<<1, n, 0, stream>>>(x, n);
    std::thread waits([=] { cudaStreamSynchronize(stream); });
    waits.join();
    bool good = x[5] == 9;
    square_and_tell<<<1, n, 0, stream>>>(x, n, flag);
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    good &= x[6] == 81;
    cudaStreamSynchronize(stream);
    cudaFree(x);
    cudaFreeHost(flag);
    return check(good, 6);
}

// twin: race-global
// Calls that return only when the work before them is done; and what was launched, but has other
// memory.
static int blocking_calls() {
    const int n = 2000;
    int *x, *y, *device, plain[16];
    cudaMallocManaged(&x, n * sizeof(int));
    cudaMallocManaged(&y, n * sizeof(int));
    cudaMalloc(&device, n * sizeof(int));
    for (int i = 0; i < n; ++i) x[i] = y[i] = 2;
    cudaMemset(device, 0, n * sizeof(int));
    square<<<8, 256>>>(x, n);
    y[0] = 5;
    cudaMemcpy(plain, device, sizeof plain, cudaMemcpyDeviceToHost);
    bool good = x[0] == 4 && y[0] == 5;
    square<<<8, 256>>>(x, n);
    cudaMemcpyAsync(plain, device, sizeof plain, cudaMemcpyDeviceToHost);  // to pageable memory
    good &= x[1] == 16;
    square<<<8, 256>>>(x, n);
    cudaMemset(y, 0, n * sizeof(int));  // of managed memory
    good &= x[2] == 256 && y[0] == 0;
    square<<<8, 256>>>(device, n);
    cudaFree(device);
    cudaMemcpy(y, x, n * sizeof(int), cudaMemcpyDefault);
    good &= y[3] == 256;
    for (int i = 0; i < n; ++i) x[i] = 2;
    cudaFree(x);
    cudaFree(y);
    return check(good, 7);
}

// twin: race-global
// Many small pieces of managed memory; the host goes on with those that no kernel has got.
static int lists(cudaStream_t stream) {
    const int pieces = 200;
    int* piece[pieces];
    for (int i = 0; i < pieces; ++i) {
        cudaMallocManaged(&piece[i], 8 * sizeof(int));
        for (int j = 0; j < 8; ++j) piece[i][j] = 1;
    }
    int sum = 0;
    for (int i = 0; i + 1 < pieces; ++i) {
        square<<<1, 8, 0, stream>>>(piece[i], 8);
        piece[i + 1][0] += i;
        sum += piece[i + 1][7];
    }
    cudaStreamSynchronize(stream);
    const bool good = sum == pieces - 1 && piece[1][0] == 1 && piece[5][0] == 25;
    for (int* p : piece) cudaFree(p);
    return check(good, 8);
}

int main() {
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    int failures = double_buffering(one) + three_parts(one, two) + callbacks(two) + files(one) +
                   polling(one) + blocking_calls() + lists(one) + threads(two);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    return failures;
}

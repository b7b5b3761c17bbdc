/* SPDX-License-Identifier: MIT
 *
 * C++ over the same locks: the library's mutexes, conditions, threads and futures; exceptions and
 * cancellation unwind through the wrappers, and destructors run.
 */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>

static std::mutex mutex;
static std::condition_variable condition;
static int n_destroyed;
static int fds[2];

struct counted {
    ~counted()
    {
        n_destroyed++;
    }
};

static void *wait_for_cancel(void *how)
{
    counted here;
    std::unique_lock<std::mutex> lock(mutex);
    if (how)
        condition.wait(lock, [] { return false; });
    lock.unlock();
    char byte;
    (void)!read(fds[0], &byte, 1);
    return nullptr;
}

static void *throw_and_catch(void *)
{
    try {
        std::lock_guard<std::mutex> lock(mutex);
        counted here;
        throw std::runtime_error("thrown");
    } catch (const std::runtime_error &error) {
        puts(error.what());
    }
    return nullptr;
}

static void cancel(void *how)
{
    pthread_t thread;
    void *value;
    pthread_create(&thread, nullptr, wait_for_cancel, how);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pthread_cancel(thread);
    pthread_join(thread, &value);
    printf("cancelled %d, destroyed %d, free %d\n", value == PTHREAD_CANCELED, n_destroyed,
           mutex.try_lock());
    mutex.unlock();
}

int main()
{
    if (pipe(fds) != 0)
        return 1;
    cancel(nullptr);
    cancel(&mutex);
    pthread_t thread;
    pthread_create(&thread, nullptr, throw_and_catch, nullptr);
    pthread_join(thread, nullptr);
    std::timed_mutex timed;
    std::recursive_mutex recursive;
    std::shared_mutex shared;
    timed.lock();
    printf("timed %d\n", std::async(std::launch::async, [&] {
                             return timed.try_lock_for(std::chrono::milliseconds(2));
                         }).get());
    recursive.lock();
    recursive.lock();
    shared.lock_shared();
    printf("shared %d %d\n", shared.try_lock_shared(), shared.try_lock());
    std::unique_lock<std::mutex> lock(mutex);
    printf("wait %d\n",
           condition.wait_for(lock, std::chrono::milliseconds(2)) == std::cv_status::timeout);
    printf("destroyed %d\n", n_destroyed);
    return 0;
}

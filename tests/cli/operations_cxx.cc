// SPDX-License-Identifier: MIT
//
// Waits of the C++ library: it stands between the program and the C library.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;

__attribute__((noinline)) static void wait_here()
{
    std::unique_lock<std::mutex> lock(mutex);
    (void)condition.wait_for(lock, std::chrono::milliseconds(1));
    __asm__ volatile("");
}

__attribute__((noinline)) static void wait_long_here()
{
    bool is_woken = false;
    std::thread other([&] {
        const std::lock_guard<std::mutex> lock(mutex);
        is_woken = true;
        condition.notify_one();
    });
    std::unique_lock<std::mutex> lock(mutex);
    while (!is_woken)
        condition.wait(lock);
    lock.unlock();
    other.join();
    __asm__ volatile("");
}

int main()
{
    wait_here();
    wait_long_here();
    return 0;
}

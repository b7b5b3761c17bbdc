// SPDX-License-Identifier: MIT
//
// Programs that run when they begin to be recorded.
// usage: attached tree|mutex|shared|deep SECONDS
//   tree: a master with two workers, and later ones: short, and one that runs another program
//   mutex: a pool of workers, and a thread that holds their mutex for 30 ms again and again
//   shared: likewise, with a std::shared_mutex
//   deep: waits below a large frame, most of which is never written

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono;

static std::mutex table_mutex;
static std::shared_mutex index_mutex;
static steady_clock::time_point over;
static volatile unsigned long sink;

static bool is_over()
{
    return steady_clock::now() >= over;
}

__attribute__((noinline)) void burn(milliseconds time)
{
    const auto end = steady_clock::now() + time;
    while (steady_clock::now() < end)
        sink = sink + 1;
}

// ---- processes

__attribute__((noinline)) void serve_child(milliseconds time)
{
    const auto end = steady_clock::now() + time;
    while (steady_clock::now() < end && !is_over()) {
        burn(milliseconds(3));
        std::this_thread::sleep_for(milliseconds(2));
    }
}

static pid_t start(milliseconds time, const char *program)
{
    const pid_t pid = fork();
    if (pid == 0 && program) {
        execl(program, program, "child", "400", static_cast<char *>(nullptr));
        _exit(9);
    }
    if (pid == 0) {
        serve_child(time);
        _exit(0);
    }
    return pid;
}

static void run_tree(const char *program)
{
    start(hours(1), nullptr);
    start(hours(1), nullptr);
    std::puts("ready");
    std::fflush(stdout);
    for (int k = 0; !is_over(); k++) {
        std::this_thread::sleep_for(milliseconds(100));
        if (k % 5 == 4)
            start(milliseconds(100), k % 10 == 9 ? program : nullptr);
        while (waitpid(-1, nullptr, WNOHANG) > 0)
            ;
    }
    while (wait(nullptr) > 0)
        ;
}

// ---- threads

__attribute__((noinline)) void rebuild_index()
{
    burn(milliseconds(30));
}

__attribute__((noinline)) void flush_table()
{
    std::lock_guard<std::mutex> guard(table_mutex);
    rebuild_index();
}

__attribute__((noinline)) void lookup(int key)
{
    std::lock_guard<std::mutex> guard(table_mutex);
    sink = sink + static_cast<unsigned long>(key);
}

__attribute__((noinline)) void write_index()
{
    std::unique_lock<std::shared_mutex> guard(index_mutex);
    rebuild_index();
}

__attribute__((noinline)) void read_index(int key)
{
    std::shared_lock<std::shared_mutex> guard(index_mutex);
    sink = sink + static_cast<unsigned long>(key);
}

static void flusher(bool is_shared)
{
    while (!is_over()) {
        std::this_thread::sleep_for(milliseconds(150));
        if (is_shared)
            write_index();
        else
            flush_table();
    }
}

static void worker(bool is_shared)
{
    for (int k = 0; !is_over(); k++) {
        burn(microseconds(200) < milliseconds(1) ? milliseconds(1) : milliseconds(2));
        if (is_shared)
            read_index(k);
        else
            lookup(k);
        std::this_thread::sleep_for(milliseconds(2));
    }
}

// Larger than what is copied of each stack.
__attribute__((noinline)) int wait_below(int n)
{
    volatile char large[24 << 10];
    large[sizeof large - 1] = static_cast<char>(n);
    std::this_thread::sleep_for(milliseconds(2));
    return large[sizeof large - 1];
}

__attribute__((noinline)) int event_loop()
{
    int n = 0;
    while (!is_over())
        n += wait_below(n) + 1;
    return n;
}

static void own_name()
{
    prctl(PR_SET_NAME, "housekeeper");
    while (!is_over())
        std::this_thread::sleep_for(milliseconds(20));
}

static void run_threads(bool is_shared)
{
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; k++)
        threads.emplace_back(worker, is_shared);
    threads.emplace_back(flusher, is_shared);
    threads.emplace_back(own_name);
    threads.emplace_back([] {
        while (!is_over())
            std::this_thread::sleep_for(milliseconds(10));
    });
    std::puts("ready");
    std::fflush(stdout);
    for (auto &thread : threads)
        thread.join();
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    const double amount = argc > 2 ? std::atof(argv[2]) : 1;
    const double scale = mode == "child" ? 1e-3 : 1;
    over = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(amount * scale));
    if (mode == "tree")
        run_tree(argv[0]);
    else if (mode == "child")
        serve_child(hours(1));
    else if (mode == "deep") {
        std::puts("ready");
        std::fflush(stdout);
        sink = sink + static_cast<unsigned long>(event_loop());
    } else if (mode == "mutex" || mode == "shared")
        run_threads(mode == "shared");
    else
        return 2;
    return 0;
}

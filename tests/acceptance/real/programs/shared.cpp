/* SPDX-License-Identifier: MIT
 *
 * Readers look routes up; a thread replaces the table, and holds the lock while it parses. */
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using std::chrono::milliseconds;
using std::chrono::steady_clock;

static std::shared_mutex routes_lock;
static std::map<int, int> routes;
static std::atomic<bool> is_over;

__attribute__((noinline)) static void parse_routes()
{
    const auto end = steady_clock::now() + milliseconds(25);
    for (volatile unsigned i = 0; steady_clock::now() < end;)
        i = i + 1;
}

__attribute__((noinline)) static void replace_routes(bool is_broken)
{
    if (!is_broken)
        parse_routes();
    std::unique_lock<std::shared_mutex> guard(routes_lock);
    if (is_broken)
        parse_routes();
    routes[1]++;
}

__attribute__((noinline)) static int find_route(int key)
{
    std::shared_lock<std::shared_mutex> guard(routes_lock);
    const auto found = routes.find(key);
    return found == routes.end() ? 0 : found->second;
}

static void serve()
{
    for (int i = 0; !is_over; i++) {
        for (volatile unsigned k = 0; k < 20000;)
            k = k + 1;
        (void)find_route(i);
        std::this_thread::sleep_for(milliseconds(1));
    }
}

int main(int argc, char **argv)
{
    const bool is_broken = argc < 2 || std::strcmp(argv[1], "--healthy") != 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(serve);
    const auto end = steady_clock::now() + milliseconds(3000);
    while (steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(200));
        replace_routes(is_broken);
    }
    is_over = true;
    for (auto &thread : threads)
        thread.join();
}

// SPDX-License-Identifier: MIT
//
// A program whose functions are inlined into each other: templates, lambdas, containers, cold parts.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace deep {
template <int N> struct Step {
    static long work(long x) { return Step<N - 1>::work(x * 3 + N) ^ x; }
};
template <> struct Step<0> {
    static long work(long x) { return x + 1; }
};
} // namespace deep

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};

static inline int clamp_to(int value, int most)
{
    if (__builtin_expect(value > most, 0)) {
        std::fprintf(stderr, "too large: %d\n", value);
        return most;
    }
    return value;
}

__attribute__((noinline)) static int sum(const std::vector<int> &values)
{
    return std::accumulate(values.begin(), values.end(), 0,
                           [](int a, int b) { return a + clamp_to(b, 1000); });
}

int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> by_name;
    for (int k = 0; k < 100; k++)
        by_name[std::string(argv[0]) + std::to_string(k % 7)].push_back(k * argc);
    long total = 0;
    for (auto &entry : by_name) {
        std::sort(entry.second.begin(), entry.second.end(), [](int a, int b) { return b < a; });
        try {
            total += sum(entry.second) + deep::Step<8>::work(entry.second.at(3));
        } catch (const std::exception &error) {
            std::puts(error.what());
        }
    }
    const Shape *shape = new Square(static_cast<double>(total));
    std::printf("%ld %f\n", total, shape->area());
    delete shape;
    return 0;
}

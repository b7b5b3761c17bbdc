/* SPDX-License-Identifier: MIT
 *
 * Rounds a value once, to three digits, before its unit is chosen, so that 999.6 us reads as 1 ms.
 * Text, SVG and sentences in JSON take their numbers from here.
 */
#include "render/human.h"

#include "render/put.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct step {
    const char *name;
    double size;
};

/* Three significant digits: 1.04, 85.2, 357. */
static struct weft_human three_digits(double value, const char *unit)
{
    struct weft_human out;
    int n_decimals = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(out.text, sizeof out.text, "%.*f%s%s", n_decimals, value, *unit ? " " : "", unit);
    return out;
}

/* The largest step that does not exceed `value` once rounded to three digits. */
static struct weft_human in_steps(double value, const struct step *steps, size_t n_steps)
{
    size_t i = 0;
    while (i + 1 < n_steps && value >= steps[i + 1].size * 0.9995)
        i++;
    return three_digits(value / steps[i].size, steps[i].name);
}

struct weft_human weft_human_ns(uint64_t value_ns)
{
    static const struct step steps[] = { { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    struct weft_human out;
    if (value_ns >= UINT64_C(7200000000000))
        return three_digits((double)value_ns / 3.6e12, "h");
    if (value_ns >= UINT64_C(999500000000))
        return three_digits((double)value_ns / 6e10, "min");
    if (value_ns >= 1000)
        return in_steps((double)value_ns, steps, sizeof steps / sizeof *steps);
    snprintf(out.text, sizeof out.text, "%" PRIu64 " ns", value_ns);
    return out;
}

struct weft_human weft_human_at(uint64_t at_ns)
{
    struct weft_human out;
    char *to = weft_put_u64(out.text, at_ns / 1000000000);
    *to++ = '.';
    for (uint64_t rest = at_ns % 1000000000, unit = 100000000; unit >= 1000; unit /= 10)
        *to++ = (char)('0' + rest / unit % 10);
    memcpy(to, " s", sizeof " s");
    return out;
}

struct weft_human weft_human_bytes(uint64_t n_bytes)
{
    static const struct step steps[] = {
        { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 }
    };
    struct weft_human out;
    if (n_bytes >= 1000)
        return in_steps((double)n_bytes, steps, sizeof steps / sizeof *steps);
    snprintf(out.text, sizeof out.text, "%" PRIu64 " B", n_bytes);
    return out;
}

struct weft_human weft_human_count(uint64_t count)
{
    struct weft_human out;
    char digits[20];
    size_t n_digits = (size_t)(weft_put_u64(digits, count) - digits);
    size_t at = 0;
    for (size_t i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

struct weft_human weft_human_plural(uint64_t count, const char *what)
{
    struct weft_human out;
    (void)snprintf(out.text, sizeof out.text, "%.26s %.18s%s", weft_human_count(count).text, what,
                   count == 1 ? "" : "s");
    return out;
}

struct weft_human weft_human_rough_count(uint64_t count)
{
    static const struct step steps[] = { { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { "T", 1e12 } };
    if (count < 10000)
        return weft_human_count(count);
    return in_steps((double)count, steps, sizeof steps / sizeof *steps);
}

struct weft_human weft_human_share(double share)
{
    struct weft_human out;
    double percent = share * 100;
    if (percent > 0 && percent < 0.001)
        return (struct weft_human){ .text = "<0.001 %" };
    if (percent > 0 && percent < 100)
        return three_digits(percent, "%");
    snprintf(out.text, sizeof out.text, "%.0f %%", percent);
    return out;
}

struct weft_human weft_human_ratio(double ratio)
{
    if (!isfinite(ratio) || ratio < 0)
        return (struct weft_human){ .text = "-" };
    if (ratio >= 999.5)
        return weft_human_count((uint64_t)(ratio + 0.5));
    return three_digits(ratio, "");
}

struct weft_human weft_human_p(double p)
{
    struct weft_human out;
    if (p < 0.001)
        return (struct weft_human){ .text = "p < 0.001" };
    (void)snprintf(out.text, sizeof out.text, "p = %.3f", p);
    return out;
}

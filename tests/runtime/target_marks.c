/* SPDX-License-Identifier: MIT
 *
 * One mark of each kind, and what the program knows of being recorded. Compiled as C and as C++,
 * into executables of every kind.
 */
#include <stdio.h>
#include <weft/mark.h>

int main(void)
{
    char text[601];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    weft_mark_thread_name("a name of more than fifteen bytes");
    weft_mark_begin("request", 7);
    weft_mark_metric(7, "bytes", 4096.5);
    weft_mark_instant("instant");
    weft_mark_counter("counter", -0.25);
    weft_mark_task_queued("queue", 1);
    weft_mark_task_begin("queue", 1);
    weft_mark_task_end("queue", 1);
    weft_mark_snapshot("why");
    weft_mark_instant("");
    weft_mark_instant(text);
    weft_mark_end("request", ~UINT64_C(0));
    printf("%d\n", weft_mark_is_recorded());
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * What records of the kernel become: the events that other formats of kernels become, by the same
 * means (kernel/convert.h).
 */
#include "base/vec.h"
#include "ingest/recording/kernel.h"
#include "kernel/bytes.h"

#include <stdio.h>
#include <xxhash.h>

/* Fields as kernel/known.c has them. */
static void known_set(struct kernel_known *known, enum kernel_meaning meaning, uint32_t n_fields,
                      struct weft_str name)
{
    *known = (struct kernel_known){ .meaning = (uint8_t)meaning, .name = name };
    for (uint32_t k = 0; k < KERNEL_FIELDS; k++)
        known->fields[k] = k < n_fields ? k : KERNEL_NO_FIELD;
}

void rec_known_init(struct rec_kernel *kernel)
{
    struct kernel_known *known = kernel->known;
    for (size_t k = 0; k < WEFT_KERNEL_TYPES; k++)
        known_set(&known[k], KERNEL_MEANS_INSTANT, 0, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_SWITCH], KERNEL_MEANS_SWITCH, 5, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_WAKING], KERNEL_MEANS_WAKING, 2, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_WOKEN_NEW], KERNEL_MEANS_WOKEN, 2, WEFT_STR(""));
    known[WEFT_KERNEL_WOKEN_NEW].subtype = 1;
    known_set(&known[WEFT_KERNEL_FORK], KERNEL_MEANS_FORK, 3, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_EXIT], KERNEL_MEANS_EXIT, 0, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_TASK], KERNEL_MEANS_PROCESS, 3, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_IO_ISSUE], KERNEL_MEANS_IO_BEGIN, 5, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_IO_DONE], KERNEL_MEANS_IO_END, 4, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_IRQ_ENTER], KERNEL_MEANS_IRQ_ENTER, 1, WEFT_STR(""));
    known_set(&known[WEFT_KERNEL_IRQ_EXIT], KERNEL_MEANS_IRQ_EXIT, 1, WEFT_STR(""));
}

static uint32_t low(uint64_t word)
{
    return (uint32_t)word;
}

static uint32_t high(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static struct weft_str text_of(const struct rec_cpu *at)
{
    return kernel_text_in(at->payload, at->record.payload_bytes);
}

/* What a thread leaves its CPU in: 0 of one that was preempted. */
static uint32_t state_left(const struct weft_kernel_record *record)
{
    return high(record->a) & 0xff;
}

/* ---- scheduling -------------------------------------------------------------------------------
 */

/* The process of a thread that a record points to. */
static void set_pid(struct rec_kernel *kernel, uint32_t tid, int32_t cpu, uint32_t pid)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    if (!convert->is_survey || tid == 0 || pid == 0)
        return;
    const uint32_t thread = kernel_thread_of(&convert->threads, 0, tid, cpu, true);
    if (thread != WEFT_ID_NONE)
        convert->threads.items[thread].pid = pid;
}

static enum weft_code convert_switch(struct rec_kernel *kernel, struct kernel_now *now,
                                     const struct rec_cpu *at)
{
    now->numbers[0] = at->record.tid;
    now->numbers[1] = low(at->record.a);
    now->numbers[2] = state_left(&at->record);
    now->ran_ns = at->record.a >> WEFT_SWITCH_RAN_HIGH_SHIFT << WEFT_SWITCH_RAN_BITS |
                  at->record.b >> WEFT_SWITCH_RAN_LOW_SHIFT;
    now->texts[4] = text_of(at);
    const enum weft_code code = kernel_convert_event(&kernel->convert->kernel, now);
    set_pid(kernel, low(at->record.a), now->cpu, low(at->record.b));
    return code;
}

static struct weft_str name_of_context(uint32_t context)
{
    switch (context & 0xff) {
    case WEFT_CONTEXT_SOFTIRQ:
        return WEFT_STR("softirq");
    case WEFT_CONTEXT_HARDIRQ:
        return WEFT_STR("irq");
    case WEFT_CONTEXT_TIMER:
        return WEFT_STR("hrtimer");
    default:
        return WEFT_STR("");
    }
}

/* A wakeup from an interrupt stands between the start and end of that, where interrupts are not
 * recorded themselves: so the waker is recorded. */
static enum weft_code put_context(struct rec_kernel *kernel, const struct kernel_now *now,
                                  uint32_t context, enum weft_event_kind kind)
{
    struct weft_event event = kernel_event_of(now, kind);
    if ((context & 0xff) == WEFT_CONTEXT_THREAD || kernel->convert->has_irqs)
        return WEFT_OK;
    event.name = name_of_context(context);
    event.value = context >> WEFT_CONTEXT_NUMBER_SHIFT;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* ---- futexes ----------------------------------------------------------------------------------
 */

static enum weft_code put_call(struct rec_kernel *kernel, const struct kernel_now *now,
                               uint8_t kind, uint64_t time_or_value, uint32_t function)
{
    const struct weft_call_event call = { .time_ns = time_or_value,
                                          .function_key = function,
                                          .kind = kind };
    return kernel_deliver_call(&kernel->convert->kernel, now->thread, &call);
}

static enum weft_code leave_futex(struct rec_kernel *kernel, const struct kernel_now *now)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    struct rec_futex_open *open = rec_futexes_open(&kernel->futexes, now->thread);
    if (!open)
        return kernel_no_memory(convert);
    if (convert->is_survey || !open->since_ns)
        return WEFT_OK;
    open->since_ns = 0;
    if (open->function != REC_KNOWN)
        return put_call(kernel, now, WEFT_CALL_EXIT, now->time_ns, open->function);
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SYSCALL_EXIT);
    event.name = WEFT_STR("futex");
    return kernel_deliver(convert, now->thread, &event);
}

static void put_text(struct weft_json_text *text, const char *key, struct weft_str value)
{
    weft_json_byte(text, text->n_bytes ? ',' : '{');
    weft_json_string(text, key, strlen(key));
    weft_json_byte(text, ':');
    weft_json_string(text, value.bytes, value.n_bytes);
}

/* {"caller": FUNCTION, "callers": "OUTER > INNER"}, the former as the library of operations records
 * where a call comes from. */
static enum weft_code put_caller(struct rec_kernel *kernel, const struct kernel_now *now,
                                 const struct rec_stack_site *site)
{
    struct weft_json_text *text = &kernel->stacks.text;
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_CALL_ARGS);
    const struct weft_str function = rec_stacks_name(&kernel->stacks, site->function),
                          callers = rec_stacks_name(&kernel->stacks, site->callers);
    if (function.n_bytes == 0)
        return WEFT_OK;
    weft_json_reset(text);
    put_text(text, "caller", function);
    if (callers.n_bytes > 0)
        put_text(text, "callers", callers);
    weft_json_byte(text, '}');
    if (text->has_failed)
        return kernel_no_memory(&kernel->convert->kernel);
    event.payload = (struct weft_str){ text->bytes, text->n_bytes };
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

static enum weft_code enter_futex(struct rec_kernel *kernel, const struct kernel_now *now,
                                  const struct rec_futex *futex, const struct rec_stack_site *site)
{
    WEFT_TRY(leave_futex(kernel, now)); /* of one whose end was lost */
    kernel->futexes.open.items[now->thread] =
        (struct rec_futex_open){ .since_ns = now->time_ns + 1, .function = futex->function };
    if (futex->function != REC_KNOWN) {
        WEFT_TRY(put_call(kernel, now, WEFT_CALL_ENTER, now->time_ns, futex->function));
        if (futex->address)
            WEFT_TRY(put_call(kernel, now, WEFT_CALL_ARG, futex->address, futex->function));
        return put_caller(kernel, now, site);
    }
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SYSCALL_ENTER);
    event.name = WEFT_STR("futex");
    event.value = futex->address;
    event.prev_state = futex->operation;
    event.object_id = futex->value;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* A call that was waited in is entered where the wait began (begin_wait); one that wakes is entered
 * here, and left when it has woken. */
static enum weft_code convert_futex(struct rec_kernel *kernel, const struct kernel_now *now,
                                    const struct rec_cpu *at)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    const bool wakes = high(at->record.a) == WEFT_CALL_WAKES;
    const struct kernel_thread *thread = &convert->threads.items[now->thread];
    const uint32_t pid = (uint32_t)(thread->pid ? thread->pid : thread->tid);
    uint32_t index;
    uint64_t left_ns;
    if (!convert->is_survey) {
        const struct rec_futex *futex =
            wakes ? rec_futexes_of(&kernel->futexes, at->payload, pid) : NULL;
        static const struct rec_stack_site nowhere = { WEFT_ID_NONE, WEFT_ID_NONE };
        if (wakes)
            return futex ? enter_futex(kernel, now, futex, &nowhere) : WEFT_OK;
        return leave_futex(kernel, now);
    }
    if (!rec_futexes_meet(&kernel->futexes, &at->record, at->payload, pid, &index) ||
        (!wakes && rec_stacks_left(&kernel->stacks, at->record.tid, &left_ns) &&
         !rec_futexes_wait(&kernel->futexes, at->record.tid, left_ns, index)))
        return kernel_no_memory(convert);
    return WEFT_OK;
}

static enum weft_code convert_wakeup(struct rec_kernel *kernel, struct kernel_now *now,
                                     const struct rec_cpu *at)
{
    const uint32_t context = high(at->record.b);
    now->numbers[0] = low(at->record.a);
    now->numbers[1] = high(at->record.a);
    enum weft_code code = put_context(kernel, now, context, WEFT_EVENT_IRQ_ENTER);
    WEFT_THEN(code, kernel_convert_event(&kernel->convert->kernel, now));
    WEFT_THEN(code, put_context(kernel, now, context, WEFT_EVENT_IRQ_EXIT));
    WEFT_THEN(code, leave_futex(kernel, now));
    set_pid(kernel, low(at->record.a), (int32_t)high(at->record.a), low(at->record.b));
    return code;
}

static enum weft_code convert_irq(struct rec_kernel *kernel, struct kernel_now *now,
                                  const struct rec_cpu *at)
{
    struct kernel_known known = *now->known;
    kernel->convert->has_irqs = true;
    known.name = name_of_context(low(at->record.a));
    now->known = &known;
    now->numbers[0] = at->record.a >> WEFT_CONTEXT_NUMBER_SHIFT;
    return kernel_convert_event(&kernel->convert->kernel, now);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

/* What the program makes is of the program, threads always, processes if they are followed. */
static void inherit(struct rec_kernel *kernel, const struct kernel_now *now, uint32_t tid,
                    uint32_t pid)
{
    const struct rec_convert *convert = kernel->convert;
    struct kernel_threads *threads = &kernel->convert->kernel.threads;
    const uint32_t child = kernel_thread_of(threads, 0, tid, -1, true);
    const struct kernel_thread *parent = &threads->items[now->thread];
    if (child != WEFT_ID_NONE && rec_is_own(convert, parent) &&
        (convert->follows || parent->pid == pid))
        threads->items[child].is_own = true;
}

/* A child of a pid namespace, which will call itself by its number there. False without memory. */
static bool meet_inner(struct rec_kernel *kernel, const struct rec_cpu *at)
{
    const uint64_t key = at->record.payload_bytes >= 24 ? weft_load_u64(at->payload + 16) : 0;
    bool is_new;
    if (key == 0)
        return true;
    const uint32_t place = weft_map_add(kernel->inner_of, key, &is_new);
    if (place == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&kernel->inners)))
        return false;
    kernel->inners.items[place] =
        (struct rec_inner){ .pid = high(at->record.a), .tid = low(at->record.a) };
    return true;
}

static enum weft_code convert_fork(struct rec_kernel *kernel, struct kernel_now *now,
                                   const struct rec_cpu *at)
{
    kernel->convert->has_forks = true;
    now->numbers[0] = low(at->record.a);
    now->numbers[1] = high(at->record.a);
    now->texts[2] =
        kernel_text_in(at->payload, at->record.payload_bytes < 16 ? at->record.payload_bytes : 16);
    const enum weft_code code = kernel_convert_event(&kernel->convert->kernel, now);
    if (code != WEFT_OK || !kernel->convert->kernel.is_survey)
        return code;
    inherit(kernel, now, low(at->record.a), high(at->record.a));
    return meet_inner(kernel, at) ? WEFT_OK : kernel_no_memory(&kernel->convert->kernel);
}

static enum weft_code convert_task(struct rec_kernel *kernel, struct kernel_now *now,
                                   const struct rec_cpu *at)
{
    now->numbers[0] = low(at->record.a);
    now->numbers[1] = high(at->record.a);
    now->texts[2] = text_of(at);
    const enum weft_code code = kernel_convert_event(&kernel->convert->kernel, now);
    if (code != WEFT_OK || now->thread == WEFT_ID_NONE ||
        kernel->convert->kernel.threads.items[now->thread].is_foreign)
        return code;
    return kernel_convert_earlier(&kernel->convert->kernel, now, (uint32_t)at->record.b);
}

static enum weft_code rename_thread(struct rec_kernel *kernel, struct kernel_now *now,
                                    const struct rec_cpu *at)
{
    const struct kernel_details details = { .comm = text_of(at) };
    struct rec_convert *convert = kernel->convert;
    struct rec_start *start = rec_start_of(&convert->starts, now->thread);
    if (!start)
        return kernel_no_memory(&convert->kernel);
    start->is_given = true;
    return kernel_thread_details(&kernel->convert->kernel, now->thread, &details);
}

static enum weft_code put_instant(struct rec_kernel *kernel, const struct kernel_now *now,
                                  struct weft_str name, uint64_t value, struct weft_str payload)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_INSTANT);
    event.name = name;
    event.category = WEFT_STR("kernel");
    event.value = value;
    event.payload = payload;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* ---- devices, sockets, calls ------------------------------------------------------------------
 */

static enum weft_code convert_io(struct rec_kernel *kernel, struct kernel_now *now,
                                 const struct rec_cpu *at)
{
    now->numbers[0] = low(at->record.a);
    now->numbers[1] = at->record.b;
    now->numbers[2] = high(at->record.a);
    if (at->record.type == WEFT_KERNEL_IO_ISSUE)
        now->texts[4] = text_of(at);
    return kernel_convert_event(&kernel->convert->kernel, now);
}

static enum weft_code put_packet(struct rec_kernel *kernel, const struct kernel_now *now,
                                 enum weft_event_kind kind, uint32_t flow,
                                 const struct rec_sent *sent)
{
    struct weft_event event = kernel_event_of(now, kind);
    event.name = WEFT_STR("tcp");
    event.object_id = flow;
    event.value = sent->seq | (uint64_t)sent->n_bytes << 32;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* Bytes received are delivered as the sends that they belong to: one event for each send that the
 * bytes are a part of, so that both have one name. */
static enum weft_code convert_packet(struct rec_kernel *kernel, struct kernel_now *now,
                                     const struct rec_cpu *at)
{
    struct rec_sent sent = { .seq = low(at->record.a), .n_bytes = high(at->record.a) };
    enum weft_code code = WEFT_OK;
    bool is_part;
    if (at->record.payload_bytes < sizeof(struct weft_kernel_flow)) {
        kernel->n_unknown++;
        return WEFT_OK;
    }
    const uint32_t flow = rec_packets_flow(
        &kernel->packets, XXH3_64bits(at->payload, sizeof(struct weft_kernel_flow)));
    if (flow == UINT32_MAX)
        return kernel_no_memory(&kernel->convert->kernel);
    if (at->record.type == WEFT_KERNEL_SEND) {
        code = put_packet(kernel, now, WEFT_EVENT_PACKET_SENT, flow, &sent);
        return code != WEFT_OK || rec_packets_send(&kernel->packets, flow, sent.seq, sent.n_bytes)
                   ? code
                   : kernel_no_memory(&kernel->convert->kernel);
    }
    while (code == WEFT_OK && rec_packets_receive(&kernel->packets, flow, low(at->record.a),
                                                  high(at->record.a), &sent, &is_part))
        if (is_part)
            code = put_packet(kernel, now, WEFT_EVENT_PACKET_RECEIVED, flow, &sent);
    return code;
}

/* Only its end is recorded, and only sometimes: a thread was off the CPU in it. Of one that
 * continues, its stack shows all. */
static enum weft_code convert_syscall(struct rec_kernel *kernel, struct kernel_now *now,
                                      const struct rec_cpu *at)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SYSCALL_EXIT);
    char name[16];
    if (rec_futex_is(&at->record))
        return convert_futex(kernel, now, at);
    if (high(at->record.a) != WEFT_CALL_RETURNED)
        return WEFT_OK;
    const int n_name = snprintf(name, sizeof name, "#%u", low(at->record.a));
    event.name = (struct weft_str){ name, n_name > 0 ? (size_t)n_name : 0 };
    event.value = at->record.payload_bytes >= 8 ? weft_load_u64(at->payload) : 0;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* ---- stacks -----------------------------------------------------------------------------------
 */

static enum weft_sample_mode mode_of(const struct weft_kernel_record *record)
{
    return record->a & WEFT_STACK_IN_KERNEL ? WEFT_SAMPLE_IN_KERNEL
           : record->a & WEFT_STACK_IN_USER ? WEFT_SAMPLE_IN_USER
                                            : WEFT_SAMPLE_MODE_UNKNOWN;
}

static enum weft_code put_stack(struct rec_kernel *kernel, const struct kernel_now *now,
                                struct weft_str text, struct weft_str category, uint64_t weight,
                                enum weft_sample_mode mode)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SAMPLE);
    event.prev_state = mode;
    event.name = text;
    event.category = category;
    event.value = weight;
    return kernel_deliver(&kernel->convert->kernel, now->thread, &event);
}

/* Where the thread of the stack made last began. False without memory. */
static bool see_start(struct rec_kernel *kernel, const struct kernel_now *now)
{
    const struct weft_str start = rec_stack_start(&kernel->stacks);
    return start.n_bytes == 0 || rec_starts_see(&kernel->convert->starts, now->thread, start);
}

/* A futex that the thread waited for is called after the function, if it is no variable. */
static bool see_site(struct rec_kernel *kernel, uint32_t tid)
{
    const struct rec_stacks *stacks = &kernel->stacks;
    uint64_t left_ns;
    return stacks->site.function == WEFT_ID_NONE || !rec_stacks_left(stacks, tid, &left_ns) ||
           rec_futexes_see_site(&kernel->futexes, tid, left_ns,
                                weft_strtab_get(stacks->texts, stacks->site.function));
}

/* Waits are made in the survey; of samples a few are enough. */
static enum weft_code look_for_start(struct rec_kernel *kernel, const struct kernel_now *now,
                                     const struct rec_cpu *at)
{
    enum { SAMPLES = 16 };
    struct rec_start *start = rec_start_of(&kernel->convert->starts, now->thread);
    struct weft_str text;
    if (!start)
        return kernel_no_memory(&kernel->convert->kernel);
    if (at->record.tid == (uint32_t)at->record.b || start->n_stacks >= SAMPLES)
        return WEFT_OK;
    start->n_stacks++;
    const uint64_t n_run_out = kernel->stacks.n_run_out; /* it is counted when it is delivered */
    const bool is_good =
        rec_stack_text(&kernel->stacks, &at->record, at->payload, &text) && see_start(kernel, now);
    kernel->stacks.n_run_out = n_run_out;
    return is_good ? WEFT_OK : kernel_no_memory(&kernel->convert->kernel);
}

/* Where a thread wakes another one. */
static enum weft_code convert_waker(struct rec_kernel *kernel, const struct kernel_now *now,
                                    const struct rec_cpu *at)
{
    const struct rec_futex_open *entered = rec_futexes_open(&kernel->futexes, now->thread);
    struct kernel_now call = *now;
    struct weft_str text = { 0 };
    if (!entered || !rec_stack_text(&kernel->stacks, &at->record, at->payload, &text) ||
        (kernel->convert->kernel.is_survey && !see_start(kernel, now)))
        return kernel_no_memory(&kernel->convert->kernel);
    if (entered && entered->since_ns) /* the stack is that of the call */
        call.time_ns = entered->since_ns - 1;
    return text.n_bytes
               ? put_stack(kernel, &call, text, WEFT_STR("wakeup"), 0, WEFT_SAMPLE_MODE_UNKNOWN)
               : WEFT_OK;
}

/* A wait's stack is delivered where the wait began, if that is known. It has no weight: it says
 * where, not how long. */
static enum weft_code convert_stack(struct rec_kernel *kernel, struct kernel_now *now,
                                    const struct rec_cpu *at)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    const uint32_t kind = at->record.a & WEFT_STACK_KIND_MASK;
    const bool is_sample = kind == WEFT_STACK_SAMPLE;
    const uint64_t weight = high(at->record.a) ? high(at->record.a) : 1;
    struct weft_str text = { 0 };
    bool is_met = false;
    if (is_sample && convert->is_survey) {
        WEFT_TRY(look_for_start(kernel, now, at));
        return put_stack(kernel, now, text, text, weight, mode_of(&at->record));
    }
    if (kind == WEFT_STACK_WAKE)
        return convert_waker(kernel, now, at);
    if (!is_sample && !convert->is_survey && rec_stacks_has_left(&kernel->stacks, at->record.tid))
        return WEFT_OK;
    if (!rec_stack_text(&kernel->stacks, &at->record, at->payload, &text))
        return kernel_no_memory(convert);
    if (convert->is_survey && !see_start(kernel, now))
        return kernel_no_memory(convert);
    if (is_sample)
        return put_stack(kernel, now, text, WEFT_STR("cpu-clock"), weight, mode_of(&at->record));
    if (convert->is_survey && !rec_stacks_meet(&kernel->stacks, at->record.tid, text, &is_met))
        return kernel_no_memory(convert);
    if (convert->is_survey && !see_site(kernel, at->record.tid))
        return kernel_no_memory(convert);
    return is_met ? WEFT_OK
                  : put_stack(kernel, now, text, WEFT_STR("wait"), 0, WEFT_SAMPLE_MODE_UNKNOWN);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static enum weft_code convert_of_thread(struct rec_kernel *kernel, struct kernel_now *now,
                                        const struct rec_cpu *at)
{
    switch ((enum weft_kernel_type)at->record.type) {
    case WEFT_KERNEL_WAKING:
    case WEFT_KERNEL_WOKEN_NEW:
        return convert_wakeup(kernel, now, at);
    case WEFT_KERNEL_FORK:
        return convert_fork(kernel, now, at);
    case WEFT_KERNEL_EXEC:
        return put_instant(kernel, now, WEFT_STR("exec"), low(at->record.a), text_of(at));
    case WEFT_KERNEL_EXIT:
        return kernel_convert_event(&kernel->convert->kernel, now);
    case WEFT_KERNEL_RENAMED:
        return rename_thread(kernel, now, at);
    case WEFT_KERNEL_IO_ISSUE:
    case WEFT_KERNEL_IO_DONE:
        return convert_io(kernel, now, at);
    case WEFT_KERNEL_FAULT:
        return put_instant(kernel, now, WEFT_STR("page fault"), at->record.a, WEFT_STR(""));
    case WEFT_KERNEL_SEND:
    case WEFT_KERNEL_RECEIVE:
        return convert_packet(kernel, now, at);
    case WEFT_KERNEL_STACK:
    case WEFT_KERNEL_STACK_COPY:
        return convert_stack(kernel, now, at);
    case WEFT_KERNEL_FRAMES:
        if (!kernel->convert->kernel.is_survey)
            rec_stacks_take_side(&kernel->stacks, &at->record, at->payload);
        return WEFT_OK;
    case WEFT_KERNEL_SYSCALL:
        return convert_syscall(kernel, now, at);
    case WEFT_KERNEL_IRQ_ENTER:
    case WEFT_KERNEL_IRQ_EXIT:
        return convert_irq(kernel, now, at);
    default:
        kernel->n_unknown++;
        return WEFT_OK;
    }
}

/* A record of a thread without an event of it shows that no CPU of ours ran it. */
static enum weft_code find_thread(struct rec_kernel *kernel, struct kernel_now *now, uint32_t tid)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    const struct kernel_details details = { .tid = tid, .has_tid = true };
    struct kernel_cpu *cpu = kernel_cpu_of(&convert->threads, 0, now->cpu);
    if (cpu)
        return kernel_find_thread(convert, now, cpu, &details);
    now->thread = kernel_thread_of(&convert->threads, 0, tid, now->cpu, false);
    return now->thread == WEFT_ID_NONE ? kernel_no_memory(convert) : WEFT_OK;
}

/* Before the switch that begins a wait comes where it is. */
static enum weft_code begin_wait(struct rec_kernel *kernel, struct kernel_now *now,
                                 const struct rec_cpu *at)
{
    const uint32_t tid = at->record.tid;
    if (tid == 0 || state_left(&at->record) == 0)
        return WEFT_OK;
    struct rec_stack_site site;
    const struct weft_str text = rec_stacks_wait(&kernel->stacks, tid, at->record.time_ns, &site);
    const struct rec_futex *futex = rec_futexes_of_wait(&kernel->futexes, tid, at->record.time_ns);
    if (!rec_stacks_leave(&kernel->stacks, tid, at->record.time_ns))
        return kernel_no_memory(&kernel->convert->kernel);
    if (text.n_bytes == 0 && !futex)
        return WEFT_OK;
    enum weft_code code = find_thread(kernel, now, tid);
    if (code == WEFT_OK && text.n_bytes)
        code = put_stack(kernel, now, text, WEFT_STR("wait"), 0, WEFT_SAMPLE_MODE_UNKNOWN);
    kernel->convert->n_futex_waits += futex && futex->function == REC_KNOWN;
    return code == WEFT_OK && futex ? enter_futex(kernel, now, futex, &site) : code;
}

enum weft_code rec_convert_record(struct rec_kernel *kernel, const struct rec_cpu *at)
{
    const uint16_t type = at->record.type;
    struct kernel_now now = {
        .known = &kernel->known[type < WEFT_KERNEL_TYPES ? type : 0],
        .time_ns = kernel_time_since(at->record.time_ns, kernel->convert->zero_ns),
        .cpu = at->cpu < KERNEL_MOST_CPUS ? (int32_t)at->cpu : -1,
        .thread = WEFT_ID_NONE,
    };
    if (type == WEFT_KERNEL_SWITCH) {
        const enum weft_code code = begin_wait(kernel, &now, at);
        return code == WEFT_OK ? convert_switch(kernel, &now, at) : code;
    }
    if (type == WEFT_KERNEL_TASK)
        return convert_task(kernel, &now, at);
    const enum weft_code code = find_thread(kernel, &now, at->record.tid);
    return code == WEFT_OK ? convert_of_thread(kernel, &now, at) : code;
}

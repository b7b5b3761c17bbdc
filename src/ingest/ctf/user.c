/* SPDX-License-Identifier: MIT
 *
 * What events of LTTng-UST mean: calls, locks, the programs and libraries of a process.
 */
#include "base/vec.h"
#include "ingest/ctf/convert.h"

static uint64_t space_of(const struct ctf_convert *convert, const struct ctf_now *now)
{
    const struct kernel_thread *thread = &convert->kernel.threads.items[now->kernel.thread];
    return (uint64_t)now->source->host_id << 32 | (uint32_t)thread->pid;
}

static enum weft_code convert_module(struct ctf_convert *convert, const struct ctf_now *now)
{
    const struct weft_str path = now->kernel.texts[2];
    const bool is_relative = !kernel_has(&now->kernel, 3) || now->kernel.numbers[3] != 0;
    if (convert->kernel.is_survey &&
        !ctf_modules_add(&convert->modules, space_of(convert, now), now->kernel.numbers[0],
                         now->kernel.numbers[1], path, is_relative))
        return kernel_no_memory(&convert->kernel);
    return WEFT_OK;
}

/* The bytes are an array of numbers, or a text of raw bytes. */
static struct weft_str bytes_of(const struct ctf_now *now, const struct ctf_op *op, char *room,
                                size_t n_room)
{
    if (!op || op->kind != CTF_OP_ARRAY)
        return now->kernel.texts[1];
    const struct ctf_value *array = &now->values[op->slot];
    if (op->element_slots != 1 || op[1].kind > CTF_OP_VARINT || array->n > n_room)
        return WEFT_STR("");
    for (size_t k = 0; k < array->n; k++)
        room[k] = (char)now->values[array->first + k].number;
    return (struct weft_str){ room, (size_t)array->n };
}

static enum weft_code convert_build_id(struct ctf_convert *convert, const struct ctf_now *now)
{
    char room[64];
    if (convert->kernel.is_survey &&
        !ctf_modules_build_id(&convert->modules, space_of(convert, now), now->kernel.numbers[0],
                              bytes_of(now, now->known->fields[1], room, sizeof room)))
        return kernel_no_memory(&convert->kernel);
    return WEFT_OK;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static enum weft_code convert_call(struct ctf_convert *convert, const struct ctf_now *now)
{
    struct weft_call_event call = { .time_ns = now->kernel.time_ns, .kind = WEFT_CALL_ENTER };
    if (convert->kernel.is_survey)
        return WEFT_OK;
    enum weft_code code =
        ctf_modules_function(&convert->modules, space_of(convert, now), now->kernel.numbers[0],
                             convert->kernel.sink, &call.function_key, convert->kernel.err);
    struct kernel_thread *thread = &convert->kernel.threads.items[now->kernel.thread];
    uint32_t *place = code == WEFT_OK ? WEFT_VEC_PUSH(&thread->stack) : NULL;
    if (code == WEFT_OK && !place)
        return kernel_no_memory(&convert->kernel);
    if (code != WEFT_OK)
        return code;
    *place = call.function_key;
    return kernel_deliver_call(&convert->kernel, now->kernel.thread, &call);
}

/* An exit without an address is that of the innermost call. */
static enum weft_code convert_return(struct ctf_convert *convert, const struct ctf_now *now)
{
    struct weft_call_event call = { .time_ns = now->kernel.time_ns, .kind = WEFT_CALL_EXIT };
    struct kernel_thread *thread = &convert->kernel.threads.items[now->kernel.thread];
    if (convert->kernel.is_survey)
        return WEFT_OK;
    enum weft_code code = WEFT_OK;
    if (kernel_has(&now->kernel, 0) || thread->stack.n == 0)
        code =
            ctf_modules_function(&convert->modules, space_of(convert, now), now->kernel.numbers[0],
                                 convert->kernel.sink, &call.function_key, convert->kernel.err);
    else
        call.function_key = thread->stack.items[thread->stack.n - 1];
    if (code != WEFT_OK)
        return code;
    size_t depth = thread->stack.n;
    while (depth > 0 && thread->stack.items[depth - 1] != call.function_key)
        depth--;
    if (depth > 0)
        thread->stack.n = depth - 1;
    return kernel_deliver_call(&convert->kernel, now->kernel.thread, &call);
}

/* ---- locks ---------------------------------------------------------------------------------- */

static enum weft_code convert_lock(struct ctf_convert *convert, const struct ctf_now *now)
{
    static const enum weft_event_kind kinds[] = {
        [CTF_MEANS_LOCK_REQUEST] = WEFT_EVENT_LOCK_REQUEST,
        [CTF_MEANS_LOCK_ACQUIRED] = WEFT_EVENT_LOCK_ACQUIRED,
        [CTF_MEANS_LOCK_RELEASED] = WEFT_EVENT_LOCK_RELEASED,
    };
    const uint64_t address = now->kernel.numbers[0];
    struct weft_event event = kernel_event_of(&now->kernel, kinds[now->kernel.known->meaning]);
    if (convert->kernel.is_survey)
        return WEFT_OK;
    event.object_id = weft_map_add(
        convert->objects, address ^ space_of(convert, now) * UINT64_C(0x9e3779b97f4a7c15), NULL);
    if (event.object_id == WEFT_MAP_NONE)
        return kernel_no_memory(&convert->kernel);
    event.name = now->kernel.known->name;
    event.value = address;
    event.prev_state = (uint32_t)now->kernel.numbers[1]; /* what the call returned */
    if (event.kind == WEFT_EVENT_LOCK_ACQUIRED && event.prev_state != 0)
        event.kind = WEFT_EVENT_LOCK_FAILED;
    return kernel_deliver(&convert->kernel, now->kernel.thread, &event);
}

enum weft_code ctf_convert_user(struct ctf_convert *convert, struct ctf_now *now)
{
    switch ((enum ctf_user_meaning)now->kernel.known->meaning) {
    case CTF_MEANS_CALL:
        return convert_call(convert, now);
    case CTF_MEANS_RETURN:
        return convert_return(convert, now);
    case CTF_MEANS_LOCK_REQUEST:
    case CTF_MEANS_LOCK_ACQUIRED:
    case CTF_MEANS_LOCK_RELEASED:
        return convert_lock(convert, now);
    case CTF_MEANS_MODULE:
        return convert_module(convert, now);
    case CTF_MEANS_BUILD_ID:
        return convert_build_id(convert, now);
    default:
        return WEFT_OK;
    }
}

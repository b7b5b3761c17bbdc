/* SPDX-License-Identifier: MIT
 *
 * What else is recorded of an operation's call: from which function it came, and what came of it,
 * as the text of arguments {"caller": NAME, ..., "result": NUMBER or NAME OF AN ERROR}. It is put
 * by until the operation ends; where another call begins before that (of a signal's handler), what
 * is known goes to the store, which gives such a text to the call that was entered last.
 */
#include "base/checked.h"
#include "ingest/recording/deliver.h"
#include "ingest/recording/stacks.h"

#include <errno.h>
#include <string.h>

static void key_put(struct weft_json_text *text, const char *key)
{
    weft_json_byte(text, text->n_bytes ? ',' : '{');
    weft_json_string(text, key, strlen(key));
    weft_json_byte(text, ':');
}

static void number_put(struct weft_json_text *text, const char *key, uint64_t number)
{
    key_put(text, key);
    weft_json_integer(text, number, true);
}

enum { SERIAL_THREAD = 0xffffff }; /* PTHREAD_BARRIER_SERIAL_THREAD in 24 bits */

/* "ETIMEDOUT", or the number of an error without a name. */
static void error_put(struct weft_json_text *text, uint32_t error)
{
    const char *name = error == SERIAL_THREAD ? "PTHREAD_BARRIER_SERIAL_THREAD"
                       : error                ? strerrorname_np((int)error)
                                              : NULL;
    if (!name) {
        number_put(text, "result", error);
        return;
    }
    key_put(text, "result");
    weft_json_string(text, name, strlen(name));
}

void rec_result_begin(struct rec_delivery *delivery, uint32_t key, uint64_t time_ns,
                      uint64_t caller)
{
    struct rec_result *result = &delivery->result;
    const struct weft_str name =
        rec_caller_name(&delivery->convert->names, delivery->source->image, caller);
    weft_json_reset(&result->text);
    result->is_open = true;
    result->key = key;
    result->start_ns = time_ns;
    if (name.n_bytes == 0)
        return;
    key_put(&result->text, "caller");
    weft_json_string(&result->text, name.bytes, name.n_bytes);
}

void rec_result_asked(struct rec_delivery *delivery, uint64_t n_bytes)
{
    number_put(&delivery->result.text, "asked", n_bytes);
}

/* The text belongs to the call that was entered last: that must be with the sink before. */
enum weft_code rec_result_end(struct rec_delivery *delivery)
{
    struct rec_result *result = &delivery->result;
    struct weft_event event = rec_event_of(WEFT_EVENT_CALL_ARGS, result->start_ns);
    result->is_open = false;
    if (result->text.n_bytes == 0)
        return WEFT_OK;
    weft_json_byte(&result->text, '}');
    if (result->text.has_failed)
        return weft_no_memory(delivery->err, "operations");
    event.payload = (struct weft_str){ result->text.bytes, result->text.n_bytes };
    enum weft_code code = rec_flush_calls(delivery);
    WEFT_THEN(code, rec_put_event(delivery, &event));
    return code == WEFT_OK ? rec_flush_events(delivery) : code;
}

/* Where it waited, the kernel may have seen which functions called the caller. */
static void put_callers(struct rec_delivery *delivery)
{
    const struct rec_convert *convert = delivery->convert;
    struct rec_result *result = &delivery->result;
    const struct kernel_thread *known = &convert->kernel.threads.items[delivery->thread->thread];
    if (!convert->stacks || result->text.n_bytes == 0 || result->end_ns <= result->start_ns)
        return;
    const struct weft_str callers = rec_stacks_callers(
        convert->stacks, (uint32_t)known->tid, weft_add_sat_u64(result->start_ns, convert->zero_ns),
        weft_add_sat_u64(result->end_ns, convert->zero_ns));
    if (callers.n_bytes == 0)
        return;
    key_put(&result->text, "callers");
    weft_json_string(&result->text, callers.bytes, callers.n_bytes);
}

/* Is the call that ends here the one that is described? */
static bool is_of(struct rec_delivery *delivery, uint32_t key)
{
    if (!delivery->result.is_open || delivery->result.key != key)
        return false;
    put_callers(delivery);
    return true;
}

enum weft_code rec_result_error(struct rec_delivery *delivery, uint32_t key, uint32_t error)
{
    if (!is_of(delivery, key))
        return WEFT_OK;
    error_put(&delivery->result.text, error);
    return rec_result_end(delivery);
}

enum weft_code rec_result_value(struct rec_delivery *delivery, uint32_t key, int64_t result)
{
    if (!is_of(delivery, key))
        return WEFT_OK;
    if (result < 0 && result >= -4095)
        error_put(&delivery->result.text, (uint32_t)-result);
    else
        number_put(&delivery->result.text, "result", (uint64_t)result);
    return rec_result_end(delivery);
}

enum weft_code rec_result_objects(struct rec_delivery *delivery, uint32_t key, const char *name,
                                  const uint64_t *objects, size_t n_objects)
{
    struct weft_json_text *text = &delivery->result.text;
    if (!is_of(delivery, key))
        return WEFT_OK;
    key_put(text, name);
    weft_json_byte(text, '[');
    for (size_t k = 0; k < n_objects; k++) {
        if (k)
            weft_json_byte(text, ',');
        weft_json_unsigned(text, objects[k]);
    }
    weft_json_byte(text, ']');
    return rec_result_end(delivery);
}

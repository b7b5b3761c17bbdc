/* SPDX-License-Identifier: MIT
 *
 * Builds the folded text of a sample's stack from its call chain, or from the frames that unwind.h
 * found in a copied stack. Results are cached by (version of the address space, mode, addresses). A
 * frame pointer chain that leaves the program is cut there and counted.
 */
#include "ingest/perf/stacks.h"

#include "base/vec.h"
#include "kernel/bytes.h"

#include <stdlib.h>

/* Addresses from here on are no addresses: they say whose the following ones are. */
#define CONTEXT_FIRST ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

/* Of `misc`: whose the instruction of a sample is. */
enum { MISC_CPU_MODE = 7, MISC_KERNEL = 1 };

bool perf_stacks_init(struct perf_stacks *stacks, const struct perf_file *file, bool reads_programs,
                      const char *program_dir, uint64_t memory_bytes)
{
    *stacks = (struct perf_stacks){ .unwinder = perf_unwinder_new(&stacks->symbols, memory_bytes),
                                    .keys = weft_strtab_new(),
                                    .texts = weft_strtab_new() };
    const bool has_symbols = perf_symbols_init(&stacks->symbols, file, reads_programs, program_dir);
    return perf_spaces_init(&stacks->spaces) && has_symbols && stacks->unwinder && stacks->keys &&
           stacks->texts;
}

void perf_stacks_fini(struct perf_stacks *stacks)
{
    perf_unwinder_free(stacks->unwinder);
    perf_symbols_fini(&stacks->symbols);
    perf_spaces_fini(&stacks->spaces);
    free(stacks->frames);
    free(stacks->unwound);
    weft_strtab_free(stacks->keys);
    weft_strtab_free(stacks->texts);
    WEFT_VEC_FINI(&stacks->made);
    weft_json_fini(&stacks->text);
    weft_json_fini(&stacks->key);
}

/* ---- frames -----------------------------------------------------------------------------------
 */

static bool frame_name(struct perf_stacks *stacks, const struct perf_space *space,
                       const struct perf_frame *frame, struct weft_str *name)
{
    if (frame->is_kernel)
        return perf_symbol_in_kernel(&stacks->symbols, frame->address, frame->back, name);
    const struct perf_mapping *mapping = perf_space_find(space, frame->address);
    if (!mapping)
        return perf_symbol_nowhere(&stacks->symbols, frame->address, name);
    return perf_symbol_in_file(&stacks->symbols, mapping->path,
                               frame->address - mapping->begin + mapping->file_off, frame->back,
                               name);
}

static void add_frame(struct perf_frame *frames, size_t *n_frames, uint64_t address, unsigned back,
                      bool is_kernel)
{
    if (*n_frames < PERF_MOST_FRAMES)
        frames[(*n_frames)++] =
            (struct perf_frame){ .address = address, .back = back, .is_kernel = is_kernel };
}

/* Does a chain of frame pointers lead out of the program here? Where a function keeps other things
 * in that register, the kernel follows them: no call returns to what it finds. The instruction that
 * the chain begins with is known without it. */
static bool leads_nowhere(const struct perf_space *space, size_t n_user, uint64_t address)
{
    return n_user > 0 && space->maps.n > 0 && !perf_space_find(space, address);
}

/* The frames of a chain, innermost first. What was walked replaces those of the user. */
static size_t take_frames(struct perf_stacks *stacks, const struct perf_space *space,
                          const struct perf_sample *sample, uint16_t misc, bool is_big,
                          bool *is_cut)
{
    bool is_kernel = (misc & MISC_CPU_MODE) == MISC_KERNEL;
    size_t n_frames = 0, n_user = 0;
    *is_cut = false;
    for (uint64_t k = 0; k < sample->n_chain && n_frames < PERF_MOST_FRAMES; k++) {
        const uint64_t address = kernel_load_u64(sample->chain + 8 * k, is_big);
        if (address >= CONTEXT_FIRST) {
            is_kernel = address == CONTEXT_KERNEL || (is_kernel && address != CONTEXT_USER);
            continue;
        }
        if (!is_kernel && stacks->n_unwound == 0)
            *is_cut = *is_cut || leads_nowhere(space, n_user++, address);
        if (is_kernel || (stacks->n_unwound == 0 && !*is_cut))
            add_frame(stacks->frames, &n_frames, address, n_frames > 0, is_kernel);
    }
    for (size_t k = 0; k < stacks->n_unwound; k++)
        add_frame(stacks->frames, &n_frames, stacks->unwound[k], k > 0, false);
    if (n_frames == 0 && sample->n_chain == 0 && sample->attr->sample_type & PERF_HAS_IP)
        add_frame(stacks->frames, &n_frames, sample->ip, 0, is_kernel);
    return n_frames;
}

static bool make_text(struct perf_stacks *stacks, const struct perf_space *space,
                      const struct perf_sample *sample, uint16_t misc, bool is_big,
                      struct perf_stack *made)
{
    const size_t n_frames = take_frames(stacks, space, sample, misc, is_big, &made->is_cut);
    weft_json_reset(&stacks->text);
    for (size_t k = n_frames; k-- > 0;) {
        struct weft_str name;
        if (!frame_name(stacks, space, &stacks->frames[k], &name))
            return false;
        if (k + 1 < n_frames)
            weft_json_byte(&stacks->text, ';');
        weft_json_put(&stacks->text, name.bytes, name.n_bytes);
    }
    const struct weft_str text = { stacks->text.bytes, stacks->text.n_bytes };
    return !stacks->text.has_failed &&
           weft_strtab_intern(stacks->texts, text, &made->text, NULL) == WEFT_OK;
}

/* ---- stacks -----------------------------------------------------------------------------------
 */

/* What makes two stacks the same: space, mode, addresses. */
static bool make_key(struct perf_stacks *stacks, const struct perf_space *space,
                     const struct perf_sample *sample, uint16_t misc, uint32_t *id)
{
    const uint32_t front[] = { space->version, misc & MISC_CPU_MODE };
    weft_json_reset(&stacks->key);
    weft_json_put(&stacks->key, (const char *)front, sizeof front);
    if (sample->n_chain)
        weft_json_put(&stacks->key, (const char *)sample->chain, 8 * (size_t)sample->n_chain);
    else
        weft_json_put(&stacks->key, (const char *)&sample->ip, sizeof sample->ip);
    weft_json_put(&stacks->key, (const char *)stacks->unwound,
                  stacks->n_unwound * sizeof *stacks->unwound);
    const struct weft_str key = { stacks->key.bytes, stacks->key.n_bytes };
    return !stacks->key.has_failed && weft_strtab_intern(stacks->keys, key, id, NULL) == WEFT_OK;
}

/* Room for a stack, before the first. */
static bool make_room(struct perf_stacks *stacks)
{
    if (!stacks->frames)
        stacks->frames = calloc(PERF_MOST_FRAMES, sizeof *stacks->frames);
    if (!stacks->unwound)
        stacks->unwound = calloc(PERF_MOST_UNWOUND, sizeof *stacks->unwound);
    return stacks->frames && stacks->unwound;
}

bool perf_stack_of(struct perf_stacks *stacks, const struct perf_sample *sample, uint16_t misc,
                   bool is_big, struct weft_str *text)
{
    const struct perf_space *space = perf_space_of(&stacks->spaces, (uint32_t)sample->pid);
    uint32_t key;
    if (!space || !make_room(stacks))
        return false;
    if (!perf_unwind(stacks->unwinder, space, sample, is_big, stacks->unwound,
                     &stacks->n_unwound) ||
        !make_key(stacks, space, sample, misc, &key))
        return false;
    if (key == stacks->made.n) {
        struct perf_stack *place = WEFT_VEC_PUSH(&stacks->made);
        if (!place || !make_text(stacks, space, sample, misc, is_big, place))
            return false;
    }
    *text = weft_strtab_get(stacks->texts, stacks->made.items[key].text);
    stacks->n_cut += stacks->made.items[key].is_cut;
    return true;
}

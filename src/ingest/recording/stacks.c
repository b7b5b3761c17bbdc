/* SPDX-License-Identifier: MIT
 *
 * Folded text of stacks from three sources: frame pointer chains, copies of the user stack
 * (symbols/walk.h), and the kernel's side, which arrives as a record before the user's. A leaf
 * function's caller is found by checking for a call instruction before the candidate return
 * address.
 */
#include "ingest/recording/stacks.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Bytes before a return address that a call can be in. */
enum { CALL_BYTES = 7 };

/* Of user space. */
#define LEAST_ADDRESS UINT64_C(0x1000)
#define MOST_ADDRESS ((UINT64_C(1) << 47) - 1)

bool rec_stacks_init(struct rec_stacks *stacks, struct rec_spaces *spaces, uint64_t memory_bytes)
{
    *stacks = (struct rec_stacks){ .spaces = spaces,
                                   .of_place = weft_map_new(),
                                   .walker = weft_walker_new(spaces->symbols,
                                                             weft_walk_share(memory_bytes)),
                                   .keys = weft_strtab_new(),
                                   .texts = weft_strtab_new(),
                                   .frames = calloc(REC_MOST_FRAMES, sizeof *stacks->frames),
                                   .pointers = calloc(REC_MOST_FRAMES, sizeof *stacks->pointers),
                                   .outer.of_place = weft_map_new(),
                                   .code_fd = -1,
                                   .of_tid = weft_map_new(),
                                   .of_wait = weft_map_new() };
    stacks->sides = calloc(REC_KERNEL_SIDES, sizeof *stacks->sides);
    return weft_folded_init(&stacks->folded, spaces->symbols) && stacks->sides &&
           stacks->of_place && stacks->walker && stacks->keys && stacks->texts && stacks->frames &&
           stacks->pointers && stacks->outer.of_place && stacks->of_tid && stacks->of_wait;
}

void rec_stacks_fini(struct rec_stacks *stacks)
{
    if (stacks->spaces && stacks->code_fd >= 0)
        (void)close(stacks->code_fd);
    weft_walker_free(stacks->walker);
    weft_folded_fini(&stacks->folded);
    weft_map_free(stacks->of_place);
    weft_map_free(stacks->of_tid);
    weft_map_free(stacks->of_wait);
    weft_strtab_free(stacks->keys);
    weft_strtab_free(stacks->texts);
    WEFT_VEC_FINI(&stacks->name_of);
    WEFT_VEC_FINI(&stacks->text_of);
    WEFT_VEC_FINI(&stacks->start_of);
    WEFT_VEC_FINI(&stacks->site_of);
    WEFT_VEC_FINI(&stacks->counts_of);
    WEFT_VEC_FINI(&stacks->left_ns);
    WEFT_VEC_FINI(&stacks->waits);
    free(stacks->by_thread);
    weft_json_fini(&stacks->text);
    weft_json_fini(&stacks->key);
    free(stacks->frames);
    free(stacks->pointers);
    weft_map_free(stacks->outer.of_place);
    WEFT_VEC_FINI(&stacks->outer);
    free(stacks->sides);
}

void rec_stacks_rewind(struct rec_stacks *stacks)
{
    weft_map_reset(stacks->of_tid);
    memset(stacks->sides, 0, REC_KERNEL_SIDES * sizeof *stacks->sides);
    stacks->left_ns.n = 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static bool module_of(const struct rec_stacks *stacks, const struct rec_mapping *mapping,
                      uint32_t *module)
{
    const struct rec_spaces *spaces = stacks->spaces;
    return weft_symbols_module(spaces->symbols, weft_strtab_get(spaces->texts, mapping->path),
                               rec_build_id(spaces, mapping->path), module, NULL) == WEFT_OK;
}

static bool name_in_file(struct rec_stacks *stacks, const struct rec_mapping *mapping,
                         uint64_t file_off, unsigned back, uint32_t *id)
{
    uint32_t module;
    return module_of(stacks, mapping, &module) &&
           weft_folded_in_module(&stacks->folded, module,
                                 weft_strtab_get(stacks->spaces->texts, mapping->path), file_off,
                                 back, id);
}

static struct weft_str path_of(const struct rec_stacks *stacks, const struct rec_mapping *mapping)
{
    return weft_strtab_get(stacks->spaces->texts, mapping->path);
}

/* "[vdso]": of its functions there are no names, and their addresses mean nothing to a reader. */
static bool is_fileless(const struct rec_stacks *stacks, const struct rec_mapping *mapping)
{
    const struct weft_str path = path_of(stacks, mapping);
    return path.n_bytes > 0 && path.bytes[0] == '[';
}

/* Of code that was compiled while the program ran; what has no name is all the same to a reader. */
static bool name_of_jit(struct rec_stacks *stacks, uint64_t address, unsigned back, uint32_t *id)
{
    struct rec_spaces *spaces = stacks->spaces;
    uint32_t name;
    stacks->frame_jit = rec_jit_find(&spaces->jits, &stacks->jit, address - back, &name);
    switch (stacks->frame_jit) {
    case REC_JIT_NAMED:
        stacks->is_frame_system = name & WEFT_JIT_SYSTEM;
        return weft_folded_name(&stacks->folded,
                                weft_strtab_get(spaces->texts, name & ~WEFT_JIT_SYSTEM), id);
    case REC_JIT_UNNAMED:
        return weft_folded_name(&stacks->folded, WEFT_STR("[jit]"), id);
    case REC_JIT_NONE:
        break;
    }
    return weft_folded_place(&stacks->folded, (struct weft_str){ 0 }, address, id);
}

/* Each place is looked up once, unless its numbers are too large for a key. */
static bool frame_name(struct rec_stacks *stacks, uint32_t image, uint64_t address, unsigned back,
                       struct weft_str *name)
{
    const struct rec_mapping *mapping = rec_mapping_of(stacks->spaces, image, address);
    uint32_t id;
    bool is_new = true, is_good;
    stacks->frame_jit = REC_JIT_NONE;
    if (mapping) {
        const uint64_t file_off = address - mapping->begin + mapping->file_off;
        const bool has_key = mapping->path < 1 << 22 && file_off < UINT64_C(1) << 40;
        const uint64_t key = (uint64_t)mapping->path << 41 | file_off << 1 | back;
        const uint32_t index = has_key ? weft_map_add(stacks->of_place, key, &is_new) : 0;
        if (has_key && (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&stacks->name_of))))
            return false;
        is_good = !is_new || (is_fileless(stacks, mapping)
                                  ? weft_folded_name(&stacks->folded, path_of(stacks, mapping), &id)
                                  : name_in_file(stacks, mapping, file_off, back, &id));
        if (is_good && has_key && is_new)
            stacks->name_of.items[index] = id;
        if (is_good && !is_new)
            id = stacks->name_of.items[index];
    } else {
        is_good = name_of_jit(stacks, address, back, &id);
    }
    if (is_good)
        *name = weft_folded_get(&stacks->folded, id);
    return is_good;
}

/* ---- frames -----------------------------------------------------------------------------------
 */

/* Do the bytes end with a call? */
static bool is_call(const uint8_t bytes[CALL_BYTES])
{
    if (bytes[CALL_BYTES - 5] == 0xe8)
        return true;
    for (int n = 2; n <= CALL_BYTES; n++) /* ff /2, with more or less of an address */
        if (n != 5 && bytes[CALL_BYTES - n] == 0xff && (bytes[CALL_BYTES - n + 1] & 0x38) == 0x10)
            return true;
    return false;
}

static bool open_code(struct rec_stacks *stacks, uint32_t module)
{
    if (stacks->code_fd >= 0 && stacks->code_module == module)
        return true;
    const char *path = weft_symbols_file(stacks->spaces->symbols, module);
    if (stacks->code_fd >= 0)
        (void)close(stacks->code_fd);
    stacks->code_fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    stacks->code_module = module;
    return stacks->code_fd >= 0;
}

/* Does a call return to this address? The code before it shows that. */
static bool is_returned_to(struct rec_stacks *stacks, uint32_t image, uint64_t address)
{
    const struct rec_mapping *mapping = rec_mapping_of(stacks->spaces, image, address);
    uint8_t bytes[CALL_BYTES];
    uint32_t module;
    if (!mapping || !module_of(stacks, mapping, &module) || !open_code(stacks, module))
        return false;
    const uint64_t file_off = address - mapping->begin + mapping->file_off;
    return file_off >= sizeof bytes && file_off < INT64_MAX &&
           pread(stacks->code_fd, bytes, sizeof bytes, (off_t)(file_off - sizeof bytes)) ==
               (ssize_t)sizeof bytes &&
           is_call(bytes);
}

/* A leaf function that made no frame has its return address at the stack pointer; that of its
 * caller is the first that frame pointers find. */
static size_t take_chain(struct rec_stacks *stacks, uint32_t image,
                         const struct weft_kernel_record *record, const uint8_t *payload)
{
    const bool has_top = record->a & WEFT_STACK_HAS_TOP;
    const size_t n_words = record->payload_bytes / 8;
    size_t n_frames = 0;
    if (n_words <= has_top)
        return 0;
    stacks->frames[n_frames++] = weft_load_u64(payload + 8 * (size_t)has_top);
    const uint64_t top = has_top ? weft_load_u64(payload) : 0;
    const uint64_t next = n_words > has_top + 1u ? weft_load_u64(payload + 16) : 0;
    if (has_top && top != next && is_returned_to(stacks, image, top))
        stacks->frames[n_frames++] = top;
    for (size_t k = has_top + 1u; k < n_words && n_frames < REC_MOST_FRAMES; k++) {
        const uint64_t address = weft_load_u64(payload + 8 * k);
        if (address < LEAST_ADDRESS ||
            address > MOST_ADDRESS) /* the chain leads nowhere from here */
            break;
        stacks->frames[n_frames++] = address;
    }
    return n_frames;
}

struct walked {
    struct rec_stacks *stacks;
    uint32_t image;
};

static bool find_part(void *context, uint64_t address, struct weft_walk_part *part)
{
    const struct walked *walked = context;
    const struct rec_mapping *mapping =
        rec_mapping_of(walked->stacks->spaces, walked->image, address);
    if (!mapping)
        return true;
    *part = (struct weft_walk_part){ .begin = mapping->begin, .file_off = mapping->file_off };
    return module_of(walked->stacks, mapping, &part->module);
}

/* ---- stacks that are longer than their copies --------------------------------------------------

 * Some copies are long (programs.bpf.c). A frame that returns to the same address, with the same
 * stack pointer, is taken for the same: what is outside of it was walked in a longer copy. */

enum { MOST_OUTER = 1 << 21 };

static uint32_t find_outer(const struct rec_outer *outer, uint32_t tid, uint64_t address,
                           uint64_t pointer)
{
    const uint64_t words[] = { address, pointer, tid };
    const uint32_t at = weft_map_find(outer->of_place, XXH3_64bits(words, sizeof words));
    return at != WEFT_MAP_NONE && outer->items[at].address == address &&
                   outer->items[at].pointer == pointer && outer->items[at].tid == tid
               ? at
               : UINT32_MAX;
}

/* The innermost frame is of no use to others. False without memory. */
static bool keep_outer(struct rec_stacks *stacks, uint32_t tid, size_t n_frames)
{
    struct rec_outer *outer = &stacks->outer;
    uint32_t next = UINT32_MAX;
    for (size_t k = n_frames; k-- > 1;) {
        const uint64_t words[] = { stacks->frames[k], stacks->pointers[k], tid };
        bool is_new;
        if (outer->n >= MOST_OUTER)
            return true;
        const uint32_t at =
            weft_map_add(outer->of_place, XXH3_64bits(words, sizeof words), &is_new);
        if (at == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(outer)))
            return false;
        outer->items[at] = (struct rec_outer_frame){
            .address = words[0], .pointer = words[1], .tid = tid, .next = next
        };
        next = at;
    }
    return true;
}

/* Adds what is outside of the last frame; false: it is not known. */
static bool complete(struct rec_stacks *stacks, uint32_t tid, size_t *n_frames)
{
    const struct rec_outer *outer = &stacks->outer;
    if (*n_frames < 2)
        return false;
    uint32_t at =
        find_outer(outer, tid, stacks->frames[*n_frames - 1], stacks->pointers[*n_frames - 1]);
    if (at == UINT32_MAX)
        return false;
    for (at = outer->items[at].next; at != UINT32_MAX && *n_frames < REC_MOST_FRAMES;
         at = outer->items[at].next)
        stacks->frames[(*n_frames)++] = outer->items[at].address;
    return true;
}

/* The kernel's own library has no file whose call frame information could be read, but its
 * functions are small: the caller's address is one of the first words of the stack. */
static bool leave_fileless(struct rec_stacks *stacks, uint32_t image, struct weft_walk_stack *stack)
{
    enum { MOST_WORDS = 8 };
    const struct rec_mapping *mapping = rec_mapping_of(stacks->spaces, image, stacks->frames[0]);
    if (!mapping || !is_fileless(stacks, mapping))
        return false;
    for (size_t k = 0; k < MOST_WORDS && (k + 1) * 8 <= stack->n_bytes; k++) {
        const uint64_t address = weft_load_u64(stack->bytes + 8 * k);
        if (!is_returned_to(stacks, image, address))
            continue;
        if (k > 0) /* saved before the other registers that are pushed */
            stack->registers[WEFT_WALK_BP] = weft_load_u64(stack->bytes + 8 * (k - 1));
        stack->registers[WEFT_WALK_IP] = address;
        stack->registers[WEFT_WALK_SP] += 8 * (k + 1);
        stack->bytes += 8 * (k + 1);
        stack->n_bytes -= 8 * (k + 1);
        return true;
    }
    return false;
}

/* False without memory. */
static bool walk_copy(struct rec_stacks *stacks, uint32_t image,
                      const struct weft_kernel_record *record, const uint8_t *payload,
                      size_t *n_frames)
{
    static const uint8_t registers[WEFT_STACK_COPY_REGISTERS] = {
        WEFT_WALK_IP,     WEFT_WALK_SP,     WEFT_WALK_BP,     WEFT_WALK_R8,     WEFT_WALK_R8 + 1,
        WEFT_WALK_R8 + 2, WEFT_WALK_R8 + 3, WEFT_WALK_R8 + 4, WEFT_WALK_R8 + 5, WEFT_WALK_R8 + 6,
        WEFT_WALK_R8 + 7, WEFT_WALK_AX,     WEFT_WALK_BX,     WEFT_WALK_CX,     WEFT_WALK_DX,
        WEFT_WALK_SI,     WEFT_WALK_DI,
    };
    const size_t n_before = sizeof registers * 8;
    struct weft_walk_stack stack = { 0 };
    bool has_run_out;
    *n_frames = 0;
    if (record->payload_bytes < n_before)
        return true;
    for (size_t k = 0; k < sizeof registers; k++)
        stack.registers[registers[k]] = weft_load_u64(payload + 8 * k);
    stack.bytes = payload + n_before;
    stack.n_bytes = record->payload_bytes - n_before;
    struct walked walked = { stacks, image };
    const struct weft_walk_space space = { find_part, &walked };
    bool is_good = weft_walk_copy(stacks->walker, &space, &stack, stacks->frames, stacks->pointers,
                                  n_frames, &has_run_out);
    if (is_good && *n_frames == 1 && leave_fileless(stacks, image, &stack)) {
        const uint64_t innermost = stacks->frames[0];
        is_good = weft_walk_copy(stacks->walker, &space, &stack, stacks->frames, stacks->pointers,
                                 n_frames, &has_run_out);
        *n_frames = *n_frames < REC_MOST_FRAMES ? *n_frames : REC_MOST_FRAMES - 1;
        memmove(stacks->frames + 1, stacks->frames, *n_frames * sizeof *stacks->frames);
        memmove(stacks->pointers + 1, stacks->pointers, *n_frames * sizeof *stacks->pointers);
        stacks->frames[0] = innermost;
        stacks->pointers[0] = 0;
        ++*n_frames;
    }
    if (is_good && has_run_out)
        has_run_out = !complete(stacks, record->tid, n_frames);
    else if (is_good)
        is_good = keep_outer(stacks, record->tid, *n_frames);
    stacks->n_run_out += has_run_out;
    return is_good;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

/* Names of the kernel's functions are the kernel's own text. */
static void put_kernel_side(struct rec_stacks *stacks)
{
    struct weft_str before = { 0 };
    for (size_t k = stacks->side ? stacks->side->n : 0; k-- > 0;) {
        const struct weft_str name = rec_kernel_name(stacks->spaces, stacks->side->frames[k]);
        const bool is_again = name.n_bytes == before.n_bytes && name.bytes == before.bytes;
        before = name;
        if (is_again && name.bytes[0] == '[') /* one stands for all that are hidden */
            continue;
        if (stacks->text.n_bytes > 0)
            weft_json_byte(&stacks->text, ';');
        weft_json_put(&stacks->text, name.bytes, name.n_bytes);
    }
}

static bool make_text(struct rec_stacks *stacks, uint32_t image, size_t n_frames, uint32_t *id)
{
    enum rec_jit_found before = REC_JIT_NONE;
    weft_json_reset(&stacks->text);
    stacks->counts = (struct rec_jit_counts){ 0 };
    for (size_t k = n_frames; k-- > 0;) {
        struct weft_str name;
        if (!frame_name(stacks, image, stacks->frames[k], k > 0, &name))
            return false;
        stacks->counts.n_named += stacks->frame_jit == REC_JIT_NAMED;
        stacks->counts.n_unnamed += stacks->frame_jit == REC_JIT_UNNAMED;
        const bool is_again = before == REC_JIT_UNNAMED && stacks->frame_jit == before;
        before = stacks->frame_jit;
        if (is_again) /* one stands for all */
            continue;
        if (k + 1 < n_frames)
            weft_json_byte(&stacks->text, ';');
        weft_json_put(&stacks->text, name.bytes, name.n_bytes);
    }
    put_kernel_side(stacks);
    const struct weft_str text = { stacks->text.bytes, stacks->text.n_bytes };
    return !stacks->text.has_failed && weft_strtab_intern(stacks->texts, text, id, NULL) == WEFT_OK;
}

/* Where the thread of the stack began. False without memory. */
static bool find_start(struct rec_stacks *stacks, uint32_t image, size_t n_frames)
{
    const struct rec_spaces *spaces = stacks->spaces;
    const uint32_t exe = rec_program_of(stacks->spaces, image);
    const struct weft_str program =
        exe == UINT32_MAX ? WEFT_STR("") : weft_str_base(weft_strtab_get(spaces->texts, exe));
    struct rec_start_text start = { 0 };
    stacks->start = WEFT_ID_NONE;
    for (size_t k = n_frames; stacks->wants_starts && k-- > 0 && !start.is_over && !start.is_bad;) {
        const struct rec_mapping *mapping = rec_mapping_of(spaces, image, stacks->frames[k]);
        const struct weft_str path =
            mapping ? weft_strtab_get(spaces->texts, mapping->path) : WEFT_STR("");
        struct weft_str name;
        if (!frame_name(stacks, image, stacks->frames[k], k > 0, &name))
            return false;
        rec_start_put(&start, rec_frame_class_of(path, mapping && mapping->path == exe), name,
                      program);
    }
    return start.is_bad || start.n_names == 0 ||
           weft_strtab_intern(stacks->texts, (struct weft_str){ start.bytes, start.n_bytes },
                              &stacks->start, NULL) == WEFT_OK;
}

/* The innermost function of the program that was compiled while it ran: its file is the runtime,
 * not the program. False without memory. */
static bool find_jit_site(struct rec_stacks *stacks, uint32_t image, size_t n_frames)
{
    for (size_t k = 0; stacks->jit.n && k < n_frames; k++) {
        struct weft_str name;
        if (rec_mapping_of(stacks->spaces, image, stacks->frames[k]))
            continue;
        if (!frame_name(stacks, image, stacks->frames[k], k > 0, &name))
            return false;
        if (stacks->frame_jit == REC_JIT_NAMED && !stacks->is_frame_system)
            return weft_strtab_intern(stacks->texts, name, &stacks->site.function, NULL) == WEFT_OK;
    }
    return true;
}

/* The innermost function of the program in frame k; empty: it is none. */
struct own_function {
    struct weft_str name;
    struct weft_str outer; /* what it is inlined in, as a folded stack */
    bool has_name;         /* it is no address */
};

static struct own_function innermost_of(struct weft_str frame)
{
    const struct weft_str name = rec_own_function(frame);
    const size_t n = name.n_bytes ? (size_t)(name.bytes - frame.bytes) : 0;
    return (struct own_function){ name, { frame.bytes, n > 0 ? n - 1 : 0 }, true };
}

/* False without memory. */
static bool own_function_at(struct rec_stacks *stacks, uint32_t image, size_t k,
                            struct own_function *own)
{
    const struct rec_mapping *mapping = rec_mapping_of(stacks->spaces, image, stacks->frames[k]);
    struct weft_str name;
    *own = (struct own_function){ 0 };
    if (!mapping ||
        rec_frame_class_of(path_of(stacks, mapping),
                           mapping->path == rec_program_of(stacks->spaces, image)) != REC_FRAME_OWN)
        return true;
    if (!frame_name(stacks, image, stacks->frames[k], k > 0, &name))
        return false;
    if (name.n_bytes == 0 || !memmem(name.bytes, name.n_bytes, "+0x", 3))
        *own = innermost_of(name);
    else
        own->name = name;
    return true;
}

enum { MOST_CALLERS = 4, MOST_CALLERS_BYTES = 160 };
static const char ARROW[] = " > ";

struct callers {
    struct weft_str names[MOST_CALLERS]; /* the nearest first */
    size_t n, n_bytes;
    bool is_full;
};

static void take_caller(struct callers *callers, struct weft_str name)
{
    if (name.n_bytes == 0 || weft_str_equal(name, WEFT_STR("_start")))
        return;
    callers->n_bytes += name.n_bytes + sizeof ARROW - 1;
    callers->is_full |= callers->n == MOST_CALLERS || callers->n_bytes > MOST_CALLERS_BYTES;
    if (!callers->is_full)
        callers->names[callers->n++] = name;
}

static bool put_callers(struct rec_stacks *stacks, const struct callers *callers)
{
    weft_json_reset(&stacks->text);
    for (size_t k = callers->n; k-- > 0;) {
        weft_json_put(&stacks->text, callers->names[k].bytes, callers->names[k].n_bytes);
        if (k > 0)
            weft_json_put(&stacks->text, ARROW, sizeof ARROW - 1);
    }
    const struct weft_str text = { stacks->text.bytes, stacks->text.n_bytes };
    return !stacks->text.has_failed &&
           (callers->n == 0 ||
            weft_strtab_intern(stacks->texts, text, &stacks->site.callers, NULL) == WEFT_OK);
}

/* The functions of the program around the one in frame k, the nearest ones: what waits in one
 * function of its own for everything is distinguished by them. False without memory. */
static bool find_callers(struct rec_stacks *stacks, uint32_t image, size_t k, size_t n_frames,
                         struct own_function own)
{
    struct callers callers = { .n = 0 };
    for (;;) {
        while (own.outer.n_bytes > 0 && !callers.is_full) {
            own = innermost_of(own.outer);
            take_caller(&callers, own.name);
        }
        if (++k >= n_frames || callers.is_full)
            return put_callers(stacks, &callers);
        if (!own_function_at(stacks, image, k, &own))
            return false;
        if (own.has_name)
            take_caller(&callers, own.name);
    }
}

/* Its innermost function of the program, inlined or not; one that has a name, if there is any.
 * False without memory. */
static bool find_site(struct rec_stacks *stacks, uint32_t image, size_t n_frames)
{
    stacks->site = (struct rec_stack_site){ WEFT_ID_NONE, WEFT_ID_NONE };
    if (stacks->wants_starts && !find_jit_site(stacks, image, n_frames))
        return false;
    bool is_found = stacks->site.function != WEFT_ID_NONE;
    for (size_t k = 0; stacks->wants_starts && k < n_frames && !is_found; k++) {
        struct own_function own;
        if (!own_function_at(stacks, image, k, &own))
            return false;
        if (own.name.n_bytes == 0 || (!own.has_name && stacks->site.function != WEFT_ID_NONE))
            continue;
        is_found = own.has_name;
        if (weft_strtab_intern(stacks->texts, own.name, &stacks->site.function, NULL) != WEFT_OK ||
            (is_found && !find_callers(stacks, image, k, n_frames, own)))
            return false;
    }
    return true;
}

struct weft_str rec_stack_start(const struct rec_stacks *stacks)
{
    return stacks->start == WEFT_ID_NONE ? (struct weft_str){ 0 }
                                         : weft_strtab_get(stacks->texts, stacks->start);
}

/* Chains that are met again are not made again. Copies are all different. */
static bool text_of_chain(struct rec_stacks *stacks, uint32_t image,
                          const struct weft_kernel_record *record, const uint8_t *payload,
                          uint32_t *id)
{
    const uint32_t n_kernel = stacks->side ? stacks->side->n : 0;
    const uint32_t front[] = { image, ((uint32_t)record->a & WEFT_STACK_HAS_TOP) | n_kernel };
    uint32_t key;
    weft_json_reset(&stacks->key);
    weft_json_put(&stacks->key, (const char *)front, sizeof front);
    for (unsigned k = 0; k < stacks->jit.n; k++) /* addresses of code may be used again */
        weft_json_put(&stacks->key, (const char *)&stacks->jit.parts[k],
                      sizeof stacks->jit.parts[k]);
    weft_json_put(&stacks->key, (const char *)payload, record->payload_bytes);
    if (stacks->side)
        weft_json_put(&stacks->key, (const char *)stacks->side->frames,
                      stacks->side->n * sizeof *stacks->side->frames);
    const struct weft_str bytes = { stacks->key.bytes, stacks->key.n_bytes };
    if (stacks->key.has_failed || weft_strtab_intern(stacks->keys, bytes, &key, NULL) != WEFT_OK)
        return false;
    if (key == stacks->text_of.n) {
        uint32_t *place = WEFT_VEC_PUSH(&stacks->text_of);
        uint32_t *start = WEFT_VEC_PUSH(&stacks->start_of);
        struct rec_stack_site *site = WEFT_VEC_PUSH(&stacks->site_of);
        struct rec_jit_counts *counts = WEFT_VEC_PUSH(&stacks->counts_of);
        const size_t n_frames = take_chain(stacks, image, record, payload);
        if (!place || !start || !site || !counts || !make_text(stacks, image, n_frames, place) ||
            !find_start(stacks, image, n_frames) || !find_site(stacks, image, n_frames))
            return false;
        *start = stacks->start;
        *site = stacks->site;
        *counts = stacks->counts;
    }
    stacks->counts = stacks->counts_of.items[key];
    stacks->start = stacks->start_of.items[key];
    stacks->site = stacks->site_of.items[key];
    *id = stacks->text_of.items[key];
    return true;
}

void rec_stacks_take_side(struct rec_stacks *stacks, const struct weft_kernel_record *record,
                          const uint8_t *payload)
{
    struct rec_kernel_side *side = &stacks->sides[record->tid % REC_KERNEL_SIDES];
    *side = (struct rec_kernel_side){ .tid = record->tid, .time_ns = record->time_ns };
    for (size_t at = 0; at + 8 <= record->payload_bytes && side->n < REC_MOST_KERNEL_FRAMES;
         at += 8)
        side->frames[side->n++] = weft_load_u64(payload + at);
}

/* Both sides are written at once; a later stack without its own side is of user mode. */
static const struct rec_kernel_side *side_of(struct rec_stacks *stacks,
                                             const struct weft_kernel_record *record)
{
    enum { MOST_APART_NS = 1000000 };
    struct rec_kernel_side *side = &stacks->sides[record->tid % REC_KERNEL_SIDES];
    const bool is_its = record->a & WEFT_STACK_IN_KERNEL && side->tid == record->tid &&
                        side->n > 0 && record->time_ns - side->time_ns <= MOST_APART_NS;
    return is_its ? side : NULL;
}

/* Each stack once: those of waits are made in the first reading, the others in the second. */
static void count_jit(struct rec_stacks *stacks, const struct weft_kernel_record *record)
{
    const bool is_wait = (record->a & WEFT_STACK_KIND_MASK) == WEFT_STACK_WAIT;
    if (stacks->jit.n == 0 || is_wait != stacks->wants_starts)
        return;
    struct rec_jit *jit = &stacks->spaces->jits.items[stacks->jit.parts[0].jit];
    jit->n_named += stacks->counts.n_named;
    jit->n_unnamed += stacks->counts.n_unnamed;
}

bool rec_stack_text(struct rec_stacks *stacks, const struct weft_kernel_record *record,
                    const uint8_t *payload, struct weft_str *text)
{
    const uint32_t image = rec_image_at(stacks->spaces, (uint32_t)record->b, record->time_ns);
    uint32_t id = 0;
    size_t n_frames;
    rec_jit_view(stacks->spaces, (uint32_t)record->b, record->time_ns, &stacks->jit);
    stacks->side = side_of(stacks, record);
    const bool is_good = record->type == WEFT_KERNEL_STACK_COPY
                             ? walk_copy(stacks, image, record, payload, &n_frames) &&
                                   make_text(stacks, image, n_frames, &id) &&
                                   find_start(stacks, image, n_frames) &&
                                   find_site(stacks, image, n_frames)
                             : text_of_chain(stacks, image, record, payload, &id);
    if (is_good)
        *text = weft_strtab_get(stacks->texts, id);
    if (is_good)
        count_jit(stacks, record);
    return is_good;
}

/* ---- waits ------------------------------------------------------------------------------------
 */

/* Times of one thread differ, and so do those of others in all but a few bits. */
static uint64_t wait_key(uint32_t tid, uint64_t ns)
{
    return ns ^ (uint64_t)tid << 40 ^ (uint64_t)tid << 62;
}

bool rec_stacks_leave(struct rec_stacks *stacks, uint32_t tid, uint64_t ns)
{
    bool is_new;
    const uint32_t index = weft_map_add(stacks->of_tid, tid, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&stacks->left_ns)))
        return false;
    stacks->left_ns.items[index] = ns;
    return true;
}

bool rec_stacks_left(const struct rec_stacks *stacks, uint32_t tid, uint64_t *ns)
{
    const uint32_t index = weft_map_find(stacks->of_tid, tid);
    if (index != WEFT_MAP_NONE)
        *ns = stacks->left_ns.items[index];
    return index != WEFT_MAP_NONE;
}

bool rec_stacks_has_left(const struct rec_stacks *stacks, uint32_t tid)
{
    return weft_map_find(stacks->of_tid, tid) != WEFT_MAP_NONE;
}

bool rec_stacks_meet(struct rec_stacks *stacks, uint32_t tid, struct weft_str text, bool *is_met)
{
    const uint32_t index = weft_map_find(stacks->of_tid, tid);
    bool is_new;
    *is_met = index != WEFT_MAP_NONE;
    if (!*is_met)
        return true;
    const uint32_t wait =
        weft_map_add(stacks->of_wait, wait_key(tid, stacks->left_ns.items[index]), &is_new);
    if (wait == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&stacks->waits)))
        return false;
    stacks->waits.items[wait].ns = stacks->left_ns.items[index];
    stacks->waits.items[wait].tid = tid;
    stacks->waits.items[wait].site = stacks->site;
    return weft_strtab_intern(stacks->texts, text, &stacks->waits.items[wait].text, NULL) ==
           WEFT_OK;
}

struct weft_str rec_stacks_wait(const struct rec_stacks *stacks, uint32_t tid, uint64_t ns,
                                struct rec_stack_site *site)
{
    const uint32_t at = weft_map_find(stacks->of_wait, wait_key(tid, ns));
    *site = (struct rec_stack_site){ WEFT_ID_NONE, WEFT_ID_NONE };
    if (at == WEFT_MAP_NONE)
        return (struct weft_str){ 0 };
    *site = stacks->waits.items[at].site;
    return weft_strtab_get(stacks->texts, stacks->waits.items[at].text);
}

struct weft_str rec_stacks_name(const struct rec_stacks *stacks, uint32_t id)
{
    return id == WEFT_ID_NONE ? (struct weft_str){ 0 } : weft_strtab_get(stacks->texts, id);
}

static bool is_before(const struct rec_stack_wait *wait, uint32_t tid, uint64_t ns)
{
    return wait->tid != tid ? wait->tid < tid : wait->ns < ns;
}

static int by_thread(const void *a, const void *b, void *stacks_void)
{
    const struct rec_stacks *stacks = stacks_void;
    const struct rec_stack_wait *x = &stacks->waits.items[*(const uint32_t *)a],
                                *y = &stacks->waits.items[*(const uint32_t *)b];
    return is_before(y, x->tid, x->ns) - is_before(x, y->tid, y->ns);
}

bool rec_stacks_end_survey(struct rec_stacks *stacks)
{
    stacks->by_thread = calloc(stacks->waits.n + 1, sizeof *stacks->by_thread);
    if (!stacks->by_thread)
        return false;
    for (size_t i = 0; i < stacks->waits.n; i++)
        stacks->by_thread[i] = (uint32_t)i;
    qsort_r(stacks->by_thread, stacks->waits.n, sizeof *stacks->by_thread, by_thread, stacks);
    return true;
}

struct weft_str rec_stacks_callers(const struct rec_stacks *stacks, uint32_t tid, uint64_t from_ns,
                                   uint64_t to_ns)
{
    size_t from = 0, to = stacks->by_thread ? stacks->waits.n : 0;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (is_before(&stacks->waits.items[stacks->by_thread[middle]], tid, from_ns))
            from = middle + 1;
        else
            to = middle;
    }
    if (!stacks->by_thread || from == stacks->waits.n)
        return (struct weft_str){ 0 };
    const struct rec_stack_wait *wait = &stacks->waits.items[stacks->by_thread[from]];
    return wait->tid == tid && wait->ns <= to_ns ? rec_stacks_name(stacks, wait->site.callers)
                                                 : (struct weft_str){ 0 };
}

/* elf_walk.c - see elf_walk.h.  Reading order: files, the loader's cache, look-up, the walk. */
#include "io/elf_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/env.h"

/* Programs have some dozens of libraries; a DVM sees some hundreds of files. */
enum { OBJECTS_MAX = 512, FILES_MAX = 4096, LD_CACHE_MAX = 16 << 20 };

#define LD_CACHE "/etc/ld.so.cache"

/* ---- files ---- */

struct file_key {
    uint64_t dev, ino, size, sec, nsec;
};

struct known_file {
    struct file_key key;
    struct arena arena;
    struct elf_file elf;
    bool searched, marked, is_elf;
};

void elf_cache_init(struct elf_cache *c, uint64_t seed)
{
    map_init(&c->files, seed);
}

void elf_cache_free(struct elf_cache *c)
{
    struct known_file *f;
    uint64_t seed = c->files.seed;

    for (size_t at = 0; (f = map_next(&c->files, &at));) {
        arena_free(&f->arena);
        free(f);
    }
    map_free(&c->files);
    map_init(&c->files, seed);
}

void elf_cache_trim(struct elf_cache *c)
{
    if (c->files.count > FILES_MAX)
        elf_cache_free(c);
}

static struct slice key_of(const struct file_key *k)
{
    return slice_mem(k, sizeof *k);
}

static struct known_file *file_read(struct elf_cache *c, int fd, const struct file_key *key)
{
    struct known_file *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->key = *key;
    arena_init(&f->arena, 1 << 20);
    f->is_elf = elf_file_read(fd, &f->arena, &f->elf) == 0;
    if (map_put(&c->files, key_of(&f->key), f, NULL) == 0)
        return f;
    arena_free(&f->arena);
    free(f);
    return NULL;
}

/* NULL: it cannot be read. */
static struct known_file *file_of(struct elf_cache *c, int fd)
{
    struct file_key key;
    struct known_file *f;
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    key = (struct file_key){ st.st_dev, st.st_ino, (uint64_t)st.st_size,
                             (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec };
    f = map_get(&c->files, key_of(&key));
    return f ? f : file_read(c, fd, &key);
}

static bool is_marked(struct known_file *f, int fd, const struct elf_marks *m)
{
    if (!f->searched)
        f->marked = elf_file_has_names(fd, m->names, m->n);
    f->searched = true;
    return f->marked;
}

/* ---- the loader's cache ---- */

/* As in glibc 2.1 and later; an older table may stand before it, which has its own magic. */
#define LD_CACHE_MAGIC "glibc-ld.so.cache1.1"

struct ld_cache_head {
    char magic[sizeof LD_CACHE_MAGIC - 1];
    uint32_t nentries, strings;
    uint32_t unused[5];
};

struct ld_cache_entry {
    int32_t flags;
    uint32_t name, path, osversion;
    uint64_t hwcap;
};

struct ld_cache {
    bool tried;
    struct slice bytes; /* from the head on; in the arena */
};

static struct slice read_whole(const char *path, struct arena *a)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct slice all = SLICE_NULL;
    struct stat st;
    char *to;

    if (fd < 0)
        return all;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LD_CACHE_MAX &&
        (to = arena_alloc(a, (size_t)st.st_size))) {
        ssize_t n = read(fd, to, (size_t)st.st_size);
        all = slice_mem(to, n > 0 ? (size_t)n : 0);
    }
    close(fd);
    return all;
}

static void ld_cache_read(struct ld_cache *l, struct arena *a)
{
    struct slice all = l->tried ? SLICE_NULL : read_whole(LD_CACHE, a);
    const char *head =
        all.ptr ? memmem(all.ptr, all.len, LD_CACHE_MAGIC, sizeof LD_CACHE_MAGIC - 1) : NULL;

    l->tried = true;
    if (head)
        l->bytes = slice_skip(all, (size_t)(head - all.ptr));
}

static const char *ld_cache_text(struct slice bytes, uint32_t at)
{
    if (at >= bytes.len || !memchr(bytes.ptr + at, '\0', bytes.len - at))
        return NULL;
    return bytes.ptr + at;
}

/* The next path under that name, from entry *at on; NULL: no more. */
static const char *ld_cache_find(struct slice bytes, const char *name, uint32_t *at)
{
    struct ld_cache_head head;
    struct ld_cache_entry e;

    if (bytes.len < sizeof head)
        return NULL;
    memcpy(&head, bytes.ptr, sizeof head);
    for (; *at < head.nentries && sizeof head + (*at + 1ULL) * sizeof e <= bytes.len; ++*at) {
        const char *its, *path;
        memcpy(&e, bytes.ptr + sizeof head + *at * sizeof e, sizeof e);
        its = ld_cache_text(bytes, e.name);
        path = ld_cache_text(bytes, e.path);
        if (!its || !path || path[0] != '/' || strcmp(its, name) != 0)
            continue;
        ++*at;
        return path;
    }
    return NULL;
}

/* ---- look-up ---- */

struct walk {
    struct elf_cache *cache;
    const struct elf_marks *marks;
    struct arena *arena;
    const char *library_path; /* LD_LIBRARY_PATH, or NULL */
    struct ld_cache ld_cache;
    struct elf_object *first, *last;
    uint32_t n;
};

/* True: it can be loaded here. */
static bool try_path(struct walk *w, struct elf_object *o, const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    struct known_file *f = fd >= 0 ? file_of(w->cache, fd) : NULL;

    if (f && f->is_elf) {
        const char *base = strrchr(path, '/');
        o->file = &f->elf;
        o->path = path;
        base = base ? base + 1 : path;
        if (o == w->first || !strncmp(base, w->marks->library, strlen(w->marks->library)))
            o->marked = is_marked(f, fd, w->marks);
    }
    if (fd >= 0)
        close(fd);
    return o->file != NULL;
}

/* One directory of a path, in which $ORIGIN stands for that of the object that names it.  NULL: it
 * has a word that only the loader knows. */
static const char *expand(struct walk *w, struct slice dir, const struct elf_object *of)
{
    static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };

    for (size_t i = 0; of && i < sizeof origins / sizeof *origins; i++) {
        const char *end = strrchr(of->path, '/');
        if (!end || !slice_starts(dir, slice_str(origins[i])))
            continue;
        dir = slice_skip(dir, strlen(origins[i]));
        if (slice_find(dir, '$') < dir.len)
            return NULL;
        return arena_printf(w->arena, "%.*s" SLICE_FMT, (int)(end - of->path), of->path,
                            SLICE_ARG(dir));
    }
    return dir.len && slice_find(dir, '$') == dir.len ? arena_str(w->arena, dir) : NULL;
}

/* of: the object that the path is written in; NULL: the environment. */
static bool try_dirs(struct walk *w, struct elf_object *o, const char *dirs,
                     const struct elf_object *of)
{
    struct slice rest = slice_str(dirs);

    while (rest.len) {
        struct slice both = slice_cut(&rest, ':');
        while (both.len) {
            const char *dir = expand(w, of ? both : slice_cut(&both, ';'), of);
            if (dir && try_path(w, o, arena_printf(w->arena, "%s/%s", dir, o->name)))
                return true;
            if (of)
                break;
        }
    }
    return false;
}

static bool try_rpaths(struct walk *w, struct elf_object *o)
{
    if (o->loader->file->runpath)
        return false;
    for (const struct elf_object *by = o->loader; by; by = by->loader) {
        if (!by->file->runpath && by->file->rpath && try_dirs(w, o, by->file->rpath, by))
            return true;
    }
    return false;
}

static bool try_ld_cache(struct walk *w, struct elf_object *o)
{
    const char *path;

    ld_cache_read(&w->ld_cache, w->arena);
    for (uint32_t at = 0; (path = ld_cache_find(w->ld_cache.bytes, o->name, &at));) {
        if (try_path(w, o, path))
            return true;
    }
    return false;
}

static void look_up(struct walk *w, struct elf_object *o)
{
    if (strchr(o->name, '/')) {
        try_path(w, o, o->name);
        return;
    }
    if (try_rpaths(w, o) || (w->library_path && try_dirs(w, o, w->library_path, NULL)))
        return;
    if (o->loader->file->runpath && try_dirs(w, o, o->loader->file->runpath, o->loader))
        return;
    if (!try_ld_cache(w, o))
        try_dirs(w, o, "/lib64:/usr/lib64:/lib:/usr/lib", NULL);
}

/* ---- the walk ---- */

/* Nothing below these asks a process manager. */
static bool is_plain(const char *name)
{
    static const char *const heads[] = {
        "libc.so",    "libm.so",    "libdl.so",   "libpthread.so", "librt.so",     "libutil.so",
        "ld-linux",   "libgcc_s.",  "libstdc++.", "libgfortran.",  "libquadmath.", "libz.so",
        "libhwloc.",  "libfabric.", "libuc",      "libibverbs.",   "librdmacm.",   "libnuma.",
        "libxml2.",   "libevent",   "libcuda",    "libnccl.",      "libamdhip",    "libblas.",
        "liblapack.", "libgomp.",   "libtinfo.",  "libselinux.",   "libcrypto.",   "libssl.",
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!strncmp(name, heads[i], strlen(heads[i])))
            return true;
    }
    return false;
}

static bool is_there(const struct walk *w, const char *name)
{
    for (const struct elf_object *o = w->first; o; o = o->next) {
        if (!strcmp(o->name, name))
            return true;
    }
    return false;
}

static struct elf_object *append(struct walk *w, const char *name, const struct elf_object *loader)
{
    struct elf_object *o = arena_alloc(w->arena, sizeof *o);

    if (!o)
        return NULL;
    o->name = name;
    o->loader = loader;
    if (w->last)
        w->last->next = o;
    else
        w->first = o;
    w->last = o;
    w->n++;
    return o;
}

static int need(struct walk *w, const char *name, const struct elf_object *loader)
{
    struct elf_object *o;

    if (is_there(w, name))
        return 0;
    if (w->n == OBJECTS_MAX)
        return ELF_FILE_OTHER;
    o = append(w, name, loader);
    if (!o)
        return -ENOMEM;
    if (w->marks->all || !is_plain(name))
        look_up(w, o);
    return arena_ok(w->arena) ? 0 : -ENOMEM;
}

static int need_preloads(struct walk *w, const char *preloads)
{
    struct slice rest = slice_str(preloads);
    int rc = 0;

    while (rc == 0 && rest.len) {
        struct slice some = slice_cut(&rest, ':');
        while (rc == 0 && some.len) {
            struct slice one = slice_cut(&some, ' ');
            const char *name = one.len ? arena_str(w->arena, one) : NULL;
            if (name)
                rc = need(w, name, w->first);
        }
    }
    return rc;
}

static int open_program(struct walk *w, const char *program)
{
    char real[PATH_MAX];
    struct elf_object *o = append(w, program, NULL);

    if (!o)
        return -ENOMEM;
    if (!realpath(program, real))
        return -errno;
    return try_path(w, o, arena_str(w->arena, slice_str(real))) ? 0 : ELF_FILE_OTHER;
}

int elf_walk(struct elf_cache *c, const char *program, char *const *env,
             const struct elf_marks *marks, struct arena *a, struct elf_object **first_p)
{
    struct walk w = { .cache = c, .marks = marks, .arena = a };
    const char *preloads = env_value(env, "LD_PRELOAD");
    int rc;

    w.library_path = env_value(env, "LD_LIBRARY_PATH");
    rc = open_program(&w, program);
    if (rc == 0 && preloads)
        rc = need_preloads(&w, preloads);
    for (const struct elf_object *o = w.first; rc == 0 && o; o = o->next) {
        for (uint32_t i = 0; rc == 0 && o->file && i < o->file->nneeded; i++)
            rc = need(&w, o->file->needed[i], o);
    }
    *first_p = w.first;
    return rc;
}

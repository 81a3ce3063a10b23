/* elf_file.c - see elf_file.h.  Everything is read by position into memory of our own: a mapped
 * file that somebody cuts short would end the daemon. */
#include "io/elf_file.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Real files stay far below these. */
enum { SEGMENTS_MAX = 128, DYNAMIC_MAX = 4096, NEEDED_MAX = 1024, NAME_MAX_BYTES = 4096 };

/* The strings are looked for in this much of a file, a piece at a time. */
enum { SEARCH_MAX = 64 << 20, PIECE = 256 << 10, NAME_ROOM = 64 };

#if __SIZEOF_POINTER__ == 8
#define OUR_CLASS ELFCLASS64
#else
#define OUR_CLASS ELFCLASS32
#endif
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OUR_DATA ELFDATA2MSB
#else
#define OUR_DATA ELFDATA2LSB
#endif

struct segments {
    ElfW(Phdr) all[SEGMENTS_MAX];
    uint32_t n;
};

/* ---- positions ---- */

int elf_file_read_at(int fd, uint64_t at, void *to, size_t len)
{
    ssize_t n;

    if (at > INT64_MAX - len)
        return ELF_FILE_OTHER;
    do {
        n = pread(fd, to, len, (off_t)at);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : (size_t)n == len ? 0 : ELF_FILE_OTHER;
}

/* The machine of this program: that of the files that can be loaded here. */
static uint16_t our_machine(void)
{
    static const uint16_t machine =
#if defined(__x86_64__)
        EM_X86_64;
#elif defined(__aarch64__)
        EM_AARCH64;
#elif defined(__powerpc64__)
        EM_PPC64;
#elif defined(__riscv)
        EM_RISCV;
#elif defined(__s390x__)
        EM_S390;
#elif defined(__i386__)
        EM_386;
#elif defined(__arm__)
        EM_ARM;
#else
        EM_NONE;
#endif
    return machine;
}

static int read_segments(int fd, struct segments *s)
{
    ElfW(Ehdr) head;
    int rc = elf_file_read_at(fd, 0, &head, sizeof head);

    if (rc != 0)
        return rc;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != OUR_CLASS ||
        head.e_ident[EI_DATA] != OUR_DATA || head.e_machine != our_machine() ||
        head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phnum > SEGMENTS_MAX)
        return ELF_FILE_OTHER;
    s->n = head.e_phnum;
    return elf_file_read_at(fd, head.e_phoff, s->all, s->n * sizeof *s->all);
}

/* Where the byte of that address is in the file; false: nowhere. */
static bool file_position(const struct segments *s, uint64_t address, uint64_t *at_p)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const ElfW(Phdr) *p = &s->all[i];
        if (p->p_type != PT_LOAD || address < p->p_vaddr || address - p->p_vaddr >= p->p_filesz)
            continue;
        *at_p = p->p_offset + (address - p->p_vaddr);
        return true;
    }
    return false;
}

/* ---- the dynamic section ---- */

/* The strings that the section names. */
struct strings {
    int fd;
    uint64_t at, size;
    struct arena *arena;
};

static int take_string(const struct strings *s, uint64_t offset, const char **text_p)
{
    char text[NAME_MAX_BYTES];
    size_t room = sizeof text;
    int rc;

    if (offset >= s->size)
        return ELF_FILE_OTHER;
    if (room > s->size - offset)
        room = (size_t)(s->size - offset);
    rc = elf_file_read_at(s->fd, s->at + offset, text, room);
    if (rc != 0)
        return rc;
    if (!memchr(text, '\0', room))
        return ELF_FILE_OTHER;
    *text_p = arena_str(s->arena, slice_str(text));
    return *text_p ? 0 : -ENOMEM;
}

static int find_strings(const struct segments *s, const ElfW(Dyn) * entries, size_t n,
                        struct strings *out)
{
    bool known = false;

    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            known = file_position(s, entries[i].d_un.d_ptr, &out->at);
        else if (entries[i].d_tag == DT_STRSZ)
            out->size = entries[i].d_un.d_val;
    }
    return known ? 0 : ELF_FILE_OTHER;
}

static int take_needed(struct elf_file *f, const struct strings *s, uint64_t offset)
{
    if (f->nneeded == NEEDED_MAX)
        return ELF_FILE_OTHER;
    return take_string(s, offset, &f->needed[f->nneeded++]);
}

static int take_entries(struct elf_file *f, const struct strings *s, const ElfW(Dyn) * entries,
                        size_t n)
{
    int rc = 0;

    f->needed = arena_array(s->arena, n < NEEDED_MAX ? n : NEEDED_MAX, sizeof *f->needed);
    if (!f->needed)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < n && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_NEEDED)
            rc = take_needed(f, s, entries[i].d_un.d_val);
        else if (entries[i].d_tag == DT_RPATH)
            rc = take_string(s, entries[i].d_un.d_val, &f->rpath);
        else if (entries[i].d_tag == DT_RUNPATH)
            rc = take_string(s, entries[i].d_un.d_val, &f->runpath);
    }
    return rc;
}

static int read_dynamic(int fd, const struct segments *s, const ElfW(Phdr) * p, struct arena *a,
                        struct elf_file *f)
{
    struct strings strings = { .fd = fd, .arena = a };
    size_t n = p->p_filesz / sizeof(ElfW(Dyn));
    ElfW(Dyn) * entries;
    int rc;

    if (n == 0 || n > DYNAMIC_MAX)
        return ELF_FILE_OTHER;
    entries = calloc(n, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    rc = elf_file_read_at(fd, p->p_offset, entries, n * sizeof *entries);
    if (rc == 0)
        rc = find_strings(s, entries, n, &strings);
    if (rc == 0)
        rc = take_entries(f, &strings, entries, n);
    free(entries);
    f->dynamic = true;
    return rc;
}

int elf_file_read(int fd, struct arena *a, struct elf_file *f_p)
{
    struct segments s;
    int rc = read_segments(fd, &s);

    *f_p = (struct elf_file){ .nneeded = 0 };
    for (uint32_t i = 0; rc == 0 && i < s.n; i++) {
        if (s.all[i].p_type == PT_DYNAMIC)
            return read_dynamic(fd, &s, &s.all[i], a, f_p);
    }
    return rc;
}

/* ---- the build id ---- */

enum { NOTES_MAX = 16 << 10 };

static size_t note_align(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* The next note of a segment; false: no more, or a damaged one. */
static bool next_note(struct slice *rest, ElfW(Nhdr) * head, struct slice *name, struct slice *text)
{
    size_t room;

    if (rest->len < sizeof *head)
        return false;
    memcpy(head, rest->ptr, sizeof *head);
    *rest = slice_skip(*rest, sizeof *head);
    room = note_align(head->n_namesz);
    if (head->n_namesz > NOTES_MAX || head->n_descsz > NOTES_MAX || room > rest->len ||
        head->n_descsz > rest->len - room)
        return false;
    *name = slice_head(*rest, head->n_namesz);
    *text = slice_head(slice_skip(*rest, room), head->n_descsz);
    *rest = slice_skip(*rest, room + note_align(head->n_descsz));
    return true;
}

static bool find_id(struct slice notes, char id[ELF_BUILD_ID_ROOM])
{
    struct slice name, text;
    ElfW(Nhdr) head;

    while (next_note(&notes, &head, &name, &text)) {
        if (head.n_type != NT_GNU_BUILD_ID || !slice_eq(name, slice_mem("GNU", 4)) ||
            text.len > (ELF_BUILD_ID_ROOM - 1) / 2)
            continue;
        for (size_t i = 0; i < text.len; i++)
            sprintf(id + 2 * i, "%02x", (unsigned)(unsigned char)text.ptr[i]);
        return true;
    }
    return false;
}

void elf_file_build_id(int fd, char id[ELF_BUILD_ID_ROOM])
{
    struct segments s;
    char notes[NOTES_MAX];
    bool found = false;

    id[0] = '\0';
    if (read_segments(fd, &s) != 0)
        return;
    for (uint32_t i = 0; i < s.n && !found; i++) {
        size_t len = s.all[i].p_filesz < NOTES_MAX ? s.all[i].p_filesz : NOTES_MAX;
        if (s.all[i].p_type == PT_NOTE && elf_file_read_at(fd, s.all[i].p_offset, notes, len) == 0)
            found = find_id(slice_mem(notes, len), id);
    }
}

/* ---- strings ---- */

struct search {
    int fd;
    const struct segments *segments;
    char *piece; /*piece_size() bytes */
};

/* name: with its NUL.  Pieces overlap, so that no string is cut. */
static bool search_segment(const struct search *s, const ElfW(Phdr) * p, struct slice name)
{
    uint64_t at = 0, end = p->p_filesz < SEARCH_MAX ? p->p_filesz : SEARCH_MAX;

    while (at < end) {
        size_t len = end - at < PIECE ? (size_t)(end - at) : PIECE;
        if (elf_file_read_at(s->fd, p->p_offset + at, s->piece, len) != 0)
            return false;
        if (memmem(s->piece, len, name.ptr, name.len))
            return true;
        if (len < PIECE)
            return false;
        at += PIECE - NAME_ROOM;
    }
    return false;
}

/* In the segments with these rights; *any_p: there is one. */
static bool search_segments(const struct search *s, uint32_t rights, struct slice name, bool *any_p)
{
    *any_p = false;
    for (uint32_t i = 0; i < s->segments->n; i++) {
        const ElfW(Phdr) *p = &s->segments->all[i];
        if (p->p_type != PT_LOAD || (p->p_flags & (PF_R | PF_W | PF_X)) != rights)
            continue;
        *any_p = true;
        if (search_segment(s, p, name))
            return true;
    }
    return false;
}

static bool has_name(const struct search *s, const char *variable)
{
    char name[NAME_ROOM] = "";
    size_t n = strcspn(variable, "=");
    bool any;

    if (n >= sizeof name)
        return false;
    memcpy(name, variable, n);
    /* Constants are in segments of their own, or, by some linkers, in that of the code. */
    if (search_segments(s, PF_R, slice_mem(name, n + 1), &any))
        return true;
    return !any && search_segments(s, PF_R | PF_X, slice_mem(name, n + 1), &any);
}

/* The longest piece that a search will read. */
static size_t piece_size(const struct segments *s)
{
    size_t most = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        if (s->all[i].p_type == PT_LOAD && s->all[i].p_filesz > most)
            most = s->all[i].p_filesz;
    }
    return most < PIECE ? most : PIECE;
}

/* Most files lack the first name: they are read once. */
bool elf_file_has_names(int fd, const char *const *names, uint32_t n)
{
    struct segments all;
    struct search s = { fd, &all, NULL };
    bool good = true;

    if (read_segments(fd, &all) != 0)
        return false;
    s.piece = malloc(piece_size(&all));
    for (uint32_t i = 0; i < n && good; i++)
        good = s.piece && has_name(&s, names[i]);
    free(s.piece);
    return good;
}

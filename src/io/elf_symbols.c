/* elf_symbols.c - see elf_symbols.h.  Everything is read by position into memory of our own, as in
 * elf_file.c. */
#include "io/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Real libraries stay far below these. */
enum { SECTIONS_MAX = 4096, TABLE_MAX = 64 << 20 };

struct sections {
    ElfW(Shdr) * all;
    uint32_t n;
};

static int read_sections(int fd, struct sections *s)
{
    ElfW(Ehdr) head;
    int rc = elf_file_read_at(fd, 0, &head, sizeof head);

    if (rc != 0)
        return rc;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_shentsize != sizeof(ElfW(Shdr)) || head.e_shnum == 0 || head.e_shnum > SECTIONS_MAX)
        return ELF_FILE_OTHER;
    s->n = head.e_shnum;
    s->all = calloc(s->n, sizeof *s->all);
    if (!s->all)
        return -ENOMEM;
    return elf_file_read_at(fd, head.e_shoff, s->all, s->n * sizeof *s->all);
}

static const ElfW(Shdr) * find_section(const struct sections *s, uint32_t type)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->all[i].sh_type == type)
            return &s->all[i];
    }
    return NULL;
}

/* The bytes of a section, and a NUL behind them; NULL with *rc_p: why not. */
static char *read_section(int fd, const ElfW(Shdr) * section, int *rc_p)
{
    char *bytes = section->sh_size <= TABLE_MAX ? malloc(section->sh_size + 1) : NULL;

    *rc_p = bytes ? elf_file_read_at(fd, section->sh_offset, bytes, section->sh_size)
            : section->sh_size <= TABLE_MAX ? -ENOMEM
                                            : ELF_FILE_OTHER;
    if (*rc_p == 0) {
        bytes[section->sh_size] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

static int visit(const char *table, size_t n, const char *names, size_t names_len,
                 elf_symbol_fn *fn, void *arg)
{
    for (size_t i = 1; i < n; i++) { /* the first one is empty */
        ElfW(Sym) sym;
        memcpy(&sym, table + i * sizeof sym, sizeof sym);
        if (sym.st_name >= names_len)
            return ELF_FILE_OTHER;
        if ((sym.st_info >> 4) != STB_LOCAL && names[sym.st_name] &&
            !fn(arg, names + sym.st_name, sym.st_shndx != SHN_UNDEF))
            break;
    }
    return 0;
}

static int visit_all(int fd, const struct sections *s, elf_symbol_fn *fn, void *arg)
{
    const ElfW(Shdr) *symbols = find_section(s, SHT_DYNSYM), *strings;
    char *table, *names = NULL;
    int rc;

    if (!symbols || symbols->sh_link >= s->n)
        return ELF_FILE_OTHER;
    strings = &s->all[symbols->sh_link];
    table = read_section(fd, symbols, &rc);
    if (table)
        names = read_section(fd, strings, &rc);
    if (names)
        rc = visit(table, symbols->sh_size / sizeof(ElfW(Sym)), names, strings->sh_size, fn, arg);
    free(names);
    free(table);
    return rc;
}

int elf_symbols_each(const char *path, elf_symbol_fn *fn, void *arg)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
    struct sections s = { NULL, 0 };

    if (fd < 0)
        return -errno;
    rc = read_sections(fd, &s);
    if (rc == 0)
        rc = visit_all(fd, &s, fn, arg);
    free(s.all);
    close(fd);
    return rc;
}

bool elf_symbols_versioned(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct sections s = { NULL, 0 };
    bool found;

    if (fd < 0)
        return false;
    found = read_sections(fd, &s) == 0 && find_section(&s, SHT_GNU_verdef);
    free(s.all);
    close(fd);
    return found;
}

/* address_space.h - how much address space a test has mapped, to leave it little more. */
#ifndef WIREUP_TESTS_ADDRESS_SPACE_H
#define WIREUP_TESTS_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static inline uint64_t address_space_pages(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages;
}

static inline uint64_t address_space_used(void)
{
    return address_space_pages() * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Sanitizers take terabytes: no limit leaves such a test little. */
static inline bool address_space_can_be_little(void)
{
    return address_space_pages() <= 1 << 17;
}

#endif

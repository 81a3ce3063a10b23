/* seeds.h - how many seeds a test runs: fewer in builds with sanitizers, which are ten times
 * slower. */
#ifndef WIREUP_TESTS_SEEDS_H
#define WIREUP_TESTS_SEEDS_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SEEDS_SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SEEDS_SANITIZED 1
#endif

#ifdef SEEDS_SANITIZED
#define SEEDS_OF(plain, sanitized) (sanitized)
#else
#define SEEDS_OF(plain, sanitized) (plain)
#endif

#endif

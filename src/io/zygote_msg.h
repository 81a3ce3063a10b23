/* zygote_msg.h - what a daemon and a zygote say to each other.
 *
 * A zygote is a program that our preloaded library (src/lib/zygote) has stopped before its main
 * function, with all of its libraries loaded.  It is forked for each rank.
 *
 *   zygote -> daemon  on ZYGOTE_FD, once: no byte more than ZYGOTE_READY, or the sentence why it
 *                     must not be forked; then it exits
 *   daemon -> zygote  one byte for each rank, with descriptors: first one for the result, then
 *                     block.nfds others, which the child gets under the numbers block.to.  All else
 *                     is in the file ZYGOTE_BLOCK_FD: struct zygote_block, the processors, and the
 *                     environment as strings, each with its NUL
 *   child  -> daemon  ZYGOTE_DONE on the first of these descriptors, when all is done and only the
 *                     program is left to run.  The kernel says which process sends it.  The end of
 *                     that connection without it: there is no such process
 *
 * Either side may find the other one gone at any time: that is the end of a connection here.
 */
#ifndef WIREUP_IO_ZYGOTE_MSG_H
#define WIREUP_IO_ZYGOTE_MSG_H

#include <stdint.h>

/* Its descriptors, besides 0 (nothing), 1 and 2 (a pipe that nobody reads). */
enum { ZYGOTE_FD = 3, ZYGOTE_BLOCK_FD = 4, ZYGOTE_FDS_END = 5 };

/* Descriptors of a rank; bytes of a sentence; bytes of processors and environment together. */
enum { ZYGOTE_RANK_FDS = 4, ZYGOTE_SENTENCE = 256, ZYGOTE_BLOCK_ROOM = 8 << 20 };

#define ZYGOTE_READY "+"
#define ZYGOTE_DONE  "d"

/* The library acts only where it is set: the bytes of LD_PRELOAD that are the user's, and ",bound"
 * if the ranks will be bound to processors. */
#define ZYGOTE_VARIABLE "WIREUP_PREFORK"

struct zygote_block {
    uint32_t cpus_bytes; /* 0: not bound */
    uint32_t env_bytes, nenv;
    uint32_t nfds;
    int32_t to[ZYGOTE_RANK_FDS];
};

#endif

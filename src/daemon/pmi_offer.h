/* pmi_offer.h - which protocols the environment of a program names: those that it can use.
 *
 * Most programs are offered all, and take what they know.  MPICH 5 looks for both PMI and PMIx in
 * its environment, and ends the process if it finds both and no word which to take.  So a program
 * that will load such an MPICH is offered only what that one was built for: the dynamic loader's
 * view of the program tells (io/elf_walk.h).  Of shells and of commands that only start another
 * program, the words are looked through for that program.  Whatever cannot be told is offered all.
 */
#ifndef WIREUP_DAEMON_PMI_OFFER_H
#define WIREUP_DAEMON_PMI_OFFER_H

#include "core/job_map.h"
#include "io/elf_walk.h"

/* What every walk with the cache of a node looks for. */
extern const struct elf_marks pmi_offer_marks;

/* files: what the node knows of its files, over all jobs; first: what a walk from app->path, which
 * will be executed, has found; NULL: it is no ELF program.  Never JOB_MAP_PMI_AUTO. */
enum job_map_pmi pmi_offer_choose(struct elf_cache *files, const struct job_map_app *app,
                                  const struct elf_object *first);

#endif

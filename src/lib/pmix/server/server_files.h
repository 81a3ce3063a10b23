/* server_files.h - the files with our address, by which tools find us. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_FILES_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_FILES_H

#include "lib/pmix/server/server.h"

void sfiles_write(struct pserver *s, const struct pserver_options *o);
void sfiles_remove(struct pserver *s);

#endif

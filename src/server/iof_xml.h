/* iof_xml.h - a line of a process's output as XML: what the option -xml-output shows, and what a
 * client gets that pulls output with PMIX_IOF_XML_OUTPUT.
 *
 *   <stdout nspace="kvs_1" rank="0">text&#010;</stdout>
 *
 * Each line, or piece of one, is an element; its newline is a character of the text. */
#ifndef WIREUP_SERVER_IOF_XML_H
#define WIREUP_SERVER_IOF_XML_H

#include <stdint.h>

#include "base/buf.h"

struct iof_xml {
    const char *name; /* of the stream */
    const char *nspace;
    uint32_t rank;
    uint64_t wall_ns; /* the attribute `timestamp`; 0: none */
};

/* Appends; running out of memory poisons the buffer. */
void iof_xml_line(const struct iof_xml *x, struct slice line, struct buf *out);

#endif

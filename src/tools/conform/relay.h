/* relay.h - stands between a client and its server: passes on what they say, changes how the server
 * says it, and judges the client by the protocols' tables.
 */
#ifndef WIREUP_TOOLS_CONFORM_RELAY_H
#define WIREUP_TOOLS_CONFORM_RELAY_H

/* Runs the program, and tells its verdicts, one in a line (NAME, TAB, what is wrong or nothing), to
 * who listens by this name (post.h).  manner: one of manner.h.  The exit status is the program's.
 */
int relay_run(const char *name, const char *manner, char **program);

#endif

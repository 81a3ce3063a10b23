/* pmix_greeting.h - the first message of a PMIx connection: how it is recognised, and who sends it.
 */
#ifndef WIREUP_WIRE_PMIX_GREETING_H
#define WIREUP_WIRE_PMIX_GREETING_H

#include <stdbool.h>
#include <stdint.h>

/* Its flag says who connects.  Tools and launchers bring a name, need one, or have got one from the
 * server that started them. */
enum hello_flag {
    HELLO_CLIENT = 0, /* a process that a server started */
    HELLO_OLD_TOOL = 1,
    HELLO_OLD_LAUNCHER = 2,
    HELLO_TOOL_UNNAMED = 3,
    HELLO_TOOL_NAMED = 4,
    HELLO_TOOL_STARTED = 5,
    HELLO_LAUNCHER_UNNAMED = 6,
    HELLO_LAUNCHER_NAMED = 7,
    HELLO_LAUNCHER_STARTED = 8,
    HELLO_SINGLETON = 9,
    HELLO_SCHEDULER = 10
};

/* True when a connection that begins with this byte is PMIx: its handshake starts with -1, which no
 * text protocol does. */
static inline bool hello_begins(char byte)
{
    return (unsigned char)byte == 0xff;
}

/* Whether the message has a namespace and a rank. */
bool hello_is_named(uint8_t flag);

/* Whether a client of this version of the library is answered as a client, or as a tool: in newer
 * releases a process that was started alone is a client, in older ones a tool. */
bool hello_is_client(uint8_t flag, const char *version);

#endif

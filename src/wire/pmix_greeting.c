/* pmix_hello.c - see pmix_hello.h. */
#include "wire/pmix_greeting.h"

#include "wire/pmix_message.h"

bool hello_is_named(uint8_t flag)
{
    return flag == HELLO_CLIENT || (flag >= HELLO_TOOL_NAMED && flag != HELLO_LAUNCHER_UNNAMED);
}

bool hello_is_client(uint8_t flag, const char *version)
{
    uint32_t release = pmsg_release(version);

    if (flag != HELLO_SINGLETON)
        return flag == HELLO_CLIENT;
    return release >= PMSG_RELEASE(6, 1, 0) ||
           (release >= PMSG_RELEASE(5, 0, 9) && release < PMSG_RELEASE(6, 0, 0));
}

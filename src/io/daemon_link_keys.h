/* daemon_link_keys.h - the secrets of one connection, for daemon_link_crypto.c and its fuzz target:
 * nobody else needs libsodium's header for them. */
#ifndef WIREUP_IO_DAEMON_LINK_KEYS_H
#define WIREUP_IO_DAEMON_LINK_KEYS_H

#include <sodium.h>

struct daemon_link_keys {
    unsigned char seed[crypto_kx_SEEDBYTES];        /* until our fresh keys are made of it */
    unsigned char secret[crypto_kx_SECRETKEYBYTES]; /* until the keys of the streams are known */
    unsigned char open_key[crypto_secretstream_xchacha20poly1305_KEYBYTES]; /* until `open` is */
    crypto_secretstream_xchacha20poly1305_state seal, open;
};

#endif

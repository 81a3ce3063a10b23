/* ip_address_test.c - literals and networks of both families, and text that is none. */
#include "io/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/tap.h"

static struct ip_address of(const char *text)
{
    struct ip_address a;

    if (!ip_address_read(slice_str(text), &a))
        a.family = 0;
    return a;
}

static void test_read(void)
{
    static const char *const none[] = {
        "",      "1.2.3",     "1.2.3.4.5",
        "[::1]", "::1%lo",    "host",
        ":",     "1.2.3.4/8", "0000:0000:0000:0000:0000:0000:0000:0000:00"
    };
    struct ip_address a;

    OK_F(of("10.1.2.3").family == AF_INET && of("2001:db8::7").family == AF_INET6,
         "literals of both families are read");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        OK_F(of(none[i]).family == 0, "'%s' is no address", none[i]);
    OK_F(!ip_address_read(slice_mem("1.2.3.4\0x", 9), &a), "nor is text with a zero byte");
}

static void test_sockets(void)
{
    static const char *const all[] = { "10.1.2.3", "2001:db8::7" };
    struct sockaddr_storage s;
    socklen_t len;

    for (size_t i = 0; i < 2; i++) {
        struct ip_address a = of(all[i]), back;
        ip_address_socket(&a, 4711, &s, &len);
        back = ip_address_of((const struct sockaddr *)&s);
        OK_F(ip_address_equal(&a, &back) &&
                 ntohs(((const struct sockaddr_in *)(const void *)&s)->sin_port) == 4711 &&
                 len == (i ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)),
             "%s as a socket's address and back", all[i]);
    }
    s.ss_family = AF_UNIX;
    OK_F(!ip_address_of((const struct sockaddr *)&s).family && !ip_address_of(NULL).family,
         "other families have none");
}

static void test_networks(void)
{
    static const struct {
        const char *text, *address;
        bool matches;
    } rows[] = {
        { "10.1.2.3", "10.1.2.3", true },
        { "10.1.2.3", "10.1.2.4", false },
        { "10.1.0.0/16", "10.1.2.3", true },
        { "10.1.0.0/16", "10.2.2.3", false },
        { "10.1.2.0/23", "10.1.3.255", true },
        { "10.1.2.0/23", "10.1.4.0", false },
        { "0.0.0.0/0", "10.1.2.3", true },
        { "0.0.0.0/0", "::1", false },
        { "::/0", "::1", true },
        { "2001:db8::/33", "2001:db8:7fff::1", true },
        { "2001:db8::/33", "2001:db8:8000::1", false },
        { "10.1.0.0/33", "10.1.2.3", false },
        { "10.1.0.0/", "10.1.0.0", false },
        { "10.1.0.0/x", "10.1.0.0", false },
        { "eth0", "10.1.2.3", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ip_address a = of(rows[i].address);
        OK_F(ip_address_matches(slice_str(rows[i].text), &a) == rows[i].matches, "%s %s %s",
             rows[i].address, rows[i].matches ? "is in" : "is not in", rows[i].text);
    }
}

static void test_masks(void)
{
    struct ip_address mask = of("255.255.254.0");
    struct sockaddr_storage s;
    socklen_t len;

    ip_address_socket(&mask, 1, &s, &len);
    OK_F(ip_address_mask_bits(AF_INET, (const struct sockaddr *)&s) == 23, "the length of a mask");
    s.ss_family = AF_UNSPEC;
    OK_F(ip_address_mask_bits(AF_INET, (const struct sockaddr *)&s) == 23, "without a family, too");
    OK_F(ip_address_mask_bits(AF_INET6, NULL) == 128 && ip_address_mask_bits(AF_UNIX, NULL) == 0,
         "without a mask all bits");
}

int main(void)
{
    test_masks();
    test_read();
    test_sockets();
    test_networks();
    return tap_done();
}

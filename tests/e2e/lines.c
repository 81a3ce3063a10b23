/* lines.c - a rank that writes lines nobody can mistake: `RANK SEQUENCE LENGTH xxxx… END`.
 *
 *   lines COUNT LENGTH [STREAM]     COUNT lines of LENGTH letters to descriptor STREAM (1), each in
 *                                   several writes of uneven size, so that who cuts at reads is
 *                                   seen
 *   lines check RANKS COUNT LENGTH  reads such lines: every line whole, every rank's lines all
 *                                   there and in order; prints `N lines good` or the first that is
 *                                   not
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char letter(int rank, int sequence, int i)
{
    return (char)('a' + (rank * 7 + sequence * 3 + i) % 26);
}

/* Makes the line, newline included; returns its length. */
static size_t make(char *line, int rank, int sequence, int length)
{
    int at = sprintf(line, "%d %d %d ", rank, sequence, length);

    for (int i = 0; i < length; i++)
        line[at++] = letter(rank, sequence, i);
    return (size_t)(at + sprintf(line + at, " END\n"));
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n <= 0)
            exit(4);
        bytes += n;
        len -= (size_t)n;
    }
}

static int write_lines(int count, int length, int fd)
{
    const char *text = getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0;
    char *line = malloc((size_t)length + 64);
    unsigned x = (unsigned)rank * 2654435761u + 1;

    for (int s = 0; s < count; s++) {
        size_t len = make(line, rank, s, length), done = 0;

        while (done < len) {
            size_t piece;

            x = x * 1664525u + 1013904223u;
            piece = 1 + (x >> 16) % (len / 3 + 1);
            if (piece > len - done)
                piece = len - done;
            write_all(fd, line + done, piece);
            done += piece;
        }
    }
    free(line);
    return 0;
}

static int check(int ranks, int count, int length)
{
    int *next = calloc((size_t)ranks, sizeof(*next)), seen = 0;
    char *want = malloc((size_t)length + 64), *line = NULL;
    size_t room = 0;
    ssize_t len;

    while ((len = getline(&line, &room, stdin)) > 0) {
        int rank = atoi(line);

        if (rank < 0 || rank >= ranks || next[rank] >= count ||
            make(want, rank, next[rank], length) != (size_t)len ||
            memcmp(want, line, (size_t)len) != 0) {
            printf("line %d is not whole: %.60s...\n", seen + 1, line);
            return 1;
        }
        next[rank]++;
        seen++;
    }
    for (int r = 0; r < ranks; r++)
        if (next[r] != count) {
            printf("rank %d: %d lines of %d\n", r, next[r], count);
            return 1;
        }
    printf("%d lines good\n", seen);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "check") == 0)
        return check(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    if (argc == 3 || argc == 4)
        return write_lines(atoi(argv[1]), atoi(argv[2]), argc == 4 ? atoi(argv[3]) : 1);
    fprintf(stderr, "lines: see the top of lines.c\n");
    return 2;
}

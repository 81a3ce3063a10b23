/* doc_text.c - see doc_text.h. */
#include "tools/doc_text.h"

#include <stdbool.h>

void doc_spaces(struct buf *out, size_t n)
{
    while (n--)
        buf_byte(out, ' ');
}

void doc_wrap(struct buf *out, const char *text, size_t indent)
{
    struct slice rest = slice_str(text);
    size_t column = indent;

    while (rest.len) {
        struct slice word = slice_cut(&rest, ' ');
        if (column > indent && column + 1 + word.len > DOC_WIDTH) {
            buf_byte(out, '\n');
            doc_spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            buf_byte(out, ' ');
            column++;
        }
        buf_slice_put(out, word);
        column += word.len;
    }
    buf_byte(out, '\n');
}

static void man_word(struct buf *out, struct slice word, bool begins_line)
{
    bool option = word.len > 1 && word.ptr[0] == '-';

    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\\')
            buf_str(out, "\\e");
        else if (word.ptr[i] == '-' && option)
            buf_str(out, "\\-");
        else if (i == 0 && begins_line && (word.ptr[i] == '.' || word.ptr[i] == '\''))
            buf_printf(out, "\\&%c", word.ptr[i]);
        else
            buf_byte(out, word.ptr[i]);
    }
}

void doc_man(struct buf *out, const char *text)
{
    struct slice rest = slice_str(text);
    size_t column = 0;
    bool sentence_ends = false;

    while (rest.len) {
        struct slice word = slice_cut(&rest, ' ');
        if (column && (sentence_ends || column + 1 + word.len > DOC_WIDTH)) {
            buf_byte(out, '\n');
            column = 0;
        } else if (column) {
            buf_byte(out, ' ');
            column++;
        }
        man_word(out, word, column == 0);
        column += word.len;
        sentence_ends =
            word.len > 1 && word.ptr[word.len - 1] == '.' && word.ptr[word.len - 2] != '.';
    }
    buf_byte(out, '\n');
}

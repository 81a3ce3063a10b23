/* doctor_report_test.c - findings of nodes: lines that are right and wrong, the comparison, the
 * table and the JSON. */
#include "report/doctor_report.h"

#include <string.h>

#include "tests/tap.h"

static const char *const names[] = { "n1", "n2", "n3" };

static bool line(struct doctor_report *r, uint32_t node, const char *text)
{
    return doctor_report_line(r, node, slice_str(text));
}

static bool has_text(struct buf *b, const char *text)
{
    bool found = buf_cstr(b) && strstr(buf_cstr(b), text);

    if (!found)
        printf("# %s\n", buf_cstr(b));
    return found;
}

static void test_lines(void)
{
    struct doctor_report r;

    EQ(doctor_report_open(&r, names, 3), 0);
    OK(line(&r, 0, "check\tversion\tok\t1.2\x1b[2J"));
    OK(!strcmp(r.nodes[0].checks[DOCTOR_VERSION].text, "1.2.[2J")); /* nothing for a terminal */
    OK(!line(&r, 0, "check\tversion\tfine\t1.2"));
    OK(!line(&r, 0, "check\tnonsense\tok\t1.2"));
    OK(!line(&r, 0, "check"));
    OK(!line(&r, 0, ""));
    OK(!line(&r, 3, "check\tversion\tok\t1.2"));
    OK(line(&r, 1, "library\tliba.so\t/lib/liba.so\tabc"));
    OK(line(&r, 1, "library\tlibb.so\t\t"));
    OK(!line(&r, 1, "library\t\t\t"));
    for (int i = 0; i < 700; i++)
        line(&r, 2, "library\tliba.so\t/lib/liba.so\tabc");
    EQ(r.nodes[2].nlibraries, 600);
    doctor_report_close(&r);
    doctor_report_close(&r);
}

static void fill(struct doctor_report *r)
{
    struct buf out = BUF_NULL(1 << 16);

    EQ(doctor_report_open(r, names, 3), 0);
    doctor_line_put(&out, DOCTOR_VERSION, DOCTOR_OK, "%s", "0.1\n0");
    doctor_line_library(&out, "liba.so", "/lib/liba.so", "aaaa");
    for (uint32_t i = 0; i < 3; i++) {
        struct slice rest = buf_slice(&out);
        while (rest.len)
            OK(doctor_report_line(r, i, slice_cut(&rest, '\n')));
        doctor_report_set(r, i, DOCTOR_TMP, DOCTOR_OK, "%u MiB free", 100 + i);
    }
    buf_free(&out);
}

static void test_same(void)
{
    struct doctor_report r;
    struct buf out = BUF_NULL(1 << 16);

    fill(&r);
    doctor_report_compare(&r);
    EQ(doctor_report_count(&r, DOCTOR_BAD), 0);
    doctor_report_text(&r, false, &out);
    OK(has_text(&out, "version      ok       n1,n2,n3: 0.1 0\n"));
    OK(has_text(&out, "tmp          ok       n1,n2,n3: 100 MiB free (the first)\n"));
    OK(has_text(&out, "libraries    ok       n1,n2,n3: 1, the same on all nodes\n"));
    OK(has_text(&out, "3 nodes: 0 bad, 0 warnings\n"));
    OK(!strchr(buf_cstr(&out), '\033'));
    buf_clear(&out);
    doctor_report_text(&r, true, &out);
    OK(has_text(&out, "\033[32mok     \033[0m"));
    buf_free(&out);
    doctor_report_close(&r);
}

static void test_other(void)
{
    struct doctor_report r;
    struct buf out = BUF_NULL(1 << 16);

    fill(&r);
    OK(line(&r, 1, "check\tversion\tok\t0.2"));
    r.nodes[2].libraries[0].id = "bbbb";
    OK(line(&r, 0, "library\tlibx.so\t\t"));
    doctor_report_compare(&r);
    EQ(doctor_report_count(&r, DOCTOR_BAD), 3);
    doctor_report_text(&r, false, &out);
    OK(has_text(&out, "version      bad      n2: 0.2; most nodes have 0.1 0\n"));
    OK(has_text(&out, "libraries    bad      n3: liba.so differs from most nodes: /lib/liba.so\n"));
    OK(has_text(&out, "libraries    bad      n1: libx.so is not found\n"));
    buf_clear(&out);
    doctor_report_json(&r, &out);
    OK(buf_ok(&out));
    OK(has_text(&out, "{\"check\":\"version\",\"state\":\"bad\",\"text\":\"0.2; most nodes"));
    OK(has_text(&out, "{\"name\":\"libx.so\",\"path\":\"\",\"build_id\":\"\"}"));
    buf_free(&out);
    doctor_report_close(&r);
}

int main(void)
{
    test_lines();
    test_same();
    test_other();
    return tap_done();
}

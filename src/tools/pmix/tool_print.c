/* tool_print.c - see tool_print.h. */
#include "tools/pmix/tool_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "pmix.h"

enum { OUT_MAX = 1 << 30, REASON_MAX = 4096, DEEP = 16 };

void tool_out_begin(struct tool_out *o, const struct tool_line *l)
{
    char schema[64];

    *o = (struct tool_out){ .line = l, .is_json = l->values[OPTION_json] != NULL };
    buf_init(&o->text, OUT_MAX);
    if (!o->is_json)
        return;
    snprintf(schema, sizeof schema, "wireup-%s-1", tool_rows[l->tool].name);
    json_init_spaced(&o->json, &o->text);
    json_object(&o->json, NULL);
    json_str(&o->json, "schema", schema);
}

int tool_out_end(struct tool_out *o, int status)
{
    const char *text;
    bool good;

    if (o->is_json) {
        json_object_end(&o->json);
        json_done(&o->json);
        buf_byte(&o->text, '\n');
    }
    text = buf_cstr(&o->text);
    good = text && fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    if (!good)
        log_error(&o->line->log, "standard output cannot be written");
    buf_free(&o->text);
    return good ? status : TOOL_FAILED;
}

const char *tool_key_name(const char *key)
{
    return PMIx_Get_attribute_name(key);
}

/* ---- values as text -------------------------------------------------------------------------- */

static void put_clean(struct buf *out, const char *text)
{
    for (; text && *text; text++)
        buf_byte(out, (unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

/* A server may tell why, in words of its own. */
static void print_refusal(const struct tool_line *l, pmix_status_t status, const pmix_info_t *infos,
                          size_t n)
{
    struct buf why = BUF_NULL(REASON_MAX);

    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, PMIX_EVENT_TEXT_MESSAGE) &&
            infos[i].value.type == PMIX_STRING) {
            buf_str(&why, ": ");
            put_clean(&why, infos[i].value.data.string);
        }
    }
    log_error(&l->log, "the server refuses the request: %s%s", PMIx_Error_string(status),
              buf_len(&why) && buf_cstr(&why) ? buf_cstr(&why) : "");
    buf_free(&why);
}

int tool_results(const struct tool_line *l, pmix_status_t status, pmix_info_t *infos, size_t n,
                 tool_print_fn *print)
{
    int rc = TOOL_FAILED;

    if (status == PMIX_SUCCESS)
        rc = print(l, infos, n);
    else
        print_refusal(l, status, infos, n);
    PMIx_Info_free(infos, n);
    return rc;
}

static void put_rank(struct buf *out, pmix_rank_t rank)
{
    if (rank == PMIX_RANK_WILDCARD)
        buf_byte(out, '*');
    else if (rank <= PMIX_RANK_VALID)
        buf_u64(out, rank);
    else
        buf_str(out, "?");
}

static void put_proc(struct buf *out, const pmix_proc_t *p)
{
    put_clean(out, p->nspace);
    buf_byte(out, ':');
    put_rank(out, p->rank);
}

static void put_pinfo(struct buf *out, const pmix_proc_info_t *p)
{
    put_proc(out, &p->proc);
    buf_printf(out, " on ");
    put_clean(out, p->hostname ? p->hostname : "?");
    buf_printf(out, ", pid %ld, %s, ", (long)p->pid, PMIx_Proc_state_string(p->state));
    put_clean(out, p->executable_name ? p->executable_name : "?");
}

static bool number_of(const pmix_value_t *v, int64_t *number_p)
{
    switch (v->type) {
    case PMIX_PID: *number_p = v->data.pid; return true;
    case PMIX_PROC_RANK: *number_p = v->data.rank; return v->data.rank <= PMIX_RANK_VALID;
    case PMIX_SIZE:
    case PMIX_UINT64: *number_p = (int64_t)v->data.uint64; return v->data.uint64 <= INT64_MAX;
    case PMIX_BYTE: *number_p = v->data.byte; return true;
    case PMIX_INT:
    case PMIX_INT8:
    case PMIX_INT16:
    case PMIX_INT32:
    case PMIX_INT64:
    case PMIX_UINT:
    case PMIX_UINT8:
    case PMIX_UINT16:
    case PMIX_UINT32: return PMIx_Value_get_number(v, number_p, PMIX_INT64) == PMIX_SUCCESS;
    default: return false;
    }
}

/* True: v is a number with a part behind the point. */
static bool decimal_of(const pmix_value_t *v, double *number_p)
{
    *number_p = v->type == PMIX_FLOAT ? (double)v->data.fval : v->data.dval;
    return v->type == PMIX_FLOAT || v->type == PMIX_DOUBLE;
}

/* Any other type, by the library, on one line. */
static void put_other(struct buf *out, const pmix_value_t *v)
{
    char *text = PMIx_Value_string(v);
    const char *value = text ? strstr(text, "Value: ") : NULL;

    put_clean(out, value ? value + 7 : text);
    free(text);
}

static void put_scalar(struct buf *out, const pmix_value_t *v)
{
    int64_t number;
    double decimal;

    if (v->type == PMIX_STRING)
        put_clean(out, v->data.string);
    else if (v->type == PMIX_BOOL)
        buf_str(out, v->data.flag ? "true" : "false");
    else if (v->type == PMIX_STATUS)
        buf_str(out, PMIx_Error_string(v->data.status));
    else if (v->type == PMIX_PROC_STATE)
        buf_str(out, PMIx_Proc_state_string(v->data.state));
    else if (v->type == PMIX_PROC && v->data.proc)
        put_proc(out, v->data.proc);
    else if (v->type == PMIX_PROC_INFO && v->data.pinfo)
        put_pinfo(out, v->data.pinfo);
    else if (number_of(v, &number))
        buf_i64(out, number);
    else if (decimal_of(v, &decimal))
        buf_printf(out, "%g", decimal);
    else
        put_other(out, v);
}

static void print_info(struct buf *out, const pmix_info_t *info, unsigned indent)
{
    bool nested = info->value.type == PMIX_DATA_ARRAY;

    buf_printf(out, "%*s", (int)indent, "");
    put_clean(out, tool_key_name(info->key));
    buf_byte(out, ':');
    if (!nested) {
        buf_byte(out, ' ');
        put_scalar(out, &info->value);
    }
    buf_byte(out, '\n');
    if (nested)
        tool_print_value(out, &info->value, indent + 2);
}

/* Item i of an array as a value, which borrows from it.  False: of no type that is known here. */
static bool item_of(const pmix_data_array_t *a, size_t i, pmix_value_t *v_p)
{
    static const struct {
        pmix_data_type_t type;
        size_t size;
    } plain[] = {
        { PMIX_STRING, sizeof(char *) },
        { PMIX_BOOL, sizeof(bool) },
        { PMIX_INT, sizeof(int) },
        { PMIX_UINT32, 4 },
        { PMIX_PROC_RANK, 4 },
        { PMIX_INT32, 4 },
        { PMIX_UINT64, 8 },
        { PMIX_SIZE, sizeof(size_t) },
        { PMIX_UINT16, 2 },
        { PMIX_DOUBLE, sizeof(double) },
        { PMIX_FLOAT, sizeof(float) },
        { PMIX_UINT8, 1 },
        { PMIX_PID, sizeof(pid_t) },
        { PMIX_STATUS, sizeof(pmix_status_t) },
    };

    *v_p = (pmix_value_t){ .type = a->type };
    if (a->type == PMIX_PROC)
        v_p->data.proc = (pmix_proc_t *)a->array + i;
    else if (a->type == PMIX_PROC_INFO)
        v_p->data.pinfo = (pmix_proc_info_t *)a->array + i;
    else if (a->type == PMIX_VALUE)
        *v_p = ((pmix_value_t *)a->array)[i];
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        if (plain[k].type != a->type)
            continue;
        memcpy(&v_p->data, (char *)a->array + i * plain[k].size, plain[k].size);
        return true;
    }
    return a->type == PMIX_PROC || a->type == PMIX_PROC_INFO || a->type == PMIX_VALUE;
}

static void print_array(struct buf *out, const pmix_value_t *v, unsigned indent)
{
    const pmix_data_array_t *a = v->data.darray;
    pmix_value_t item;

    for (size_t i = 0; a && i < a->size; i++) {
        if (a->type == PMIX_INFO) {
            print_info(out, (pmix_info_t *)a->array + i, indent);
        } else if (item_of(a, i, &item)) {
            tool_print_value(out, &item, indent);
        } else {
            buf_printf(out, "%*s%zu of %s\n", (int)indent, "", a->size,
                       PMIx_Data_type_string(a->type));
            return;
        }
    }
}

void tool_print_value(struct buf *out, const pmix_value_t *v, unsigned indent)
{
    if (v->type == PMIX_DATA_ARRAY && indent < 2 * DEEP) {
        print_array(out, v, indent);
        return;
    }
    buf_printf(out, "%*s", (int)indent, "");
    put_scalar(out, v);
    buf_byte(out, '\n');
}

/* ---- values as JSON -------------------------------------------------------------------------- */

static void json_proc(struct json *j, const pmix_proc_t *p)
{
    json_str(j, "namespace", p->nspace);
    if (p->rank <= PMIX_RANK_VALID)
        json_u64(j, "rank", p->rank);
    else
        json_null(j, "rank");
}

static void json_pinfo(struct json *j, const pmix_proc_info_t *p)
{
    json_proc(j, &p->proc);
    json_str(j, "node", p->hostname);
    json_i64(j, "pid", p->pid);
    json_str(j, "state", PMIx_Proc_state_string(p->state));
    json_i64(j, "exit_code", p->exit_code);
    json_str(j, "program", p->executable_name);
}

static void json_scalar(struct json *j, const char *key, const pmix_value_t *v, int depth);

static void json_list(struct json *j, const char *key, const pmix_data_array_t *a, int depth)
{
    pmix_value_t item;

    json_array(j, key);
    for (size_t i = 0; a && i < a->size && depth < DEEP; i++) {
        if (a->type == PMIX_INFO)
            tool_json_info(j, (pmix_info_t *)a->array + i);
        else if (item_of(a, i, &item))
            json_scalar(j, NULL, &item, depth + 1);
    }
    json_array_end(j);
}

static void json_scalar(struct json *j, const char *key, const pmix_value_t *v, int depth)
{
    struct buf text = BUF_NULL(OUT_MAX);
    int64_t number;
    double decimal;

    if (v->type == PMIX_DATA_ARRAY) {
        json_list(j, key, v->data.darray, depth);
    } else if ((v->type == PMIX_PROC && v->data.proc) ||
               (v->type == PMIX_PROC_INFO && v->data.pinfo)) {
        json_object(j, key);
        if (v->type == PMIX_PROC)
            json_proc(j, v->data.proc);
        else
            json_pinfo(j, v->data.pinfo);
        json_object_end(j);
    } else if (v->type == PMIX_STRING) {
        json_str(j, key, v->data.string);
    } else if (v->type == PMIX_BOOL) {
        json_bool(j, key, v->data.flag);
    } else if (number_of(v, &number)) {
        json_i64(j, key, number);
    } else if (decimal_of(v, &decimal)) {
        json_decimal(j, key, decimal, 6);
    } else {
        put_scalar(&text, v);
        json_str(j, key, buf_cstr(&text));
    }
    buf_free(&text);
}

void tool_json_value(struct json *j, const pmix_value_t *v)
{
    json_str(j, "type", PMIx_Data_type_string(v->type));
    json_scalar(j, "value", v, 0);
}

void tool_json_info(struct json *j, const pmix_info_t *info)
{
    json_object(j, NULL);
    json_str(j, "key", info->key);
    json_str(j, "name", tool_key_name(info->key));
    tool_json_value(j, &info->value);
    json_object_end(j);
}

/* ---- tables ---------------------------------------------------------------------------------- */

void tool_table_cell(struct tool_table *t, const char *format, ...)
{
    struct buf clean = BUF_NULL(1 << 16);
    char *text = NULL;
    va_list args;

    while (!t->columns || (t->columns < TOOL_COLUMNS && t->heads[t->columns]))
        t->columns++;
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        char **more = realloc(t->cells, room * sizeof *more);
        if (!more)
            return;
        t->cells = more;
        t->room = room;
    }
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    put_clean(&clean, text ? text : "?");
    free(text);
    t->cells[t->n++] = buf_steal(&clean, NULL);
}

static const char *cell_of(const struct tool_table *t, size_t i)
{
    return i < t->n && t->cells[i] ? t->cells[i] : "";
}

static void put_cell(struct buf *out, const struct tool_table *t, unsigned column, const char *text,
                     int width)
{
    bool right = t->heads[column][0] == '>';

    if (!right && column + 1 == t->columns)
        buf_str(out, text);
    else
        buf_printf(out, right ? "%*s" : "%-*s", width, text);
    buf_str(out, column + 1 == t->columns ? "\n" : "  ");
}

void tool_table_print(struct tool_table *t, struct buf *out, unsigned indent)
{
    int width[TOOL_COLUMNS] = { 0 };

    for (unsigned c = 0; c < t->columns; c++) {
        width[c] = (int)strlen(t->heads[c]) - (t->heads[c][0] == '>');
        for (size_t i = c; i < t->n; i += t->columns)
            width[c] =
                (int)strlen(cell_of(t, i)) > width[c] ? (int)strlen(cell_of(t, i)) : width[c];
    }
    buf_printf(out, "%*s", (int)indent, "");
    for (unsigned c = 0; c < t->columns; c++)
        put_cell(out, t, c, t->heads[c] + (t->heads[c][0] == '>'), width[c]);
    for (size_t i = 0; i < t->n; i++) {
        if (i % t->columns == 0)
            buf_printf(out, "%*s", (int)indent, "");
        put_cell(out, t, (unsigned)(i % t->columns), cell_of(t, i), width[i % t->columns]);
    }
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
    t->cells = NULL;
    t->n = t->room = 0;
}

/* SPDX-License-Identifier: MIT */
/* What NNI's managers say of tuner and assessor: the input is the JSON of
 * --exp_params or, if it begins with '=', the argument itself.  Either one
 * line that begins with the option, or a tuner with a name or a class; what a
 * built-in name stands for is a plugin or one line. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "fuzz_paths.h"
#include "nni/exp_params.h"
#include "nni/names.h"

#include <string.h>

static void
put_base64(struct buf *out, const uint8_t *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)data[i] << 16;

        bits |= n > 1 ? (uint32_t)data[i + 1] << 8 : 0;
        bits |= n > 2 ? data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            buf_add_char(out, k > n ? '=' : letters[bits >> (18 - 6 * k) & 63]);
    }
}

static void
check_line(const struct err *err)
{
    MUST(err->code != ERR_NONE && err->text[0] != '\0');
    MUST(strchr(err->text, '\n') == NULL);
}

static void
check_algorithm(const struct nni_algorithm *a, enum plugin_kind kind)
{
    struct plugin_paths *paths = fuzz_paths_open();
    struct err err = {0};
    struct json *translated = NULL;
    const char *plugin = NULL;

    MUST(a->name != NULL || a->class_name != NULL);
    MUST(a->args.node == NULL || jval_type(a->args) == JSON_OBJECT ||
         jval_type(a->args) == JSON_NULL);
    if (a->name != NULL &&
        names_resolve(paths, kind, a->name, &plugin, &err) != 0) {
        check_line(&err);
        MUST(names_known(kind, a->name));
    } else if (a->name != NULL) {
        MUST(plugin != NULL);
        if (names_translate(a->name, a->args, names_mode(kind, a->name),
                            &translated, &err) != 0)
            check_line(&err);
        json_free(translated);
    }
    plugin_paths_free(paths);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct exp_params p;
    struct buf text;

    buf_init(&text, (size_t)1 << 24);
    if (size > 0 && data[0] == '=')
        buf_add(&text, data + 1, size - 1);
    else
        put_base64(&text, data, size);
    if (exp_params_read(buf_text(&text), &p, &err) != 0) {
        check_line(&err);
        MUST(strncmp(err.text, "--exp_params", 12) == 0);
    } else {
        MUST(p.tuner.given);
        check_algorithm(&p.tuner, PLUGIN_TUNER);
        if (p.assessor.given)
            check_algorithm(&p.assessor, PLUGIN_ASSESSOR);
    }
    exp_params_fini(&p);
    buf_fini(&text);
    return 0;
}

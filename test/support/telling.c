/*
 * telling.c - a type of text for tests, whose output function runs statements of its own: one that changes a catalog and
 * some with constants, which a backend meets for the first time. Such things only a superuser's C code can do.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(telling_in);
PG_FUNCTION_INFO_V1(telling_out);

Datum telling_in(PG_FUNCTION_ARGS) { PG_RETURN_TEXT_P(cstring_to_text(PG_GETARG_CSTRING(0))); }

Datum telling_out(PG_FUNCTION_ARGS) {
  char* shown = text_to_cstring(PG_GETARG_TEXT_PP(0));
  static int turn = 0;
  SPI_connect();
  SPI_execute("CREATE TEMP TABLE told (a int); DROP TABLE told", false, 0);
  SPI_execute(psprintf("SELECT name AS told%d, 'a', 'b', 'c' FROM people WHERE id = 77 AND name <> 'd'", ++turn), true, 0);
  SPI_finish();
  PG_RETURN_CSTRING(shown);
}

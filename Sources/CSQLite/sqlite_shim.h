#include <sqlite3.h>
#include <zlib.h>

/* check_corpus [--now TIME] [--vault-root DIR] [--object-format sha1|sha256] [--extension EXT]... [--max-age-us N]
 *
 * Reads "KIND FILE" lines (KIND: save or delete) and prints a line for each: OK, or the reason code with which the
 * library refuses that file's bytes. TIME: the reference clock, "2026-11-30T12:00:00Z" or microseconds since 1970.
 */
#include <intray/intray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, EXTENSIONS_MAX = 16 };

static int usage(const char* what) {
  fprintf(stderr, "check_corpus: %s\n", what);
  return 2;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
  int64_t era_year;
  if (month <= 2) --year;
  era_year = year % 400;
  return year / 400 * 146097 + era_year * 365 + era_year / 4 - era_year / 100 +
         (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1 - 719468;
}

/* -1: no time. */
static int64_t time_of(const char* text) {
  int year, month, day, hour, minute, second;
  char zone;
  char* end;
  if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%c", &year, &month, &day, &hour, &minute, &second, &zone) == 7 &&
      zone == 'Z')
    return ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60000000 + (int64_t)second * 1000000;
  year = 0;
  {
    const long long us = strtoll(text, &end, 10);
    return *text == '\0' || *end != '\0' ? -1 : (int64_t)us;
  }
}

int main(int argc, char** argv) {
  static char bytes[BYTES_MAX];
  static const char* extensions[EXTENSIONS_MAX];
  char line[4096];
  intray_rules rules;
  int i;

  memset(&rules, 0, sizeof rules);
  rules.struct_size = sizeof rules;
  for (i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (value == NULL) return usage("an option lacks its value");
    if (strcmp(argv[i], "--now") == 0) {
      rules.now_us = time_of(value);
      if (rules.now_us <= 0) return usage("--now: no time");
    } else if (strcmp(argv[i], "--vault-root") == 0) {
      rules.vault_root = value;
    } else if (strcmp(argv[i], "--object-format") == 0) {
      if (strcmp(value, "sha1") != 0 && strcmp(value, "sha256") != 0) return usage("--object-format: sha1 or sha256");
      rules.object_format = strcmp(value, "sha256") == 0 ? INTRAY_SHA256 : INTRAY_SHA1;
    } else if (strcmp(argv[i], "--extension") == 0) {
      if (rules.extension_count == EXTENSIONS_MAX) return usage("too many extensions");
      extensions[rules.extension_count++] = value;
      rules.extensions = extensions;
    } else if (strcmp(argv[i], "--max-age-us") == 0) {
      rules.max_age_us = strtoll(value, NULL, 10);
    } else {
      return usage("unknown option");
    }
  }

  while (fgets(line, sizeof line, stdin) != NULL) {
    char* file_name = strchr(line, ' ');
    intray_error* error = NULL;
    FILE* file;
    size_t size;
    int kind;
    int code;
    if (file_name == NULL) return usage("a line is not KIND FILE");
    *file_name++ = '\0';
    file_name[strcspn(file_name, "\n")] = '\0';
    if (strcmp(line, "save") != 0 && strcmp(line, "delete") != 0) return usage("KIND is save or delete");
    kind = strcmp(line, "save") == 0 ? INTRAY_SAVE : INTRAY_DELETE;
    file = fopen(file_name, "rb");
    if (file == NULL) return usage(file_name);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    code = intray_job_parse(kind, bytes, size, &rules, NULL, &error);
    if (code != INTRAY_OK && code != INTRAY_REFUSED) {
      fprintf(stderr, "check_corpus: %s: %d: %s\n", file_name, code, intray_error_message(error));
      intray_error_free(error);
      return 1;
    }
    puts(code == INTRAY_OK ? "OK" : intray_error_reason(error));
    intray_error_free(error);
  }
  return 0;
}

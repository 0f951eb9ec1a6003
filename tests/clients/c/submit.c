/* submit ROOT COMMIT PATH CONTENT_FILE WAIT_US [JOB_ID CREATED_AT KEY MISSION]: a requester in C99 that has nothing of
 * intray but its installed header and library. Makes a SAVE job for the note PATH of a repository, hands it over twice,
 * prints how each went, waits for its receipt and prints that. WAIT_US "none": no wait.
 */
#include <intray/intray.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* word_of(int code) {
  switch (code) {
    case INTRAY_OK: return "OK";
    case INTRAY_ALREADY: return "ALREADY";
    case INTRAY_OUTCOME_UNKNOWN: return "OUTCOME_UNKNOWN";
    case INTRAY_TIMEOUT: return "TIMEOUT";
    case INTRAY_REFUSED: return "REFUSED";
    case INTRAY_NOT_FOUND: return "NOT_FOUND";
    case INTRAY_DENIED: return "DENIED";
    case INTRAY_NO_SPACE: return "NO_SPACE";
    case INTRAY_BUSY: return "BUSY";
    default: return "another code";
  }
}

static int stop(const char* what, int code, intray_error* error) {
  const char* reason = intray_error_reason(error);
  printf("%s %s%s%s\n", what, word_of(code), reason == NULL ? "" : " ", reason == NULL ? "" : reason);
  fprintf(stderr, "submit: %s\n", intray_error_message(error));
  intray_error_free(error);
  return code;
}

int main(int argc, char** argv) {
  static char content[1 << 20];
  char path[2048];
  char provenance[65];
  char object_id[35];
  intray_error* error = NULL;
  intray_inbox* inbox = NULL;
  intray_job* job = NULL;
  intray_receipt* receipt = NULL;
  intray_save_fields fields;
  FILE* file;
  size_t size;
  int code;
  int again;

  if (argc < 6) return 2;
  signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error, not the end */
  file = fopen(argv[4], "rb");
  if (file == NULL) return 2;
  size = fread(content, 1, sizeof content, file);
  fclose(file);

  memset(&fields, 0, sizeof fields);
  fields.struct_size = sizeof fields;
  snprintf(path, sizeof path, "/app/vault/%s", argv[3]);
  code = intray_object_id_of_path(argv[3], object_id, &error);
  if (code != INTRAY_OK) return stop("object id", code, error);
  code = intray_provenance_hash(argv[2], content, size, object_id, argv[3], "UNSET", provenance, &error);
  if (code != INTRAY_OK) return stop("provenance", code, error);
  fields.object_id = object_id;
  fields.vault_path = path;
  fields.source_commit = argv[2];
  fields.provenance_hash = provenance;
  fields.expected_state = "UNSET";
  if (argc == 10) {
    fields.job_id = argv[6];
    fields.created_at = argv[7];
    fields.idempotency_key = argv[8];
    fields.mission_id = argv[9];
  }
  code = intray_job_make_save(&fields, NULL, &job, &error);
  if (code != INTRAY_OK) return stop("make", code, error);
  printf("job %s %s\n", intray_job_id(job), intray_job_file_name(job));

  code = intray_inbox_open(argv[1], INTRAY_SAVE, &inbox, &error);
  if (code != INTRAY_OK) return stop("open", code, error);
  code = intray_submit(inbox, job, &error);
  if (code != INTRAY_OK && code != INTRAY_ALREADY) return stop("submit", code, error);
  printf("submit %s\n", word_of(code));
  again = intray_submit(inbox, job, &error);
  if (again != INTRAY_OK && again != INTRAY_ALREADY) return stop("again", again, error);
  printf("again %s\n", word_of(again));

  if (strcmp(argv[5], "none") != 0) {
    code = intray_wait(inbox, job, strtoll(argv[5], NULL, 10), &receipt, &error);
    if (code != INTRAY_OK) return stop("wait", code, error);
    printf("receipt %d %s\n", intray_receipt_state(receipt), intray_receipt_result(receipt));
    printf("%s\n", intray_receipt_json(receipt));
    intray_receipt_free(receipt);
  }
  intray_job_free(job);
  intray_inbox_free(inbox);
  return 0;
}

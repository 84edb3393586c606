// libpq's functions under their own names, each of which calls the one of the library that is loaded by then: a store
// on a PostgreSQL server is the rarer one.
#include <libpq-fe.h>

#include <cstddef>

#include "base/late_library.h"

namespace {
bk::LateLibrary library("libpq.so.5", "libpq5");
}  // namespace

extern "C" {

void PQclear(PGresult* result) {
  BK_LATE(library, PQclear);
  real(result);
}

ExecStatusType PQresultStatus(const PGresult* result) {
  BK_LATE(library, PQresultStatus);
  return real(result);
}

char* PQresultErrorField(const PGresult* result, int field) {
  BK_LATE(library, PQresultErrorField);
  return real(result, field);
}

int PQntuples(const PGresult* result) {
  BK_LATE(library, PQntuples);
  return real(result);
}

int PQgetisnull(const PGresult* result, int row, int column) {
  BK_LATE(library, PQgetisnull);
  return real(result, row, column);
}

char* PQgetvalue(const PGresult* result, int row, int column) {
  BK_LATE(library, PQgetvalue);
  return real(result, row, column);
}

int PQgetlength(const PGresult* result, int row, int column) {
  BK_LATE(library, PQgetlength);
  return real(result, row, column);
}

Oid PQftype(const PGresult* result, int column) {
  BK_LATE(library, PQftype);
  return real(result, column);
}

unsigned char* PQunescapeBytea(const unsigned char* text, std::size_t* length) {
  BK_LATE(library, PQunescapeBytea);
  return real(text, length);
}

void PQfreemem(void* memory) {
  BK_LATE(library, PQfreemem);
  real(memory);
}

PGconn* PQconnectdb(const char* where) {
  BK_LATE(library, PQconnectdb);
  return real(where);
}

void PQfinish(PGconn* connection) {
  BK_LATE(library, PQfinish);
  real(connection);
}

ConnStatusType PQstatus(const PGconn* connection) {
  BK_LATE(library, PQstatus);
  return real(connection);
}

char* PQerrorMessage(const PGconn* connection) {
  BK_LATE(library, PQerrorMessage);
  return real(connection);
}

PQnoticeProcessor PQsetNoticeProcessor(PGconn* connection, PQnoticeProcessor processor, void* argument) {
  BK_LATE(library, PQsetNoticeProcessor);
  return real(connection, processor, argument);
}

PGresult* PQexec(PGconn* connection, const char* query) {
  BK_LATE(library, PQexec);
  return real(connection, query);
}

PGresult* PQexecParams(PGconn* connection, const char* command, int count, const Oid* types, const char* const* values,
                       const int* lengths, const int* formats, int result_format) {
  BK_LATE(library, PQexecParams);
  return real(connection, command, count, types, values, lengths, formats, result_format);
}

PQconninfoOption* PQconninfoParse(const char* where, char** error) {
  BK_LATE(library, PQconninfoParse);
  return real(where, error);
}

void PQconninfoFree(PQconninfoOption* options) {
  BK_LATE(library, PQconninfoFree);
  real(options);
}

}  // extern "C"

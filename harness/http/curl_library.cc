// libcurl's functions under their own names, each of which calls the one of the library that is loaded by then: it
// brings thirty libraries with it, and most commands never connect.
#define CURL_DISABLE_TYPECHECK  // which would make macros of the names
#include <curl/curl.h>

#include <cstdarg>

#include "base/late_library.h"

namespace {

bk::LateLibrary library("libcurl.so.4", "libcurl4");

// An option's value is a long, a curl_off_t or a pointer, and all of them travel alike.
static_assert(sizeof(long) == sizeof(void*) && sizeof(curl_off_t) == sizeof(void*));

}  // namespace

#pragma GCC diagnostic ignored "-Wvarargs"  // libcurl's own declarations pass an enumeration before the rest

extern "C" {

CURLcode curl_global_init(long flags) {
  BK_LATE(library, curl_global_init);
  return real(flags);
}

CURL* curl_easy_init() {
  BK_LATE(library, curl_easy_init);
  return real();
}

void curl_easy_cleanup(CURL* easy) {
  BK_LATE(library, curl_easy_cleanup);
  real(easy);
}

CURLcode curl_easy_setopt(CURL* easy, CURLoption option, ...) {
  BK_LATE(library, curl_easy_setopt);
  va_list rest;
  va_start(rest, option);
  void* const value = va_arg(rest, void*);
  va_end(rest);
  return real(easy, option, value);
}

CURLcode curl_easy_getinfo(CURL* easy, CURLINFO info, ...) {
  BK_LATE(library, curl_easy_getinfo);
  va_list rest;
  va_start(rest, info);
  void* const value = va_arg(rest, void*);
  va_end(rest);
  return real(easy, info, value);
}

CURLcode curl_easy_pause(CURL* easy, int what) {
  BK_LATE(library, curl_easy_pause);
  return real(easy, what);
}

const char* curl_easy_strerror(CURLcode code) {
  BK_LATE(library, curl_easy_strerror);
  return real(code);
}

CURLM* curl_multi_init() {
  BK_LATE(library, curl_multi_init);
  return real();
}

CURLMcode curl_multi_cleanup(CURLM* multi) {
  BK_LATE(library, curl_multi_cleanup);
  return real(multi);
}

CURLMcode curl_multi_setopt(CURLM* multi, CURLMoption option, ...) {
  BK_LATE(library, curl_multi_setopt);
  va_list rest;
  va_start(rest, option);
  void* const value = va_arg(rest, void*);
  va_end(rest);
  return real(multi, option, value);
}

CURLMcode curl_multi_add_handle(CURLM* multi, CURL* easy) {
  BK_LATE(library, curl_multi_add_handle);
  return real(multi, easy);
}

CURLMcode curl_multi_remove_handle(CURLM* multi, CURL* easy) {
  BK_LATE(library, curl_multi_remove_handle);
  return real(multi, easy);
}

CURLMcode curl_multi_socket_action(CURLM* multi, curl_socket_t socket, int events, int* running) {
  BK_LATE(library, curl_multi_socket_action);
  return real(multi, socket, events, running);
}

CURLMsg* curl_multi_info_read(CURLM* multi, int* queued) {
  BK_LATE(library, curl_multi_info_read);
  return real(multi, queued);
}

curl_slist* curl_slist_append(curl_slist* list, const char* text) {
  BK_LATE(library, curl_slist_append);
  return real(list, text);
}

void curl_slist_free_all(curl_slist* list) {
  BK_LATE(library, curl_slist_free_all);
  real(list);
}

}  // extern "C"

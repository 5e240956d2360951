#pragma once
#include <curl/curl.h>
#include <sys/socket.h>

// Variadic functions that Swift cannot call.

/// curl_easy_setopt with a number.
static inline CURLcode ccurl_set_number(CURL *request, CURLoption option, long value) { return curl_easy_setopt(request, option, value); }
/// curl_easy_setopt with a text, which curl copies.
static inline CURLcode ccurl_set_text(CURL *request, CURLoption option, const char *value) { return curl_easy_setopt(request, option, value); }
/// curl_easy_setopt with a list of headers, which must outlive the request.
static inline CURLcode ccurl_set_list(CURL *request, CURLoption option, struct curl_slist *value) { return curl_easy_setopt(request, option, value); }
/// curl_easy_setopt with a pointer for callbacks.
static inline CURLcode ccurl_set_pointer(CURL *request, CURLoption option, void *value) { return curl_easy_setopt(request, option, value); }
/// curl_easy_setopt of CURLOPT_WRITEFUNCTION.
static inline CURLcode ccurl_set_write(CURL *request, curl_write_callback function) { return curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, function); }
/// curl_easy_setopt of CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode ccurl_set_opener(CURL *request, curl_opensocket_callback function) { return curl_easy_setopt(request, CURLOPT_OPENSOCKETFUNCTION, function); }
/// curl_easy_setopt of CURLOPT_DEBUGFUNCTION, which sees bytes before they are decoded.
static inline CURLcode ccurl_set_observer(CURL *request, curl_debug_callback function) { return curl_easy_setopt(request, CURLOPT_DEBUGFUNCTION, function); }
/// curl_easy_setopt of CURLOPT_XFERINFOFUNCTION, which can end a request.
static inline CURLcode ccurl_set_progress(CURL *request, curl_xferinfo_callback function) { return curl_easy_setopt(request, CURLOPT_XFERINFOFUNCTION, function); }
/// curl_easy_setopt of CURLOPT_PREREQFUNCTION, which is called when a connection is there, before the request is sent on it.
static inline CURLcode ccurl_set_sender(CURL *request, curl_prereq_callback function) { return curl_easy_setopt(request, CURLOPT_PREREQFUNCTION, function); }
/// curl_easy_getinfo of a long.
static inline CURLcode ccurl_get_number(CURL *request, CURLINFO info, long *value) { return curl_easy_getinfo(request, info, value); }
/// curl_easy_getinfo of a curl_off_t.
static inline CURLcode ccurl_get_offset(CURL *request, CURLINFO info, curl_off_t *value) { return curl_easy_getinfo(request, info, value); }
/// curl_multi_setopt with a number.
static inline CURLMcode ccurl_set_pool(CURLM *requests, CURLMoption option, long value) { return curl_multi_setopt(requests, option, value); }
/// The result in a message is a member of a union.
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }
/// CURL_SOCKET_BAD is a macro with a cast.
static inline curl_socket_t ccurl_no_socket(void) { return CURL_SOCKET_BAD; }
/// CURL_GLOBAL_DEFAULT is a macro of macros.
static inline long ccurl_global_default(void) { return CURL_GLOBAL_DEFAULT; }

#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/rand.h>
#include <openssl/pem.h>
#include <openssl/core_names.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>

// Macros and variadic functions that Swift cannot call.

/// SSL_set_tlsext_host_name is a macro with a cast.
static inline long copenssl_set_host_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, (char *)name); }
/// EVP_EC_gen is a macro over a variadic function.
static inline EVP_PKEY *copenssl_make_p256_key(void) { return EVP_EC_gen("P-256"); }
/// BIO_get_mem_data is a macro.
static inline long copenssl_memory_of(BIO *bio, char **start) { return BIO_get_mem_data(bio, start); }
/// SSL_get_extms_support is a macro.
static inline int copenssl_has_extended_master_secret(SSL *ssl) { return SSL_get_extms_support(ssl) == 1; }
/// EVP_PKEY_PUBLIC_KEY is a macro of macros.
static inline int copenssl_public_key_selection(void) { return EVP_PKEY_PUBLIC_KEY; }
/// EVP_PKEY_KEYPAIR is a macro of macros.
static inline int copenssl_key_pair_selection(void) { return EVP_PKEY_KEYPAIR; }
/// OPENSSL_free is a macro with the place of the call.
static inline void copenssl_free(void *memory) { OPENSSL_free(memory); }
/// sk_X509_num is a macro.
static inline int copenssl_certificate_count(STACK_OF(X509) *certificates) { return sk_X509_num(certificates); }
/// sk_X509_value is a macro.
static inline X509 *copenssl_certificate_at(STACK_OF(X509) *certificates, int at) { return sk_X509_value(certificates, at); }
/// sk_X509_pop_free is a macro.
static inline void copenssl_free_certificates(STACK_OF(X509) *certificates) { sk_X509_pop_free(certificates, X509_free); }

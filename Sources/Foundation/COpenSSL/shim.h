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
/// sk_PKCS7_num is a macro.
static inline int copenssl_content_count(STACK_OF(PKCS7) *contents) { return sk_PKCS7_num(contents); }
/// sk_PKCS7_value is a macro.
static inline PKCS7 *copenssl_content_at(STACK_OF(PKCS7) *contents, int at) { return sk_PKCS7_value(contents, at); }
/// sk_PKCS7_pop_free is a macro.
static inline void copenssl_free_contents(STACK_OF(PKCS7) *contents) { sk_PKCS7_pop_free(contents, PKCS7_free); }
/// PKCS7_type_is_data is a macro.
static inline int copenssl_is_data(PKCS7 *content) { return PKCS7_type_is_data(content); }
/// PKCS7_type_is_encrypted is a macro, and the algorithm is in a union.
static inline X509_ALGOR *copenssl_encryption_of(PKCS7 *content) {
    if (!PKCS7_type_is_encrypted(content) || !content->d.encrypted || !content->d.encrypted->enc_data) return NULL;
    return content->d.encrypted->enc_data->algorithm;
}
/// sk_PKCS12_SAFEBAG_num is a macro.
static inline int copenssl_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return sk_PKCS12_SAFEBAG_num(bags); }
/// sk_PKCS12_SAFEBAG_value is a macro.
static inline PKCS12_SAFEBAG *copenssl_bag_at(const STACK_OF(PKCS12_SAFEBAG) *bags, int at) { return sk_PKCS12_SAFEBAG_value(bags, at); }
/// sk_PKCS12_SAFEBAG_pop_free is a macro.
static inline void copenssl_free_bags(STACK_OF(PKCS12_SAFEBAG) *bags) { sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free); }

import Basics
import CCURL
import COpenSSL
import Glibc
import Webhooks

/// One request of libcurl.
///
/// Strict: HTTPS alone (HTTP only to loopback with the test bench), TLS 1.2 and newer with verified certificates, no redirects, no proxies, no credentials from files, and no
/// addresses within the operator's network. Each is checked as it is connected to, so a name cannot change in between.
@safe final class CURLRequest {
    let number: UInt64
    let sender: SenderID
    let startedAt: Instant
    /// The handle of libcurl, valid as long as this object.
    let handle: UnsafeMutableRawPointer
    /// The address of the handle, which libcurl names in its messages.
    var address: UInt { unsafe UInt(bitPattern: handle) }
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Which addresses may be connected to; a reload may change it while the request waits for its connection.
    var reach: WebhookReach
    /// Whether the request has no TLS.
    private let isPlain: Bool
    /// The host of the URL, for errors.
    private let host: String
    /// Bytes of the body of the answer.
    private var received = 0
    /// Bytes of the answer as they arrive: heads, bodies and their framing.
    private var wireBytes = 0
    /// The kind of an address that was not connected to.
    private var refused: AddressClass?

    /// Prepares a request. Returns `nil` if there is no memory.
    init?(_ request: WebhookRequest, _ settings: CURLSettings, at now: Instant) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        number = request.number
        sender = request.sender
        startedAt = now
        reach = settings.reach
        isPlain = reach.allowsPlainLoopback && WebhookURL.isPlain(request.url)
        host = request.host
        let fixed = ["content-type: application/json", "user-agent: ccsd", "expect:"]
        for line in request.headers.map({ "\($0.name): \($0.value)" }) + fixed {
            if let longer = unsafe curl_slist_append(headers, line) { unsafe headers = longer }
        }
        setNumbers(bodyBytes: request.body.count)
        _ = unsafe ccurl_set_text(handle, CURLOPT_URL, request.url)
        _ = unsafe ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, isPlain ? "http" : "https")
        // An empty proxy also keeps those of the environment out.
        _ = unsafe ccurl_set_text(handle, CURLOPT_PROXY, "")
        if let file = settings.authorities {
            _ = unsafe ccurl_set_text(handle, CURLOPT_CAINFO, file)
            _ = unsafe ccurl_set_text(handle, CURLOPT_CAPATH, nil)
        }
        _ = unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, headers)
        unsafe request.body.withUnsafeBytes { body in
            _ = unsafe ccurl_set_pointer(
                handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: body.baseAddress))
        }
        setCallbacks()
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
    }

    private func setNumbers(bodyBytes: Int) {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_POST, 1), (CURLOPT_POSTFIELDSIZE, bodyBytes), (CURLOPT_NOSIGNAL, 1),
            (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_TIMEOUT_MS, Int(Limits.Webhook.requestMilliseconds)),
            (CURLOPT_CONNECTTIMEOUT_MS, Int(Limits.Webhook.connectMilliseconds)),
            // Wait for a connection that may carry several requests rather than open one for each.
            (CURLOPT_PIPEWAIT, 1), (CURLOPT_NETRC, 0),
            // Both for the callbacks that count the bytes of an answer.
            (CURLOPT_VERBOSE, 1), (CURLOPT_NOPROGRESS, 0),
        ]
        for (option, value) in numbers { _ = unsafe ccurl_set_number(handle, option, value) }
    }

    private func setCallbacks() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = unsafe ccurl_set_write(handle) { _, size, count, context in
            guard let context = unsafe context else { return 0 }
            let request = unsafe Unmanaged<CURLRequest>.fromOpaque(context).takeUnretainedValue()
            request.received += size * count
            // Anything else than the count ends the request.
            return request.received <= Limits.Webhook.answerBytes ? size * count : 0
        }
        unsafe setCounting(context)
        unsafe setAddressCheck(context)
        _ = unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
        _ = unsafe ccurl_set_opener(handle) { context, _, address in
            guard let context = unsafe context, let address = unsafe address else { return ccurl_no_socket() }
            let request = unsafe Unmanaged<CURLRequest>.fromOpaque(context).takeUnretainedValue()
            let kind = unsafe AddressClass(request.bytes(of: address))
            guard request.reach.allows(kind, isPlain: request.isPlain) else {
                request.refused = kind
                return ccurl_no_socket()
            }
            return unsafe socket(
                address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
                address.pointee.protocol)
        }
    }

    /// Counts the bytes of the answer before they are decoded, and ends the request beyond the limit.
    private func setCounting(_ context: UnsafeMutableRawPointer) {
        _ = unsafe ccurl_set_pointer(handle, CURLOPT_DEBUGDATA, context)
        _ = unsafe ccurl_set_observer(handle) { _, kind, _, count, context in
            guard let context = unsafe context, kind == CURLINFO_HEADER_IN || kind == CURLINFO_DATA_IN else {
                return 0
            }
            unsafe Unmanaged<CURLRequest>.fromOpaque(context).takeUnretainedValue().wireBytes += count
            return 0
        }
        _ = unsafe ccurl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
        _ = unsafe ccurl_set_progress(handle) { context, _, _, _, _ in
            guard let context = unsafe context else { return 0 }
            let request = unsafe Unmanaged<CURLRequest>.fromOpaque(context).takeUnretainedValue()
            // Anything but 0 ends the request.
            return request.wireBytes <= Limits.Webhook.answerWireBytes ? 0 : 1
        }
    }

    /// Checks the address of a connection that is used again: it may be older than the setting.
    private func setAddressCheck(_ context: UnsafeMutableRawPointer) {
        _ = unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context)
        _ = unsafe ccurl_set_sender(handle) { context, address, _, _, _ in
            guard let context = unsafe context, let address = unsafe address else {
                return CURL_PREREQFUNC_ABORT
            }
            let request = unsafe Unmanaged<CURLRequest>.fromOpaque(context).takeUnretainedValue()
            let text = unsafe String(cString: address)
            let kind = AddressClass(CURLRequest.bytes(ofAddress: text))
            if request.reach.allows(kind, isPlain: request.isPlain) { return CURL_PREREQFUNC_OK }
            request.refused = kind
            return CURL_PREREQFUNC_ABORT
        }
    }

    /// Returns the bytes of an address that libcurl shows; of anything else, none.
    private static func bytes(ofAddress text: String) -> [UInt8] {
        var (four, six) = (in_addr(), in6_addr())
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            return unsafe withUnsafeBytes(of: four) { unsafe [UInt8]($0) }
        }
        if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            return unsafe withUnsafeBytes(of: six) { unsafe [UInt8]($0) }
        }
        return []
    }

    /// Returns the bytes of an IPv4 or IPv6 address; of any other, none.
    private func bytes(of address: UnsafeMutablePointer<curl_sockaddr>) -> [UInt8] {
        let start = unsafe UnsafeRawPointer(address).advanced(
            by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        switch unsafe address.pointee.family {
        case AF_INET:
            let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 0
            return unsafe [UInt8](UnsafeRawBufferPointer(start: start.advanced(by: offset), count: 4))
        case AF_INET6:
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 0
            return unsafe [UInt8](UnsafeRawBufferPointer(start: start.advanced(by: offset), count: 16))
        default: return []
        }
    }

    /// Returns how the request ended.
    func answer(_ result: CURLcode) -> WebhookAnswer {
        var status = 0
        _ = unsafe ccurl_get_number(handle, CURLINFO_RESPONSE_CODE, &status)
        // Too many headers are a failed read for libcurl, and one that is too long is too much memory, before it is counted.
        let isTooLong =
            result == CURLE_WRITE_ERROR && received > Limits.Webhook.answerBytes
            || wireBytes > Limits.Webhook.answerWireBytes || result == CURLE_OUT_OF_MEMORY
        if result == CURLE_OK || isTooLong, status > 0 {
            var retryAfter: curl_off_t = 0
            _ = unsafe ccurl_get_offset(handle, CURLINFO_RETRY_AFTER, &retryAfter)
            return .status(status, retryAfter: retryAfter > 0 ? Int(retryAfter) : nil)
        }
        if let refused { return .failed(.addressRefused, detail: "it is \(refused.rawValue)") }
        if result == CURLE_PEER_FAILED_VERIFICATION {
            var verdict = 0
            _ = unsafe ccurl_get_number(handle, CURLINFO_SSL_VERIFYRESULT, &verdict)
            let text = unsafe X509_verify_cert_error_string(verdict).map { unsafe String(cString: $0) } ?? ""
            return .failed(
                .untrusted, detail: WebhookCertificate.problem(verdict: verdict, text: text, host: host))
        }
        return .failed(
            WebhookFailure(result), detail: unsafe String(cString: curl_easy_strerror(result)))
    }
}

extension WebhookFailure {
    init(_ result: CURLcode) {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST: self = .unresolved
        case CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER:
            self = .untrusted
        default: self = .broken
        }
    }
}

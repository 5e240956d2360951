import Basics
import Compression

extension HTTPRequest {
    /// Whether the body is compressed by gzip.
    public var isCompressed: Bool {
        guard let coding = header("content-encoding") else { return false }
        return ASCII.equals(coding.raw, ignoringCase: "gzip")
            || ASCII.equals(coding.raw, ignoringCase: "x-gzip")
    }

    /// Whether the header names a Web Push encryption although the body is plain JSON, as pywebpush sends it to GCM.
    ///
    /// It then describes `raw_data` within the JSON (http 1.2).
    private var namesInnerEncryption: Bool {
        guard mediaType == "application/json", let coding = header("content-encoding") else { return false }
        return ASCII.equals(coding.raw, ignoringCase: "aes128gcm")
            || ASCII.equals(coding.raw, ignoringCase: "aesgcm")
    }

    /// Returns the request with its body decompressed. Throws status 415 for an unsupported coding.
    public func decompressed() throws(RequestFault) -> HTTPRequest {
        guard let coding = header("content-encoding"), !coding.isEmpty,
            !ASCII.equals(coding.raw, ignoringCase: "identity")
        else { return self }
        let isAlone = count(of: "content-encoding") == 1
        if isAlone, namesInnerEncryption { return self }
        guard isAlone, isCompressed else {
            throw RequestFault(
                .unsupportedMediaType,
                "invalid Content-Encoding: expected gzip or identity; for a JSON body also aes128gcm or aesgcm, which are ignored"
            )
        }
        do throws(GzipFailure) {
            return with(body: try Gzip.decompressed(body, limit: Limits.HTTP.unpackedBodyBytes))
        } catch { throw error.fault }
    }
}

extension GzipFailure {
    /// The refusal of a request with such a body.
    fileprivate var fault: RequestFault {
        switch self {
        case .outOfMemory: RequestFault(.unavailable, "out of memory while decompressing the body")
        case .tooLong: RequestFault(.contentTooLarge, "The body is too long after decompression.")
        case .malformed: RequestFault(.badRequest, "invalid gzip body: malformed or truncated")
        case .trailingBytes: RequestFault(.badRequest, "invalid gzip body: unexpected bytes after its end")
        }
    }
}

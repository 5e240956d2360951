import Basics
import Compression

extension HTTPRequest {
    /// Whether the body came packed.
    public var isPacked: Bool {
        guard let coding = header("content-encoding") else { return false }
        return ASCII.equals(coding.raw, ignoringCase: "gzip")
            || ASCII.equals(coding.raw, ignoringCase: "x-gzip")
    }

    /// Whether the header names an encryption of web push although the body is plain JSON, as pywebpush writes it for GCM.
    ///
    /// There it describes `raw_data`, which is inside the JSON (http 1.2).
    private var namesInnerEncryption: Bool {
        guard mediaType == "application/json", let coding = header("content-encoding") else { return false }
        return ASCII.equals(coding.raw, ignoringCase: "aes128gcm")
            || ASCII.equals(coding.raw, ignoringCase: "aesgcm")
    }

    /// The same request with its body unpacked; a coding that is not known is refused with 415.
    public func unpacked() throws(RequestFault) -> HTTPRequest {
        guard let coding = header("content-encoding"), !coding.isEmpty,
            !ASCII.equals(coding.raw, ignoringCase: "identity")
        else { return self }
        let isAlone = count(of: "content-encoding") == 1
        if isAlone, namesInnerEncryption { return self }
        guard isAlone, isPacked else {
            throw RequestFault(
                .unsupportedMediaType,
                "invalid Content-Encoding: expected gzip or identity; for a JSON body also aes128gcm or aesgcm, which are passed over"
            )
        }
        do throws(GzipFailure) {
            return with(body: try Gzip.unpacked(body, limit: Limits.HTTP.unpackedBodyBytes))
        } catch { throw error.fault }
    }
}

extension GzipFailure {
    /// How a request with such a body is refused.
    fileprivate var fault: RequestFault {
        switch self {
        case .outOfMemory: RequestFault(.unavailable, "There is no memory to unpack the body.")
        case .tooLong: RequestFault(.contentTooLarge, "The body is too long when it is unpacked.")
        case .malformed: RequestFault(.badRequest, "The body is no gzip, or its end is missing.")
        case .trailingBytes: RequestFault(.badRequest, "Something follows the gzip body.")
        }
    }
}

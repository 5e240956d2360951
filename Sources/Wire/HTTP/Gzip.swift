import Basics
import CZlib

/// The gzip coding of bodies (RFC 1952), through zlib.
public enum Gzip {
    /// Fifteen bits of window, and a gzip frame round it.
    private static let windowBits: Int32 = 15 + 16

    /// Undoes the coding; what unpacks to more than `limit` bytes is refused as soon as it does.
    public static func unpacked(_ packed: [UInt8], limit: Int) throws(RequestFault) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw RequestFault(.unavailable, "There is no memory to unpack the body.")
        }
        defer { unsafe inflateEnd(&stream) }
        var body = ByteBuffer()
        let status = unsafe packed.withUnsafeBytes { bytes in
            unsafe stream.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            return unsafe run(&stream, limit: limit, to: &body)
        }
        guard body.count <= limit else {
            throw RequestFault(.contentTooLarge, "The body is too long when it is unpacked.")
        }
        guard status == Z_STREAM_END else {
            throw RequestFault(.badRequest, "The body is no gzip, or its end is missing.")
        }
        guard unsafe stream.avail_in == 0 else {
            throw RequestFault(.badRequest, "Something follows the gzip body.")
        }
        return body.copied()
    }

    /// Unpacks until the end, a fault, or one byte more than the limit.
    private static func run(
        _ stream: inout z_stream, limit: Int, to body: inout ByteBuffer
    ) -> Int32 {
        var status = Z_OK
        while status == Z_OK, body.count <= limit {
            let room = min(Limits.unpackingStepBytes, limit + 1 - body.count)
            unsafe body.append(upTo: room) { space in
                unsafe stream.next_out = space.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(room)
                status = unsafe inflate(&stream, Z_NO_FLUSH)
                return unsafe room - Int(stream.avail_out)
            }
        }
        return status
    }

    /// The coding of an answer; nil where there is no memory for it.
    public static func packed(_ body: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard
            unsafe deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let room = Int(unsafe deflateBound(&stream, UInt(body.count)))
        var packed = ByteBuffer()
        var status = Z_OK
        unsafe body.withUnsafeBytes { bytes in
            unsafe stream.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            unsafe packed.append(upTo: room) { space in
                unsafe stream.next_out = space.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(room)
                status = unsafe deflate(&stream, Z_FINISH)
                return unsafe room - Int(stream.avail_out)
            }
        }
        return status == Z_STREAM_END ? packed.copied() : nil
    }
}

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
        return with(body: try Gzip.unpacked(body, limit: Limits.unpackedBodyBytes))
    }
}

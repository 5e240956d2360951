import Basics
import CZlib

/// Why a body cannot be decompressed.
public enum GzipFailure: Error, Sendable, Equatable {
    /// zlib has no memory for it.
    case outOfMemory
    /// It decompresses to more bytes than the limit.
    case tooLong
    /// It is not gzip, or its end is missing.
    case malformed
    /// Bytes follow its end.
    case trailingBytes
}

/// The gzip format (RFC 1952), through zlib.
public enum Gzip {
    /// Fifteen bits of window, and a gzip frame around the data.
    private static let windowBits: Int32 = 15 + 16

    /// Decompresses a body. Stops as soon as the result exceeds `limit` bytes.
    public static func unpacked(_ packed: [UInt8], limit: Int) throws(GzipFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw .outOfMemory
        }
        defer { unsafe inflateEnd(&stream) }
        var body = ByteBuffer()
        let status = unsafe packed.withUnsafeBytes { bytes in
            unsafe stream.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            return unsafe run(&stream, limit: limit, to: &body)
        }
        guard body.count <= limit else { throw .tooLong }
        guard status == Z_STREAM_END else { throw .malformed }
        guard unsafe stream.avail_in == 0 else { throw .trailingBytes }
        return body.copied()
    }

    /// Decompresses until the end, a fault, or one byte more than the limit.
    private static func run(
        _ stream: inout z_stream, limit: Int, to body: inout ByteBuffer
    ) -> Int32 {
        var status = Z_OK
        while status == Z_OK, body.count <= limit {
            let room = min(Limits.HTTP.unpackingStepBytes, limit + 1 - body.count)
            unsafe body.append(upTo: room) { space in
                unsafe stream.next_out = space.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(room)
                status = unsafe inflate(&stream, Z_NO_FLUSH)
                return unsafe room - Int(stream.avail_out)
            }
        }
        return status
    }

    /// Compresses a body. Returns `nil` if zlib has no memory for it.
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

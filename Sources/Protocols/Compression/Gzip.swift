import Basics
import CZlib

/// Why a body cannot be decompressed.
public enum GzipFailure: Error, Sendable, Equatable {
    /// zlib could not allocate memory.
    case outOfMemory
    /// The decompressed body exceeds the limit.
    case tooLong
    /// The body is not gzip, or is truncated.
    case malformed
    /// Bytes follow the gzip stream.
    case trailingBytes
}

/// Compression and decompression of gzip (RFC 1952) by zlib.
public enum Gzip {
    /// A window of 15 bits, and the gzip format.
    private static let windowBits: Int32 = 15 + 16

    /// Decompresses a body of one or several members (RFC 1952, 2.2). Stops as soon as the result exceeds `limit` bytes.
    public static func decompressed(_ compressed: [UInt8], limit: Int) throws(GzipFailure) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw .outOfMemory
        }
        defer { unsafe inflateEnd(&stream) }
        var body = ByteBuffer()
        let status = unsafe compressed.withUnsafeBytes { bytes in
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

    /// Decompresses up to the end of the last member, an error, or one byte over the limit.
    private static func run(
        _ stream: inout z_stream, limit: Int, to body: inout ByteBuffer
    ) -> Int32 {
        var status = unsafe member(&stream, limit: limit, to: &body)
        while status == Z_STREAM_END, body.count <= limit, unsafe startsMember(stream) {
            unsafe inflateReset(&stream)
            status = unsafe member(&stream, limit: limit, to: &body)
        }
        return status
    }

    /// Whether the rest of the input starts like another member.
    private static func startsMember(_ stream: z_stream) -> Bool {
        guard unsafe stream.avail_in >= 2, let next = unsafe stream.next_in else { return false }
        return unsafe next[0] == 0x1F && next[1] == 0x8B
    }

    /// Decompresses up to the end of one member, an error, or one byte over the limit.
    private static func member(
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

    /// Compresses a body. Returns `nil` if zlib cannot allocate memory.
    public static func compressed(_ body: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard
            unsafe deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let room = Int(unsafe deflateBound(&stream, UInt(body.count)))
        var compressed = ByteBuffer()
        var status = Z_OK
        unsafe body.withUnsafeBytes { bytes in
            unsafe stream.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            unsafe compressed.append(upTo: room) { space in
                unsafe stream.next_out = space.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(room)
                status = unsafe deflate(&stream, Z_FINISH)
                return unsafe room - Int(stream.avail_out)
            }
        }
        return status == Z_STREAM_END ? compressed.copied() : nil
    }
}

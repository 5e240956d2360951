public import Basics
import CNGHTTP2

/// A header list to send, stored in one buffer.
public struct HTTP2Fields: ~Copyable {
    private var bytes = ByteBuffer()
    private var ends: [(name: Int, value: Int, isUnindexed: Bool)] = []

    /// Creates an empty list with room for a number of fields.
    public init(count: Int = 0) { ends.reserveCapacity(count) }

    /// Appends a field. An unindexed one does not enter the compression table (RFC 7541, 7.1.3).
    public mutating func add(
        _ name: StaticString, isUnindexed: Bool = false, _ value: (inout ByteBuffer) -> Void
    ) {
        let start = bytes.count
        bytes.append(name)
        end(nameFrom: start, isUnindexed, value)
    }

    /// Appends a field whose name is not a literal.
    public mutating func add(name: String, isUnindexed: Bool = false, _ value: (inout ByteBuffer) -> Void) {
        let start = bytes.count
        bytes.append(text: name)
        end(nameFrom: start, isUnindexed, value)
    }

    private mutating func end(nameFrom start: Int, _ isUnindexed: Bool, _ value: (inout ByteBuffer) -> Void) {
        // Names are lower case in HTTP/2 (RFC 9113, 8.2.1).
        for at in start..<bytes.count {
            let byte = bytes.bytes.byte(at: at)
            if byte &- 0x41 < 26 { bytes.set(byte | 0x20, at: at) }
        }
        let middle = bytes.count
        value(&bytes)
        ends.append((middle, bytes.count, isUnindexed))
    }

    /// Calls `body` with the list for nghttp2, which copies it.
    func withValues<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        unsafe bytes.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !ends.isEmpty else { return body(nil, 0) }
            let first = unsafe UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
            var list: [nghttp2_nv] = unsafe []
            unsafe list.reserveCapacity(ends.count)
            var at = 0
            for end in ends {
                let flag = end.isUnindexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                unsafe list.append(
                    nghttp2_nv(
                        name: first + at, value: first + end.name, namelen: end.name - at,
                        valuelen: end.value - end.name, flags: UInt8(flag.rawValue)))
                at = end.value
            }
            return unsafe body(list, list.count)
        }
    }
}

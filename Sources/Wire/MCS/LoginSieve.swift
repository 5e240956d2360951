import Basics

extension MCS {
    /// Reads a login that is longer than a frame may be, and keeps of it what fits in one.
    ///
    /// Some clients name every message that they have ever received (mcs-device 1.4). The oldest of those ids are let go
    /// while they come, so that a stranger's login costs no more memory than a frame, whatever size it announces.
    struct LoginSieve: ~Copyable {
        private enum Part {
            case key, number, length, content
        }

        private static let receivedIDField: UInt64 = 10

        /// Bytes of the message that are still to come.
        private var left: Int
        private var part = Part.key
        /// The field that is being read: key, length and, where it is kept, content.
        private var field = ByteBuffer()
        /// Where in `field` the varint begins that is being read.
        private var start = 0
        private var contentLeft = 0
        private var isReceivedID = false
        private var isKept = true
        /// All fields but the received ids.
        private var others = ByteBuffer()
        /// Received ids in two generations: when the newer one is full, the older one goes.
        private var older = ByteBuffer()
        private var newer = ByteBuffer()

        /// A sieve for a message of so many bytes.
        init(size: Int) { left = size }

        /// Bytes that are kept.
        var heldBytes: Int { field.count + others.count + older.count + newer.count }

        /// Whether all of the message has come.
        var isWhole: Bool { left == 0 }

        /// Takes bytes from an offset on, up to the end of the message, and moves the offset behind them.
        mutating func take(_ bytes: RawSpan, at offset: inout Int) throws(MCSError) {
            while left > 0, offset < bytes.byteCount {
                if part == .content {
                    let count = min(contentLeft, bytes.byteCount &- offset)
                    if isKept { field.append(bytes.extracting(offset..<offset &+ count)) }
                    offset &+= count
                    left &-= count
                    contentLeft &-= count
                    if contentLeft == 0 { try endField() }
                } else {
                    let octet = bytes.byte(at: offset)
                    field.append(byte: octet)
                    offset &+= 1
                    left &-= 1
                    if octet < 0x80 || field.count &- start == 10 { try endVarint() }
                }
            }
            guard left > 0 || part == .key && field.isEmpty else { throw .truncated }
        }

        /// Appends what is kept of the message: the received ids last, oldest first.
        func appendKept(to message: inout ByteBuffer) {
            message.append(others.bytes)
            message.append(older.bytes)
            message.append(newer.bytes)
        }

        /// Apart, so that one buffer is borrowed while another is changed.
        private static func append(_ field: borrowing ByteBuffer, to buffer: inout ByteBuffer) {
            buffer.append(field.bytes)
        }

        private mutating func endVarint() throws(MCSError) {
            var end = start
            let value = try Varint.read(field.bytes, at: &end)
            start = end
            switch part {
            case .key: try begin(key: value)
            case .number: try endField()
            case .length, .content: try begin(contentOf: value)
            }
        }

        private mutating func begin(key: UInt64) throws(MCSError) {
            let wireType = UInt8(truncatingIfNeeded: key & 7)
            guard key >> 3 > 0, key >> 3 < 1 << 29 else { throw .invalidFieldNumber }
            isReceivedID = key == Self.receivedIDField << 3 | 2
            switch wireType {
            case 0: part = .number
            case 1: try begin(contentOf: 8)
            case 2: part = .length
            case 5: try begin(contentOf: 4)
            default: throw .unsupportedWireType(wireType)
            }
        }

        private mutating func begin(contentOf length: UInt64) throws(MCSError) {
            guard length <= UInt64(left) else { throw .truncated }
            isKept = !isReceivedID || length <= UInt64(Limits.MCS.receivedIDBytes)
            guard isReceivedID || others.count + field.count + Int(length) <= Limits.MCS.afterLoginBytes
            else {
                throw .tooLarge(others.count + field.count + Int(length))
            }
            part = .content
            contentLeft = Int(length)
            if length == 0 { try endField() }
        }

        private mutating func endField() throws(MCSError) {
            if !isReceivedID {
                Self.append(field, to: &others)
                guard others.count <= Limits.MCS.afterLoginBytes else { throw .tooLarge(others.count) }
            } else if isKept {
                if newer.count + field.count > Limits.MCS.loginIDBytes {
                    swap(&older, &newer)
                    newer.removeAll(keepingCapacity: true)
                }
                Self.append(field, to: &newer)
            }
            field.removeAll(keepingCapacity: true)
            start = 0
            part = .key
        }
    }

    /// Keeps a sieve out of the reader, which every connection has.
    final class LoginSieveBox {
        /// The sieve.
        var sieve: LoginSieve

        /// A fresh sieve for a message of so many bytes.
        init(size: Int) { sieve = LoginSieve(size: size) }
    }
}

import Basics

extension MCS {
    /// Reads a login that is longer than a frame may be, and reduces it to what fits in one.
    ///
    /// Some clients list every message that they have ever received (mcs-device 1.4). The oldest of those IDs are dropped
    /// while the login arrives, so that an unauthenticated peer's login costs no more memory than a frame of any size.
    struct LoginFilter: ~Copyable {
        private enum Part {
            case key, number, length, content
        }

        private static let receivedIDField: UInt64 = 10

        /// Bytes of the message not read yet.
        private var left: Int
        private var part = Part.key
        /// The field being read: key, length and, unless it is dropped, content.
        private var field = ByteBuffer()
        /// The offset in `field` of the varint being read.
        private var start = 0
        private var contentLeft = 0
        private var isReceivedID = false
        private var isKept = true
        /// All fields but the received IDs.
        private var others = ByteBuffer()
        /// Received IDs in two generations: when the newer one is full, the older one is dropped.
        private var older = ByteBuffer()
        private var newer = ByteBuffer()

        /// Creates a filter for a message of `size` bytes.
        init(size: Int) { left = size }

        /// Bytes buffered.
        var heldBytes: Int { field.count + others.count + older.count + newer.count }

        /// Whether the whole message has been read.
        var isWhole: Bool { left == 0 }

        /// Consumes bytes from `offset` up to the end of the message, and advances `offset`.
        mutating func consume(_ bytes: RawSpan, at offset: inout Int) throws(MCSError) {
            while left > 0, offset < bytes.byteCount {
                if part == .content {
                    let count = min(contentLeft, bytes.byteCount &- offset)
                    if isKept { field.append(bytes.extracting(offset..<offset &+ count)) }
                    offset &+= count
                    left &-= count
                    contentLeft &-= count
                    if contentLeft == 0 { try endField() }
                } else {
                    let byte = bytes.byte(at: offset)
                    field.append(byte: byte)
                    offset &+= 1
                    left &-= 1
                    if byte < 0x80 || field.count &- start == 10 { try endVarint() }
                }
            }
            guard left > 0 || part == .key && field.isEmpty else { throw .truncated }
        }

        /// Appends the reduced message: the received IDs last, oldest first.
        func appendKept(to message: inout ByteBuffer) {
            message.append(others.bytes)
            message.append(older.bytes)
            message.append(newer.bytes)
        }

        /// A static function, so that one buffer can be borrowed while another is changed.
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
            guard isReceivedID || others.count + field.count + Int(length) <= Limits.MCS.otherLoginBytes
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
                guard others.count <= Limits.MCS.otherLoginBytes else { throw .tooLarge(others.count) }
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

    /// Boxes the filter, so that it does not enlarge the frame reader of every connection.
    final class LoginFilterBox {
        var filter: LoginFilter

        /// Creates a box with a filter for a message of `size` bytes.
        init(size: Int) { filter = LoginFilter(size: size) }
    }
}

public import Basics

extension MCS {
    /// Splits the byte stream of one direction into frames.
    ///
    /// A frame that is complete in the input is visited in place; only a split frame is buffered, so that an idle connection
    /// holds no memory. Tags over `highestTag` are errors; lower ones without a `Tag` are visited as well.
    public struct FrameReader: ~Copyable {
        /// The maximum length of a message in bytes.
        public var limit: Int
        /// The maximum length of a login in bytes; one over `limit` is visited without its oldest received IDs.
        public var loginLimit: Int
        /// The version byte that the peer sent first; `nil` before it has arrived.
        public private(set) var peerVersion: UInt8?
        private var held = ByteBuffer()
        /// The incomplete login, if it is over `limit`.
        private var long: LoginFilterBox?

        /// Creates a reader for the start of a direction.
        public init(limit: Int = Limits.MCS.frameBytes, loginLimit: Int = 0) {
            self.limit = limit
            self.loginLimit = loginLimit
        }

        /// Bytes buffered of an incomplete frame; only tests read it, to check that it is bounded.
        public var heldBytes: Int { held.count &+ (long?.filter.heldBytes ?? 0) }

        /// Whether a frame is incomplete.
        public var isWithinFrame: Bool { !held.isEmpty || long != nil }

        /// Reads the next bytes and visits each complete frame; `visit` returns whether to continue.
        ///
        /// Returns the number of bytes consumed: all of them, unless `visit` returned false. After an error the
        /// connection must be closed.
        @discardableResult
        public mutating func read(
            _ bytes: RawSpan, _ visit: (UInt8, RawSpan) throws(MCSError) -> Bool
        ) throws(MCSError) -> Int {
            var offset = 0
            if !held.isEmpty {
                guard try completeHeld(bytes, &offset, visit) else { return offset }
            }
            guard try completeLogin(bytes, &offset, visit) else { return offset }
            while offset < bytes.byteCount {
                guard try !skipVersion(bytes.byte(at: offset)) else {
                    offset &+= 1
                    continue
                }
                guard let head = try head(bytes, at: offset) else { break }
                guard head.end &- head.start <= limit else {
                    offset = head.start
                    long = LoginFilterBox(size: head.end &- head.start)
                    guard try completeLogin(bytes, &offset, visit) else { return offset }
                    continue
                }
                guard head.end <= bytes.byteCount else { break }
                let tag = bytes.byte(at: offset)
                offset = head.end
                guard try visit(tag, bytes.extracting(head.start..<head.end)) else { return offset }
            }
            if offset < bytes.byteCount { held.append(bytes.extracting(offset..<bytes.byteCount)) }
            return bytes.byteCount
        }

        /// Completes the buffered frame. Returns false if its visitor wants to stop.
        private mutating func completeHeld(
            _ bytes: RawSpan, _ offset: inout Int, _ visit: (UInt8, RawSpan) throws(MCSError) -> Bool
        ) throws(MCSError) -> Bool {
            while true {
                if let head = try head(held.bytes, at: 0) {
                    guard head.end &- head.start <= limit else {
                        held.removeAll()
                        long = LoginFilterBox(size: head.end &- head.start)
                        return true
                    }
                    let missing = min(head.end &- held.count, bytes.byteCount &- offset)
                    held.append(bytes.extracting(offset..<offset &+ missing))
                    offset &+= missing
                    guard held.count == head.end else { return true }
                    let more = try visit(
                        held.bytes.byte(at: 0), held.bytes.extracting(head.start..<head.end))
                    held.removeAll()
                    return more
                }
                guard offset < bytes.byteCount else { return true }
                held.append(byte: bytes.byte(at: offset))
                offset &+= 1
            }
        }

        /// Continues a login over `limit`, if there is one. Returns false if its visitor wants to stop.
        private mutating func completeLogin(
            _ bytes: RawSpan, _ offset: inout Int, _ visit: (UInt8, RawSpan) throws(MCSError) -> Bool
        ) throws(MCSError) -> Bool {
            guard let long else { return true }
            try long.filter.consume(bytes, at: &offset)
            guard long.filter.isWhole else { return true }
            self.long = nil
            var message = ByteBuffer()
            long.filter.appendKept(to: &message)
            return try visit(Tag.loginRequest.rawValue, message.bytes)
        }

        /// Returns whether a byte in the position of a tag is a version byte. Throws if it is neither.
        ///
        /// Two client libraries send one before every frame (mcs-device 1.2).
        private mutating func skipVersion(_ byte: UInt8) throws(MCSError) -> Bool {
            if acceptedVersions.contains(byte) {
                if peerVersion == nil { peerVersion = byte }
                return true
            }
            guard peerVersion != nil else { throw .unsupportedVersion(byte) }
            guard byte <= highestTag else { throw .invalidTag(byte) }
            return false
        }

        /// Returns the range of the message of the frame at an offset, or `nil` while its size is incomplete.
        private func head(
            _ bytes: borrowing RawSpan, at offset: Int
        ) throws(MCSError) -> (start: Int, end: Int)? {
            var size = 0
            for at in 0..<5 {
                guard offset &+ 1 &+ at < bytes.byteCount else { return nil }
                let byte = bytes.byte(at: offset &+ 1 &+ at)
                size |= Int(byte & 0x7F) << (7 * at)
                guard byte >= 0x80 else {
                    let isLogin = bytes.byte(at: offset) == Tag.loginRequest.rawValue
                    guard size <= (isLogin ? max(limit, loginLimit) : limit) else { throw .tooLarge(size) }
                    let start = offset &+ 2 &+ at
                    return (start, start &+ size)
                }
            }
            throw .varintOverflow
        }
    }
}

public import Basics

extension MCS {
    /// Cuts the bytes of one direction into frames, whatever pieces they come in.
    ///
    /// A frame that lies whole in the input is handed over in place; only one that is split is gathered, so that an idle
    /// connection holds no memory. Tags that do not exist are errors; those without a `Tag` are handed over as well.
    public struct FrameReader: ~Copyable {
        /// Bytes that a frame's message may have.
        public var limit: Int
        /// Bytes that a login may have; one over `limit` is handed over without its oldest received ids.
        public var loginLimit: Int
        /// The version byte that the peer began with; nil before it came.
        public private(set) var peerVersion: UInt8?
        private var held = ByteBuffer()
        /// The login that is being read, where it is over `limit`.
        private var long: LoginSieveBox?

        /// A reader at the begin of a direction.
        public init(limit: Int = Limits.MCS.frameBytes, loginLimit: Int = 0) {
            self.limit = limit
            self.loginLimit = loginLimit
        }

        /// Bytes gathered of a frame that is not whole yet. Only tests ask: that it is bounded is their matter.
        public var heldBytes: Int { held.count &+ (long?.sieve.heldBytes ?? 0) }

        /// Whether the bytes so far end within a frame.
        public var isWithinFrame: Bool { !held.isEmpty || long != nil }

        /// Reads the next bytes and hands over each frame that is whole; `visit` returns whether to go on.
        ///
        /// Returns how many bytes were taken: all of them, unless `visit` returned false. After an error the
        /// connection is to end.
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
                    long = LoginSieveBox(size: head.end &- head.start)
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

        /// Fills up the frame that is held; false if its visitor wants no more.
        private mutating func completeHeld(
            _ bytes: RawSpan, _ offset: inout Int, _ visit: (UInt8, RawSpan) throws(MCSError) -> Bool
        ) throws(MCSError) -> Bool {
            while true {
                if let head = try head(held.bytes, at: 0) {
                    guard head.end &- head.start <= limit else {
                        held.removeAll()
                        long = LoginSieveBox(size: head.end &- head.start)
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

        /// Goes on with a login over `limit`, if there is one; false if its visitor wants no more.
        private mutating func completeLogin(
            _ bytes: RawSpan, _ offset: inout Int, _ visit: (UInt8, RawSpan) throws(MCSError) -> Bool
        ) throws(MCSError) -> Bool {
            guard let long else { return true }
            try long.sieve.take(bytes, at: &offset)
            guard long.sieve.isWhole else { return true }
            self.long = nil
            var message = ByteBuffer()
            long.sieve.appendKept(to: &message)
            return try visit(Tag.loginRequest.rawValue, message.bytes)
        }

        /// Whether a byte where a tag is expected is a version byte.
        ///
        /// Two client libraries put one in front of every frame (mcs-device 1.2).
        private mutating func skipVersion(_ octet: UInt8) throws(MCSError) -> Bool {
            if acceptedVersions.contains(octet) {
                if peerVersion == nil { peerVersion = octet }
                return true
            }
            guard peerVersion != nil else { throw .unsupportedVersion(octet) }
            guard octet <= highestTag else { throw .invalidTag(octet) }
            return false
        }

        /// Where the message of the frame at an offset starts and ends; nil while the size is not whole.
        private func head(
            _ bytes: borrowing RawSpan, at offset: Int
        ) throws(MCSError) -> (start: Int, end: Int)? {
            var size = 0
            for at in 0..<5 {
                guard offset &+ 1 &+ at < bytes.byteCount else { return nil }
                let octet = bytes.byte(at: offset &+ 1 &+ at)
                size |= Int(octet & 0x7F) << (7 * at)
                guard octet >= 0x80 else {
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

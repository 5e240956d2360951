import CNGHTTP2

/// Parses the output of one side of an HTTP/2 connection.
public final class HTTP2Answers {
    /// A received frame.
    public struct Frame {
        /// The type, flags and stream.
        public var type: UInt8
        public var flags: UInt8
        public var stream: UInt32
        /// The payload.
        public var payload: [UInt8]
        /// Whether the frame ends its stream.
        public var ends: Bool { type <= 1 && flags & 1 != 0 }
        /// Returns the 32-bit number at an offset in the payload.
        public func word(at offset: Int) -> UInt32 {
            payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The answer on one stream.
    public struct Answer: Equatable {
        public var status = ""
        public var headers: [String: String] = [:]
        public var body: [UInt8] = []
        public var isWhole = false
        /// The error code, if the stream was reset.
        public var reset: UInt32?
        /// The number of interim header blocks before the answer.
        public var invitations = 0
    }

    /// All frames, in order.
    public private(set) var frames: [Frame] = []
    /// The answers by stream.
    public private(set) var answers: [UInt32: Answer] = [:]
    /// The streams in the order in which their answers ended.
    public private(set) var order: [UInt32] = []
    /// The last stream and error code of GOAWAY.
    public private(set) var goAway: (last: UInt32, code: UInt32)?
    private var rest: [UInt8] = []
    private let inflater: OpaquePointer

    /// Creates a parser for a new connection.
    public init() {
        var inflater: OpaquePointer?
        guard nghttp2_hd_inflate_new(&inflater) == 0, let inflater else { fatalError("out of memory") }
        self.inflater = inflater
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Parses the next bytes.
    public func read(_ bytes: [UInt8]) {
        rest += bytes
        while rest.count >= 9 {
            let length = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
            guard rest.count >= 9 + length else { return }
            let stream = rest[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
            let frame = Frame(
                type: rest[3], flags: rest[4], stream: stream, payload: Array(rest[9..<9 + length]))
            rest.removeFirst(9 + length)
            frames.append(frame)
            take(frame)
        }
    }

    /// Returns the frames of one type.
    public func frames(_ type: UInt8) -> [Frame] { frames.filter { $0.type == type } }

    private func take(_ frame: Frame) {
        switch frame.type {
        case 0: answers[frame.stream, default: Answer()].body += frame.payload
        case 1:
            let fields = fields(frame.payload)
            let status = fields.first { $0.0 == ":status" }?.1 ?? ""
            guard !status.hasPrefix("1") else {
                answers[frame.stream, default: Answer()].invitations += 1
                return
            }
            answers[frame.stream, default: Answer()].status = status
            for (name, value) in fields where name != ":status" {
                answers[frame.stream]?.headers[name] = value
            }
        case 3: answers[frame.stream, default: Answer()].reset = frame.word(at: 0)
        case 7: goAway = (frame.word(at: 0), frame.word(at: 4))
        default: break
        }
        guard frame.ends else { return }
        answers[frame.stream]?.isWhole = true
        order.append(frame.stream)
    }

    private func fields(_ block: [UInt8]) -> [(String, String)] {
        var found: [(String, String)] = []
        var at = 0
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = block[at...].withUnsafeBufferPointer { bytes in
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, bytes.baseAddress, bytes.count, 1)
            }
            guard used >= 0 else { return found }
            at += used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
                let value = UnsafeBufferPointer(start: field.value, count: field.valuelen)
                found.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return found
            }
        }
    }
}

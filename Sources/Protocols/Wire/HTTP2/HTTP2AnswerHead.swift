import Basics

/// The header block of a response while it is decompressed.
struct HTTP2AnswerHead {
    /// The stream of the header block.
    let stream: Int32
    /// Bytes on the wire so far, frame headers included.
    var wireBytes = 0
    /// Decompressed bytes so far, counted as RFC 9113 counts a header list (10.5.1).
    private(set) var size = 0
    /// Whether the block exceeds the limit; its fields are then dropped.
    private(set) var isTooLong = false
    private var status = 0
    private var headers: [(name: String, value: String)] = []

    init(stream: Int32) { self.stream = stream }

    /// Adds a field. Returns false once the block is so long that it can only be an attack.
    mutating func add(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        size += name.byteCount + value.byteCount + 32
        guard size <= Limits.HTTP2Client.answerHeadBytes, headers.count < Limits.HTTP2Client.answerHeaders
        else {
            isTooLong = true
            headers = []
            return size <= Limits.HTTP2Client.answerHeadBytes * Limits.HTTP2.headBombFactor
        }
        guard !isTooLong else { return true }
        if name.equals(":status") {
            // The session has checked that it is a number of three digits.
            for at in 0..<value.byteCount { status = status * 10 + Int(value.byte(at: at) & 15) }
        } else {
            headers.append((Self.text(name), Self.text(value)))
        }
        return true
    }

    private static func text(_ bytes: borrowing RawSpan) -> String {
        String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    }

    /// The response without its body.
    var answer: HTTPAnswer { HTTPAnswer(status: status, headers: headers, body: [], closes: false) }
    /// Whether the response is interim, so that another head follows (RFC 9110, 15.2).
    var isInterim: Bool { status / 100 == 1 }
}

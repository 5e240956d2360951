import Basics

/// Counts the HTTP/2 frames received on one connection, split anywhere; their content is skipped.
struct HTTP2FrameScanner {
    private var head: [UInt8] = []
    private var skipped = 0

    /// Consumes bytes and calls `body` with the type of each frame that starts in them.
    mutating func consume(_ bytes: RawSpan, _ body: (UInt8) -> Void) {
        var at = 0
        while at < bytes.byteCount {
            if skipped > 0 {
                let passed = min(skipped, bytes.byteCount - at)
                skipped -= passed
                at += passed
                continue
            }
            head.append(bytes.byte(at: at))
            at += 1
            guard head.count == 9 else { continue }
            skipped = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            body(head[3])
            head = []
        }
    }
}

import Basics

/// The HTTP/1.1 side of an app server of the bench: of each response only status and length are read.
struct HTTPTalk: SenderTalk {
    static let what = "HTTP"
    private var answers = AnswerCounter()

    /// Requests need no login.
    var isReady: Bool { true }

    mutating func begin(_ outbox: inout Outbox) {}

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict {
        var isRefused = Bytes.contains(bytes, "\"failure\":1")
        answers.count(bytes) { status in
            if status != 200 { isRefused = true }
            answered(.next(1))
        }
        return isRefused ? .refused : .fine
    }
}

/// Counts HTTP/1.1 responses with a Content-Length, as ccsd sends them.
struct AnswerCounter {
    /// An incomplete head.
    private var head: [UInt8] = []
    /// Bytes of the current body that are still to come, and the status of its response.
    private var rest = 0
    private var status = 0

    /// Consumes the next bytes, split anywhere; calls `found` with the status of each complete response.
    mutating func count(_ bytes: RawSpan, _ found: (_ status: Int) -> Void) {
        var at = 0
        while at < bytes.byteCount {
            if rest > 0 {
                let part = min(rest, bytes.byteCount - at)
                rest -= part
                at += part
                if rest == 0 { found(status) }
                continue
            }
            let known = head.count
            if known > 0 {
                // Rare: a head that was split. Its end may be split as well.
                head += [UInt8](copying: bytes.extracting(at..<bytes.byteCount))
                let whole = head
                guard let end = Bytes.offset(of: "\r\n\r\n", in: whole.raw) else { return }
                read(whole.raw.extracting(0..<end))
                at += end + 4 - known
                head = []
            } else {
                guard let end = Bytes.offset(of: "\r\n\r\n", in: bytes, from: at) else {
                    head = [UInt8](copying: bytes.extracting(at..<bytes.byteCount))
                    return
                }
                read(bytes.extracting(at..<end))
                at = end + 4
            }
            if rest == 0 { found(status) }
        }
    }

    private mutating func read(_ head: RawSpan) {
        status = number(in: head, at: 9)
        let mark: StaticString = "\r\nContent-Length: "
        rest = Bytes.offset(of: mark, in: head).map { number(in: head, at: $0 + mark.utf8CodeUnitCount) } ?? 0
    }

    private func number(in bytes: RawSpan, at start: Int) -> Int {
        var value = 0
        var at = start
        while at < bytes.byteCount, value < 1 << 40, case let digit = bytes.byte(at: at),
            (0x30...0x39).contains(digit)
        {
            value = value * 10 + Int(digit - 0x30)
            at += 1
        }
        return value
    }
}

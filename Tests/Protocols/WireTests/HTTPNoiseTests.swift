import Basics
import Testing
import Wire

/// Damaged requests: no input traps, and no split of the stream changes the outcome.
@Suite struct HTTPNoiseTests {
    static let pieces: [String] = [
        "GET", "POST", " ", "/", "/checkin", "HTTP/1.1", "HTTP/1.0", "\r\n", "\r\n\r\n", "\n", "\r", ":",
        "Host: h",
        "Content-Length: 3", "Content-Length: 0", "Transfer-Encoding: chunked", "Connection: close", "abc",
        "3\r\nabc\r\n", "0\r\n\r\n", "Expect: 100-continue", "\0", "ä", "%", ";", ",", "?a=b", "#",
    ]

    /// A conversation, either damaged in a few positions or assembled from random pieces.
    private func input(_ random: inout SeededRandom) -> String {
        if Bool.random(using: &random) {
            let count = Int.random(in: 1...20, using: &random)
            return (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
        }
        var bytes = Array(HTTPRequestReaderTests.conversation.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...127, using: &random)
            case 1: bytes.remove(at: at)
            default:
                let piece = Self.pieces.randomElement(using: &random) ?? ""
                bytes.insert(contentsOf: Array(piece.utf8), at: at)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Five thousand damaged conversations have the same outcome for any split", arguments: 1...4)
    func requestNoise(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var faults = 0
        for _ in 0..<1_250 {
            let text = input(&random)
            let whole = requests(text)
            if whole.last?.hasPrefix("fault") ?? false { faults += 1 }
            #expect(requests(text, step: 1) == whole, "\(text.debugDescription)")
            #expect(requests(text, step: Int.random(in: 2...40, using: &random)) == whole)
        }
        // Canary: the damage has an effect, but does not invalidate everything.
        #expect(faults > 300 && faults < 1_250)
    }

    @Test("Damaged responses and forms do not trap")
    func otherNoise() {
        var random = SeededRandom(seed: 9)
        for _ in 0..<2_000 {
            var bytes = Array(HTTPResponseReaderTests.conversation.utf8)
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            var reader = ResponseReader()
            reader.append(bytes.raw)
            while let answer = try? reader.next(), answer.status >= 0 {}
            _ = try? FormBody(bytes.raw)
            _ = try? CheckInRequest(decoding: bytes.raw)
            _ = try? CheckInResponse(decoding: bytes.raw)
        }
    }
}

import Basics
import Testing
import Wire

@Suite struct HTTPResponseReaderTests {
    private func answers(_ text: String, step: Int, isHead: Bool = false) -> [String] {
        var reader = ResponseReader()
        var out: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: step) {
            let piece = Array(bytes[start..<min(start + step, bytes.count)])
            reader.append(piece.raw)
            do {
                while let answer = try reader.next(isHead: isHead) {
                    out.append("\(answer.status) \(answer.text) \(answer.closes)")
                }
            } catch { return out + ["fault"] }
        }
        if let last = reader.finish() { out.append("\(last.status) \(last.text) end") }
        return out
    }

    static let conversation =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        + "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\nConnection: Close\r\n\r\n2\r\nno\r\n0\r\n\r\n"
        + "HTTP/1.0 200 OK\r\n\r\nuntil the end"

    @Test("Responses are the same for every size of piece")
    func everyStep() {
        let expected = ["200 abc false", "204  false", "404 no true", "200 until the end end"]
        for step in 1...Self.conversation.utf8.count {
            #expect(answers(Self.conversation, step: step) == expected, "step \(step)")
        }
    }

    @Test("A response to HEAD has no body (canary: to GET it has)")
    func head() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
        #expect(answers(text, step: 9, isHead: true) == ["200  false"])
        #expect(answers(text, step: 9).isEmpty)
    }

    @Test(
        "Malformed responses are refused",
        arguments: [
            "HTTP/2 200\r\n\r\n", "200 OK\r\n\r\n", "HTTP/1.1 x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            String(repeating: "a", count: 20_000),
        ])
    func nonsense(text: String) {
        #expect(answers(text, step: 1_000) == ["fault"])
    }
}

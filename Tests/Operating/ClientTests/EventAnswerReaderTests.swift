import Basics
import ClientProtocol
import Testing
import Wire

@Suite("answers of the operator API")
struct EventAnswerReaderTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX: y\r\n\r\n"

    /// The parts of what a server sends in pieces of some bytes, in words, and what is left at the end of the connection.
    private func parts(_ text: String, pieces: Int = 1) throws -> [String] {
        var reader = EventAnswerReader()
        var found: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.append(Array(bytes[start..<min(bytes.count, start + pieces)]).raw)
            while let part = try reader.next() {
                switch part {
                case .event(let name, let data):
                    found.append("\(name): \(String(decoding: data, as: UTF8.self))")
                case .whole(let answer):
                    found.append("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
                }
            }
        }
        if let last = reader.finish() {
            found.append("end \(last.status) \(String(decoding: last.body, as: UTF8.self))")
        }
        return found
    }

    @Test("events are read whatever the cuts, with their names and data", arguments: [1, 2, 3, 7, 1_000])
    func events(pieces: Int) throws {
        let text =
            Self.head
            + "event: step\ndata: {\"a\":1}\n\ndata: \n\nevent: \ndata: 2\nevents: x\n\nother\n\nevent: late"
        #expect(try parts(text, pieces: pieces) == ["step: {\"a\":1}", ": ", ": 2", ": "])
    }

    @Test("anything but 200 with events is a whole response", arguments: [1, 1_000])
    func whole(pieces: Int) throws {
        let refusal =
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\nno"
        #expect(try parts(refusal, pieces: pieces) == ["404 no"])
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        #expect(try parts(plain, pieces: pieces) == ["200 {}"])
        let open = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
        #expect(try parts(open, pieces: pieces) == ["end 200 {}"])
        #expect(try parts(Self.head, pieces: pieces) == [])
    }

    @Test("an event may be as long as a line, and not longer")
    func long() throws {
        let longest = String(repeating: "x", count: Limits.Operator.lineBytes - 6)
        #expect(try parts("\(Self.head)data: \(longest)", pieces: 65_536) == [])
        #expect(throws: RequestFault.self) { try parts("\(Self.head)data: \(longest)x", pieces: 65_536) }
    }
}

import Basics
import HTTP2Peer
import Testing
import Wire

/// Values exactly at a limit and just beyond it, to detect off-by-one comparisons.
@Suite struct BoundaryTests {
    @Test("A frame is read at the limit and refused one byte beyond it, whole or in pieces")
    func frameLimit() throws {
        func stream(_ size: UInt8) -> [UInt8] { [41, 8, size] + [UInt8](repeating: 0, count: Int(size)) }
        for cuts in [[], [2], [3], [5]] as [[Int]] {
            #expect(try mcsFrames(of: stream(20), cutAt: cuts, limit: 20).map(\.message.count) == [20])
            #expect(throws: MCSError.tooLarge(21)) { try mcsFrames(of: stream(21), cutAt: cuts, limit: 20) }
        }
        // A login may be longer, and is filtered from the first byte over the limit on.
        var reader = MCS.FrameReader(limit: 20, loginLimit: 40)
        let login: [UInt8] = [41, 2, 21, 0x0A, 19] + [UInt8](repeating: 0x61, count: 19)
        try reader.read(login.raw.extracting(0..<6)) { _, _ in true }
        #expect(reader.isWithinFrame && reader.heldBytes > 0)
    }

    @Test("A selective ack retains the first IDs up to the limit")
    func selectiveAckLimit() throws {
        let ids = (0...Limits.MCS.receivedIDs).map { mcsText("p\($0)") }
        let frame = try #require(
            try mcsFrames(of: [41] + mcsWritten(.iq(MCS.IqStanza(.selectiveAck(ids))))).first)
        let read = try MCS.IqStanza(decoding: frame.message.raw)
        #expect(read.content == .selectiveAck(Array(ids.prefix(Limits.MCS.receivedIDs))))
    }

    @Test("A body is accepted at the limit and refused one byte beyond it")
    func bodyLimit() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
        #expect(requests(head + "\(Limits.HTTP.requestBodyBytes)\r\n\r\n") == ["unfinished"])
        #expect(requests(head + "\(Limits.HTTP.requestBodyBytes + 1)\r\n\r\n") == ["fault 413"])
    }

    @Test(
        "A length with anything but digits is refused", arguments: ["1:", ":", "1/", "+1", "-1", "1 1", ""])
    func lengthDigits(_ length: String) {
        #expect(
            requests("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\nab") == ["fault 400"])
    }

    @Test("A connection closes after Connection: close, even if a later header differs")
    func closeStays() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n"
        #expect(requests(head) == ["get /? close []"])
    }

    @Test("100 Continue is expected only if a body follows")
    func continueNeedsBody() throws {
        for (length, isExpected) in [("0", false), ("3", true)] {
            var reader = RequestReader()
            let head =
                "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\nx"
            reader.append(Array(head.utf8).raw)
            let request = try reader.next()
            #expect((request != nil) == !isExpected)
            #expect(reader.expectsContinue == isExpected)
        }
    }

    @Test(
        "Numbers and escapes with the character next to the last valid one are refused",
        arguments: [
            (#"{"a":-:}"#, .badNumber), (#"{"a":1.:}"#, .badNumber), (#"{"a":1e:}"#, .badNumber),
            (#"{"a":"\uD800\uE000"}"#, .loneSurrogate), (#"{"a":"\uD800\uFFFF"}"#, .loneSurrogate),
            (#"{"a":"\uDFFF"}"#, .loneSurrogate), ("{\"a\":\"\u{1F}\"}", .controlCharacter),
        ] as [(String, JSONError.Fault)])
    func besideJSON(_ text: String, fault: JSONError.Fault) {
        #expect {
            try JSONValue(parsing: Array(text.utf8).raw)
        } throws: { error in
            (error as? JSONError)?.fault == fault
        }
    }

    @Test("An answer that is reset no longer counts as unwritten")
    func brokenOffAnswer() {
        let desk = HTTP2Desk(greets: false)
        desk.send(HTTP2Frames.preface + HTTP2Frames.settings([(4, 10)]) + HTTP2Frames.settingsAck)
        desk.send(HTTP2Frames.headers(1, HTTP2Frames.request("GET", "/"), ends: true))
        _ = desk.next()
        desk.answer(1, String(repeating: "a", count: 100))
        #expect(desk.connection.unwrittenBytes == 90)
        desk.send(HTTP2Frames.reset(1))
        #expect(desk.connection.unwrittenBytes == 0 && desk.connection.isEmpty)
    }
}

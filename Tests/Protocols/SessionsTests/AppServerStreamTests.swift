import Basics
import Delivery
import Testing

@testable import Sessions

/// The counts of a managed stream (XEP-0198).
@Suite struct AppServerStreamTests {
    @Test("a stanza is handled when all before it are answered")
    func handled() {
        let stream = AppServerStream(id: "s")
        let numbers = (0..<4).map { _ in stream.countReceived() }
        #expect(numbers == [1, 2, 3, 4] && stream.handled == 4)
        let other = AppServerStream(id: "s")
        for number in (0..<4).map({ _ in other.countReceived() }) where number != 3 { other.postpone(number) }
        #expect(other.handled == 0)
        other.markAnswered(2)
        #expect(other.handled == 0)
        other.markAnswered(1)
        #expect(other.handled == 3)
        other.markAnswered(9)
        #expect(other.handled == 3)
        other.markAnswered(4)
        #expect(other.handled == 4)
    }

    @Test("confirmed stanzas are dropped, and confirming more than were sent fails")
    func confirmed() {
        let stream = AppServerStream(id: "s")
        for byte in 1...5 as ClosedRange<UInt8> { _ = stream.countSent(byte == 3 ? nil : [byte]) }
        #expect(!stream.confirm(6) && stream.confirm(3) && stream.confirm(3))
        #expect(!stream.confirm(2), "a confirmation cannot be withdrawn")
        #expect(stream.remains(jid: "")?.unconfirmed.map(\.number) == [4, 5])
        #expect(stream.takeUnconfirmed() == [[4], [5]])
    }

    @Test("a stream stays managed but cannot be resumed when the client confirms nothing")
    func overflow() {
        let stream = AppServerStream(id: "s")
        let stanza = [UInt8](repeating: 0, count: 1_024)
        let fitting = Limits.AppServer.unconfirmedBytes / stanza.count
        for _ in 0..<fitting { _ = stream.countSent(stanza) }
        #expect(
            stream.remains(jid: "")?.unconfirmed.count == fitting, "canary: stanzas up to the limit are kept")
        _ = stream.countSent(stanza)
        #expect(stream.id == nil && stream.remains(jid: "") == nil)
        #expect(stream.confirm(UInt32(fitting + 1)) && stream.sent == UInt32(fitting + 1))
    }

    @Test("stanza numbers continue beyond 2^32")
    func wraps() throws {
        let old = ResumableStream(
            id: "s", jid: "", handled: .max, sent: 1, confirmed: .max - 1,
            unconfirmed: [.max, 0, 1].map { ResumableStream.Stanza(number: $0, bytes: [UInt8($0 & 1)]) })
        #expect(AppServerStream(old, handled: 2) == nil)
        #expect(AppServerStream(old, handled: .max - 2) == nil)
        let stream = try #require(AppServerStream(old, handled: 0))
        #expect(stream.sent == 0 && stream.takeUnconfirmed() == [[1]])
        #expect(stream.countReceived() == 0 && stream.handled == 0)
    }

    @Test("an acknowledgement is requested after every ten stanzas")
    func asks() {
        let stream = AppServerStream(id: nil)
        let asked = (1...30).filter { _ in stream.countSent([1]) }
        #expect(asked == [10, 20, 30])
    }
}

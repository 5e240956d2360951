import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The header of the first stream as QXmpp 1.4 writes it: twice at once, although it can read only one answer.
@Suite struct AppServerHeaderTests {
    private static let header =
        "<?xml version='1.0'?><stream:stream to='gcm.googleapis.com' xmlns='jabber:client' "
        + "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
    private static let auth =
        #"<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</auth>"#

    /// Returns how often `text` has been sent after each of these chunks, and why the session closed.
    private static func sent(_ text: String, after chunks: [String]) -> (counts: [Int], close: CloseReason?) {
        let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))
        let settings = SessionSettings(seal: seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
        let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
        var session = AppServerSession(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 0), settings: SharedSettings(settings),
            now: now)
        var io = SessionIO()
        var counts: [Int] = []
        for chunk in chunks {
            session.receive(Array(chunk.utf8).raw, now: now, io: &io)
            let all = String(decoding: io.out.bytes.copied(), as: UTF8.self)
            counts.append(all.split(separator: text, omittingEmptySubsequences: false).count - 1)
        }
        return (counts, io.close)
    }

    @Test("A header is answered once, so that QXmpp can log in, when it is repeated in the same bytes")
    func together() {
        for text in ["<stream:stream ", "<stream:features>"] {
            #expect(Self.sent(text, after: [Self.header + Self.header]).counts == [1], "\(text)")
            let login = Self.sent(text, after: [Self.header + Self.header + Self.auth])
            #expect(login.counts == [1] && login.close == nil)
        }
    }

    @Test("A header is answered again when it is repeated after its answer")
    func apart() {
        for text in ["<stream:stream ", "<stream:features>"] {
            let login = Self.sent(text, after: [Self.header, Self.header, Self.auth])
            #expect(login.counts == [1, 2, 2] && login.close == nil, "\(text)")
        }
    }

    @Test("The connection closes when too many headers are received, together or separately")
    func bounded() {
        let headers = Array(repeating: Self.header, count: Limits.Login.streamHeaders + 1)
        let error = "<policy-violation "
        #expect(Self.sent(error, after: [headers.joined()]).counts == [1])
        let apart = Self.sent(error, after: headers)
        #expect(apart.counts == [0, 0, 0, 1] && apart.close == .protocolViolation)
        let least = Self.sent(error, after: Array(headers.dropLast()) + [Self.auth])
        #expect(
            least.counts.allSatisfy { $0 == 0 } && least.close == nil, "canary: the limit itself is accepted")
    }
}

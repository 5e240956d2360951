import Basics
import Testing

@testable import ccs_compare

/// The bench's side of other servers' protocols, with streams split anywhere.
struct PeerTests {
    /// Returns every split of bytes into two pieces, and some into many.
    private static func cuts(_ bytes: [UInt8]) -> [[[UInt8]]] {
        var ways = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
        for size in [1, 2, 3, 7] {
            ways.append(
                stride(from: 0, to: bytes.count, by: size).map {
                    Array(bytes[$0..<min(bytes.count, $0 + size)])
                })
        }
        return ways
    }

    private static func written(_ body: (inout Outbox) -> Void) -> [UInt8] {
        var outbox = Outbox()
        body(&outbox)
        return outbox.bytes.copied()
    }

    private static func sent(_ template: Template, number: Int, time: Int64) -> [UInt8] {
        written { template.append(number: number, time: time, to: &$0) }
    }

    // MARK: MQTT

    @Test("MQTT packets have the format of the standard")
    func packets() {
        #expect(
            MQTT.connect(client: "ab")
                == [0x10, 14, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 0, 0, 2, 0x61, 0x62])
        #expect(MQTT.subscribe(topic: "t", quality: 1) == [0x82, 6, 0, 1, 0, 1, 0x74, 1])
        let one = Self.sent(.packet(topic: "t", size: 374, hasIdentifier: true), number: 256, time: 0x17)
        #expect(one.prefix(8) == [0x32, 0xFB, 2, 0, 1, 0x74, 1, 1], "376 and 3 bytes follow")
        #expect(one.count == 3 + 3 + 2 + 374)
        #expect(String(decoding: one[8..<26], as: UTF8.self) == "~~0000000000000017")
        let none = Self.sent(.packet(topic: "t", size: 20, hasIdentifier: false), number: 9, time: 1)
        #expect(none == [0x30, 23, 0, 1, 0x74] + Array("~~0000000000000001xx".utf8))
    }

    @Test("a packet identifier is never 0, and yields the message number within the kept times")
    func identifiers() {
        for number in [0, 1, 4_095, 4_096, 32_767, 32_768, 65_535, 1_000_000] {
            let identifier = Template.identifier(of: number)
            #expect(identifier > 0)
            #expect(MQTT.number(of: identifier) % PendingMessages.kept == number % PendingMessages.kept)
        }
    }

    @Test("a publisher is ready after CONNACK, and counts each PUBACK when the stream is split anywhere")
    func publisher() {
        let stream: [UInt8] = [0x20, 2, 0, 0, 0x40, 2, 0, 1, 0x40, 2, 1, 2]
        for way in Self.cuts(stream) {
            var talk = PublisherTalk(client: "p")
            var answers: [Answer] = []
            _ = Self.written { outbox in
                for piece in way {
                    #expect(talk.consume(piece.raw, &outbox) { answers.append($0) } == .fine)
                }
            }
            #expect(talk.isReady && answers == [.number(0), .number(257)], "split into \(way.map(\.count))")
        }
    }

    @Test("a subscriber subscribes, reports the time of each message and acknowledges those of QoS 1")
    func subscriber() {
        let message = Self.sent(.packet(topic: "t", size: 374, hasIdentifier: true), number: 6, time: 0xABC)
        let stream: [UInt8] = [0x20, 2, 0, 0, 0x90, 3, 0, 1, 1] + message + message
        for way in Self.cuts(stream) {
            var talk = SubscriberTalk(client: "s", topic: "t", quality: 1)
            var times: [Int64] = []
            let answer = Self.written { outbox in
                for piece in way { #expect(talk.consume(piece.raw, &outbox) { times.append($0) } == .fine) }
            }
            #expect(talk.isReady && times == [0xABC, 0xABC], "split into \(way.map(\.count))")
            #expect(
                answer == MQTT.subscribe(topic: "t", quality: 1) + [0x40, 2, 0, 7, 0x40, 2, 0, 7])
        }
        var plain = SubscriberTalk(client: "s", topic: "t", quality: 0)
        let quiet = Self.sent(.packet(topic: "t", size: 60, hasIdentifier: false), number: 6, time: 5)
        var times: [Int64] = []
        let answer = Self.written { _ = plain.consume(quiet.raw, &$0) { times.append($0) } }
        #expect(times == [5] && answer == [])
    }

    @Test("Canary: a login fails when the broker refuses it or does not speak MQTT")
    func refusal() {
        var outbox = Outbox()
        var publisher = PublisherTalk(client: "p")
        #expect(publisher.consume([0x20, 2, 0, 5].raw, &outbox) { _ in } != .fine)
        #expect(!publisher.isReady)
        var subscriber = SubscriberTalk(client: "s", topic: "t", quality: 1)
        #expect(subscriber.consume([0x90, 3, 0, 1, 0x80].raw, &outbox) { _ in } != .fine)
        #expect(!subscriber.isReady)
        var stranger = PublisherTalk(client: "p")
        #expect(stranger.consume([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF].raw, &outbox) { _ in } != .fine)
    }

    // MARK: NATS

    private static let natsGreeting = #"INFO {"server_id":"MSG","tls_required":true}"# + "\r\n"

    @Test("NATS messages have the length in their line, and the login has the required options")
    func publications() {
        let one = Self.sent(.publication(subject: "bench.3", size: 20), number: 9, time: 0x17)
        #expect(String(decoding: one, as: UTF8.self) == "PUB bench.3 20\r\n~~0000000000000017xx\r\n")
        let long = Self.sent(.publication(subject: "bench.3", size: 374), number: 9, time: 0x17)
        #expect(long.count == "PUB bench.3 374\r\n".utf8.count + 374 + 2)
        let least = Self.sent(.publication(subject: "s", size: 0), number: 0, time: 1)
        #expect(String(decoding: least, as: UTF8.self) == "PUB s 18\r\n~~0000000000000001\r\n")
        var talk = NATSPublisherTalk()
        let said = Self.written { talk.begin(&$0) }
        #expect(said == NATS.connect + NATS.ping)
        #expect(String(decoding: NATS.connect, as: UTF8.self).hasSuffix("\"ccs-bench\"}\r\n"))
    }

    @Test("a NATS subscriber is ready after PONG, reports the time of each message, and responds to PING")
    func natsSubscriber() {
        let payload = "~~0000000000000abcMSG t 1 5\r\nx"
        let message = "MSG bench.3 1 \(payload.utf8.count)\r\n\(payload)\r\n"
        let words = ["PING\r\n", Self.natsGreeting, "+OK\r\nPONG\r\n", message, "PING\r\n", message]
        for way in Self.cuts(Array(words.joined().utf8)) {
            var talk = NATSSubscriberTalk(subject: "bench.3")
            var times: [Int64] = []
            let said = Self.written { outbox in
                talk.begin(&outbox)
                for piece in way { #expect(talk.consume(piece.raw, &outbox) { times.append($0) } == .fine) }
            }
            #expect(talk.isReady && times == [0xABC, 0xABC], "split into \(way.map(\.count))")
            #expect(said == NATS.connect + Array("SUB bench.3 1\r\nPING\r\nPONG\r\nPONG\r\n".utf8))
        }
    }

    @Test("Canary: a login fails when the server refuses it or does not speak NATS")
    func natsRefusal() {
        var outbox = Outbox()
        var publisher = NATSPublisherTalk()
        let refusal = Array("-ERR 'Authorization Violation'\r\nPONG\r\n".utf8)
        #expect(
            publisher.consume(refusal.raw, &outbox) { _ in }
                == .failed("the server refused: -ERR 'Authorization Violation'"))
        #expect(!publisher.isReady)
        for stranger in ["HTTP/1.1 400 Bad Request\r\n", "\r\n", String(repeating: "I", count: 70_000)] {
            var talk = NATSSubscriberTalk(subject: "s")
            #expect(talk.consume(Array(stranger.utf8).raw, &outbox) { _ in } != .fine)
            #expect(!talk.isReady)
        }
        var hasty = NATSSubscriberTalk(subject: "s")
        #expect(hasty.consume(Array(Self.natsGreeting.utf8).raw, &outbox) { _ in } == .fine && !hasty.isReady)
    }

    // MARK: XMPP

    @Test("counts of XEP-0198 are found when the stream is split anywhere")
    func counts() {
        let stream = Array(
            "<a h='17'/><a xmlns='urn:xmpp:sm:3' h=\"120\"/><a xmlns='urn:h' h='4294967295'/>".utf8)
        for way in Self.cuts(stream) {
            var scanner = CountScanner()
            var found: [UInt32] = []
            for piece in way { scanner.scan(piece.raw) { found.append($0) } }
            #expect(found == [17, 120, .max], "split into \(way.map(\.count))")
        }
    }

    private static let greeting = "<stream:stream><stream:features><mechanisms/></stream:features>"

    /// Passes the texts of a server to `talk`, one after the other.
    private static func converse(_ talk: inout StanzaTalk, _ turns: [String]) -> (String, TalkVerdict) {
        var verdict = TalkVerdict.fine
        let said = written { outbox in
            talk.begin(&outbox)
            for turn in turns { verdict = talk.consume(Array(turn.utf8).raw, &outbox) { _ in } }
        }
        return (String(decoding: said, as: UTF8.self), verdict)
    }

    @Test("a sender logs in, enables XEP-0198, and requests the count after each batch and ten stanzas")
    func sender() {
        let credential = StreamCredential(
            user: "u", domain: "example.org", password: "p", resource: "r")
        var talk = StanzaTalk(credential, .count)
        let (said, verdict) = Self.converse(
            &talk,
            [
                Self.greeting, "<success xmlns='x'/>", Self.greeting, "<iq type='result'></iq>",
                "<enabled xmlns='urn:xmpp:sm:3'/>",
            ])
        #expect(verdict == .fine && talk.isReady)
        #expect(said.contains("to=\"example.org\"") && said.contains(">AHUAcA==</auth>"))
        #expect(
            said.contains("<resource>r</resource>") && said.hasSuffix("<enable xmlns=\"urn:xmpp:sm:3\"/>"))
        let batch = String(
            decoding: Self.written { outbox in
                for number in 0..<12 {
                    Template.chat(to: "v@example.org/r", size: 374).append(
                        number: number, time: 1, to: &outbox)
                    talk.sent(&outbox)
                }
                talk.endBatch(&outbox)
                talk.endBatch(&outbox)
            }, as: UTF8.self)
        #expect(batch.utf8.count == 12 * 374 + 2 * "<r xmlns=\"urn:xmpp:sm:3\"/>".utf8.count)
        #expect(batch.contains("id=\"m#0000000011\"") && batch.hasSuffix("<r xmlns=\"urn:xmpp:sm:3\"/>"))
    }

    @Test("Canary: a sender fails when the server refuses the login, XEP-0198 or a stanza")
    func stanzaRefusals() {
        let credential = StreamCredential(user: "u", domain: "d", password: "p")
        let login = [Self.greeting, "<success/>", Self.greeting, "<iq></iq>"]
        var talk = StanzaTalk(credential, .count)
        #expect(Self.converse(&talk, [Self.greeting, "<failure/>"]).1 != .fine)
        talk = StanzaTalk(credential, .count)
        #expect(Self.converse(&talk, login + ["<failed/>"]).1 != .fine && !talk.isReady)
        talk = StanzaTalk(credential, .receipt)
        #expect(Self.converse(&talk, login).1 == .fine && talk.isReady)
        var outbox = Outbox()
        let error = Array("<message type='error'><error/></message>".utf8)
        #expect(talk.consume(error.raw, &outbox) { _ in } != .fine)
    }

    @Test("a receiver reports the time of each stanza, and sends a receipt when the sender requests one")
    func receipts() {
        let stanza = Self.sent(.chat(to: "me", size: 374), number: 77, time: 0xF0)
        let login = [Self.greeting, "<success/>", Self.greeting, "<iq></iq>"].map { Array($0.utf8) }
        for way in Self.cuts(stanza + stanza) {
            var talk = StanzaReceiverTalk(
                StreamCredential(user: "u", domain: "d", password: "p"), receiptsTo: "s@d/r")
            var times: [Int64] = []
            _ = Self.written { outbox in
                for turn in login { _ = talk.consume(turn.raw, &outbox) { _ in } }
            }
            let answer = Self.written { outbox in
                for piece in way { _ = talk.consume(piece.raw, &outbox) { times.append($0) } }
            }
            #expect(times == [0xF0, 0xF0], "split into \(way.map(\.count))")
            let receipt =
                "<message to=\"s@d/r\"><received xmlns=\"urn:xmpp:receipts\" id=\"m#0000000077\"/></message>"
            #expect(String(decoding: answer, as: UTF8.self) == receipt + receipt)
        }
    }
}

import Basics
import Delivery
import Sessions
import Testing
import Wire

/// A ready session with its app server and its core.
private struct Bench: ~Copyable {
    var session: AppServerSession
    var io = SessionIO()
    let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
    let token: String
    var submitted: [(requestID: UInt32, id: String)] = []
    var sent = ""

    init(window: Int = 100) {
        let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))
        var settings = SessionSettings(seal: seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
        settings.pendingWindow = window
        session = AppServerSession(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 0), settings: SharedSettings(settings),
            now: now)
        token = String(
            decoding: seal.token(
                for: RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1))),
            as: UTF8.self)
    }

    mutating func feed(_ bytes: [UInt8]) {
        session.receive(bytes.raw, now: now, io: &io)
        collect()
    }

    mutating func perform(_ command: SessionCommand) {
        session.perform(command, now: now, io: &io)
        collect()
    }

    mutating func logIn() {
        let header =
            #"<stream:stream to="x" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">"#
        feed(Array(header.utf8))
        feed(
            Array(
                #"<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</auth>"#
                    .utf8))
        perform(.appServer(.loginAccepted))
        feed(Array(header.utf8))
        feed(Array(#"<iq type="set"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#.utf8))
        sent = ""
    }

    func message(_ id: String) -> [UInt8] {
        Array(
            #"<message><gcm xmlns="google:mobile:data">{"to":"\#(token)","message_id":"\#(id)"}</gcm></message>"#
                .utf8)
    }

    private mutating func collect() {
        sent += String(decoding: io.out.bytes.copied(), as: UTF8.self)
        io.out.removeAll()
        for case .device(_, .submitted(let message)) in io.events {
            submitted.append(
                (message.requester.requestID, String(decoding: message.content.messageID, as: UTF8.self)))
        }
        io.events.removeAll()
    }
}

@Suite struct AppServerSoakTests {
    @Test("each of 2,000 messages is answered once, however many are sent at a time", arguments: [1, 7, 100])
    func eachAnsweredOnce(window: Int) {
        var random = SeededRandom(seed: UInt64(window))
        var bench = Bench(window: window)
        bench.logIn()
        var waiting = (0..<2_000).flatMap { bench.message("m\($0)") }[...]
        var taken: [String] = []
        var answered = 0
        while !waiting.isEmpty || !bench.submitted.isEmpty {
            if bench.io.isReading, !waiting.isEmpty {
                let piece = Array(waiting.prefix(Int.random(in: 1...8_000, using: &random)))
                waiting = waiting.dropFirst(piece.count)
                bench.feed(piece)
            }
            #expect(bench.submitted.count <= window)
            for _ in 0..<Int.random(in: 0...20, using: &random) where !bench.submitted.isEmpty {
                let at = Int.random(in: 0..<bench.submitted.count, using: &random)
                let (requestID, id) = bench.submitted.remove(at: at)
                taken.append(id)
                if answered % 5 == 0 {
                    bench.perform(.submission(requestID: requestID, .refused(.notRegistered)))
                } else {
                    bench.perform(.submission(requestID: requestID, .accepted(id: nil, canonical: nil)))
                }
                answered += 1
            }
        }
        #expect(answered == 2_000 && Set(taken).count == 2_000)
        let sent = Array(bench.sent.utf8)
        let answers = bench.sent.split(separator: "</message>").count
        #expect(answers == 2_000 && !sent.isEmpty)
        let isReading = bench.io.isReading
        #expect(isReading)
    }

    @Test(
        "random bytes in a stream end it with an error or are answered, and never trap",
        arguments: 0..<60 as Range<UInt64>)
    func rubbish(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bench = Bench(window: 5)
        if seed % 4 != 0 { bench.logIn() }
        var bytes = (0..<6).flatMap { bench.message("m\($0)") }
        bytes += Array(#"<iq type="get" id="1"><ping xmlns="urn:xmpp:ping"/></iq><presence/>"#.utf8)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(contentsOf: [0x3C, 0x22, 0x7B, 0x00].shuffled(using: &random), at: at)
            default:
                let end = min(bytes.count, at + Int.random(in: 0...200, using: &random))
                bytes.replaceSubrange(at..<end, with: bytes[at..<end].reversed())
            }
        }
        var rest = bytes[...]
        while !rest.isEmpty, bench.io.close == nil {
            let piece = Array(rest.prefix(Int.random(in: 1...500, using: &random)))
            rest = rest.dropFirst(piece.count)
            bench.feed(piece)
            for (requestID, _) in bench.submitted {
                bench.perform(.submission(requestID: requestID, .accepted(id: nil, canonical: nil)))
            }
            bench.submitted = []
        }
        let close = bench.io.close
        if close != nil { #expect(bench.sent.hasSuffix("</stream:stream>")) }
        bench.perform(.connection(.close(.systemShutdown)))
        let ending = bench.io.close
        #expect(ending != nil)
    }

    @Test("canary: a message stays open when the core never answers it")
    func canary() {
        var bench = Bench(window: 1)
        bench.logIn()
        bench.feed(bench.message("a") + bench.message("b"))
        let count = bench.submitted.count
        #expect(count == 1)
    }
}

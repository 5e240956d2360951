import Basics
import Testing
import Wire

@Suite("the client protocol of NATS")
struct NATSTests {
    /// Reads a stream in pieces of a length. Returns the events and the fault.
    private func read(_ bytes: [UInt8], pieces: Int) -> ([NATSEvent], NATSFault?) {
        var reader = NATSReader()
        var events: [NATSEvent] = []
        var at = 0
        while at < bytes.count {
            let piece = Array(bytes[at..<min(at + pieces, bytes.count)])
            reader.append(piece.raw)
            at += pieces
            do throws(NATSFault) {
                while let event = try reader.next() { events.append(event) }
            } catch {
                return (events, error)
            }
        }
        return (events, nil)
    }

    private func read(_ text: String) -> ([NATSEvent], NATSFault?) {
        read(Array(text.utf8), pieces: .max >> 1)
    }

    private let conversation =
        "INFO {\"server_id\":\"A\",\"nonce\":\"n\"} \r\nPING\r\npong\r\n+OK\r\n-ERR 'Authorization Violation'\r\n"
        + "MSG foo.bar 9 11\r\nHello World\r\nMSG  foo.bar\t9 INBOX.34 2\r\n\r\n\r\n"
        + "HMSG foo 1 34 39\r\nNATS/1.0\r\nFoodGroup: vegetable\r\n\r\nYum!!\r\n"
        + "HMSG in 2 16 16\r\nNATS/1.0 503\r\n\r\n\r\nMSG foo 1 0\r\n\r\n"

    private let expected: [NATSEvent] = [
        .info(Array("{\"server_id\":\"A\",\"nonce\":\"n\"} ".utf8)), .ping, .pong, .ok,
        .error(Array("Authorization Violation".utf8)),
        .message(
            NATSMessage(subject: Array("foo.bar".utf8), subscription: 9, payload: Array("Hello World".utf8))),
        .message(
            NATSMessage(
                subject: Array("foo.bar".utf8), subscription: 9, reply: Array("INBOX.34".utf8),
                payload: [13, 10])),
        .message(
            NATSMessage(
                subject: Array("foo".utf8), subscription: 1,
                headers: Array("NATS/1.0\r\nFoodGroup: vegetable\r\n\r\n".utf8), payload: Array("Yum!!".utf8))
        ),
        .message(
            NATSMessage(
                subject: Array("in".utf8), subscription: 2, status: 503,
                headers: Array("NATS/1.0 503\r\n\r\n".utf8), payload: [])),
        .message(NATSMessage(subject: Array("foo".utf8), subscription: 1, payload: [])),
    ]

    @Test("a conversation is read in pieces of any length")
    func conversations() {
        for pieces in [1, 2, 3, 7, 64, 1_000] {
            let (events, fault) = read(Array(conversation.utf8), pieces: pieces)
            #expect(events == expected && fault == nil, "in pieces of \(pieces)")
        }
    }

    @Test(
        "what no server sends is a fault",
        arguments: [
            ("HELLO\r\n", NATSFault.unknownLine), ("\r\n", .unknownLine), ("MSGX a 1 1\r\n", .unknownLine),
            ("MSG a 1\r\n", .badMessage), ("MSG a b c d 1\r\n", .badMessage), ("MSG a x 1\r\n", .badMessage),
            ("MSG a 1 -1\r\n", .badMessage), ("MSG a 1 1x\r\n", .badMessage),
            ("HMSG a 1 9 3\r\n", .badMessage),
            ("HMSG a 1 3\r\n", .badMessage), ("MSG a 1 1\r\nabcd", .badMessage),
            ("MSG a 1 2097153\r\n", .messageTooLong(2_097_153)),
            ("MSG a 1 99999999999999999999\r\n", .badMessage),
        ])
    func faults(_ text: String, _ fault: NATSFault) {
        #expect(read(text) == ([], fault))
    }

    @Test("lines are bounded; the description of a server may be longer")
    func lines() {
        let long = String(repeating: "x", count: Limits.NATS.lineBytes)
        #expect(read("-ERR " + long).1 == .lineTooLong)
        #expect(read("-ERR " + long + "\r\n").1 == .lineTooLong)
        #expect(read("INFO " + long + "\r\n").0 == [.info(Array(long.utf8))])
        #expect(read("INFO " + String(repeating: "x", count: Limits.NATS.infoBytes)).1 == .lineTooLong)
        let exact = String(repeating: "x", count: Limits.NATS.lineBytes - 5)
        #expect(read("-ERR " + exact + "\r\n").0 == [.error(Array(exact.utf8))])
    }

    @Test("a header is found by its whole name, and is a number or nothing")
    func headers() {
        let headers =
            "NATS/1.0\r\nNats-Sequence-Of: 1\r\nNATS-SEQUENCE:  18446\r\nNats-Sequence: 2\r\nBad: -1\r\n\r\n"
        let message = NATSMessage(
            subject: [], subscription: 1, headers: Array(headers.utf8), payload: Array("Other: 1".utf8))
        #expect(message.number("nats-sequence") == 18_446 && message.number("nats-sequence-of") == 1)
        for name in ["bad", "other", "nats", "nats/1.0"] as [StaticString] {
            #expect(message.number(name) == nil)
        }
    }

    @Test("many messages in one piece are read, and nothing is held afterwards")
    func manyMessages() throws {
        var reader = NATSReader()
        let piece = Array(String(repeating: "MSG a 1 3\r\nabc\r\n", count: 1_000).utf8)
        for at in 1...3 {
            reader.append(Array(piece.dropLast(at)).raw)
            var count = 0
            while try reader.next() != nil { count += 1 }
            #expect(count == 999 && reader.heldBytes > 0)
            reader.append(Array(piece.suffix(at)).raw)
            #expect(try reader.next() != nil && reader.next() == nil)
            #expect(reader.heldBytes == 0)
        }
    }

    private func written(_ write: (inout ByteBuffer) -> Void) -> String {
        var buffer = ByteBuffer()
        write(&buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    @Test("commands are written as the protocol defines them")
    func commands() {
        let (subject, reply, payload) = (Array("a.b".utf8), Array("_INBOX.1".utf8), Array("hi\r\n".utf8))
        #expect(
            written { NATSWriter.publish(payload.raw, to: subject, in: &$0) } == "PUB a.b 4\r\nhi\r\n\r\n")
        #expect(
            written { NATSWriter.publish(payload.raw, to: subject, reply: reply, in: &$0) }
                == "PUB a.b _INBOX.1 4\r\nhi\r\n\r\n")
        #expect(written { NATSWriter.subscribe(reply, as: 7, to: &$0) } == "SUB _INBOX.1 7\r\n")
        #expect(written { NATSWriter.unsubscribe(7, to: &$0) } == "UNSUB 7\r\n")
        #expect(
            written { NATSWriter.ping(to: &$0) } + written { NATSWriter.pong(to: &$0) } == "PING\r\nPONG\r\n")
    }

    @Test("a login is a JSON object with what the server needs")
    func logins() throws {
        let logins: [(NATSWriter.Login, [String: String])] = [
            (.none, [:]), (.password(user: "u\"", password: "p"), ["user": "u\"", "pass": "p"]),
            (.token("t"), ["auth_token": "t"]),
            (.key(nkey: "UK", signature: "s"), ["nkey": "UK", "sig": "s"]),
            (.credentials(jwt: "j", signature: "s"), ["jwt": "j", "sig": "s"]),
        ]
        for (login, members) in logins {
            let line = written { NATSWriter.connect(name: "n", login: login, to: &$0) }
            #expect(line.contains("\"tls_required\":false"))
            let encrypted = written {
                NATSWriter.connect(name: "n", login: login, requiresTLS: true, to: &$0)
            }
            #expect(encrypted.contains("\"tls_required\":true"))
            #expect(line.hasPrefix("CONNECT {") && line.hasSuffix("}\r\n"))
            let text = Array(line.dropFirst(8).dropLast().utf8)
            let object = try JSONValue(parsing: text.raw)
            #expect(object["verbose"]?.boolean == false && object["headers"]?.boolean == true)
            #expect(object["no_responders"]?.boolean == true && object["name"]?.text == "n")
            for key in ["user", "pass", "auth_token", "nkey", "sig", "jwt"] {
                #expect(object[key]?.text == members[key], "\(key)")
            }
        }
    }

    @Test("subjects have no blanks, line ends, or empty tokens")
    func subjects() {
        for subject in ["a", "a.b-c.$D", "_INBOX.x.1", String(repeating: "s", count: 255)] {
            #expect(NATSWriter.isSubject(Array(subject.utf8)), "\(subject)")
        }
        for subject in [
            "", ".", "a.", ".a", "a..b", "a b", "a\r\nPUB x 1", "a\u{e9}", String(repeating: "s", count: 256),
        ] {
            #expect(!NATSWriter.isSubject(Array(subject.utf8)), "\(subject)")
        }
    }

    private func answer(_ text: String, status: Int? = nil) -> NATSMessage {
        NATSMessage(subject: [], subscription: 1, status: status, payload: Array(text.utf8))
    }

    @Test("the answer to a published message is its sequence, an error, or unreadable")
    func published() {
        #expect(JetStreamPublishAnswer(answer("{\"stream\":\"S\",\"seq\":18446}")) == .stored(18_446))
        #expect(JetStreamPublishAnswer(answer("", status: 503)) == .noResponder)
        let error =
            "{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"no\"},\"stream\":\"S\",\"seq\":0}"
        #expect(
            JetStreamPublishAnswer(answer(error))
                == .refused(JetStreamError(status: 503, code: 10_077, description: "no")))
        for text in [
            "", "[]", "{}", "{\"stream\":\"S\"}", "{\"seq\":1}", "{\"stream\":\"S\",\"seq\":0}",
            "{\"stream\":\"S\",\"seq\":-1}", "{\"seq\"",
        ] {
            #expect(JetStreamPublishAnswer(answer(text)) == .unreadable, "\(text)")
        }
    }

    @Test("a stored message is read with its sequence; one that is missing is no error")
    func stored() {
        let message =
            "{\"type\":\"t\",\"message\":{\"subject\":\"s\",\"seq\":5,\"data\":\"AQID\",\"time\":\"t\"}}"
        #expect(JetStreamMessageAnswer(answer(message)) == .message(sequence: 5, payload: [1, 2, 3]))
        #expect(
            JetStreamMessageAnswer(answer("{\"message\":{\"seq\":6}}")) == .message(sequence: 6, payload: []))
        let missing = "{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}"
        #expect(JetStreamMessageAnswer(answer(missing)) == .none)
        let other = "{\"error\":{\"code\":404,\"err_code\":10059,\"description\":\"stream not found\"}}"
        #expect(
            JetStreamMessageAnswer(answer(other))
                == .refused(JetStreamError(status: 404, code: 10_059, description: "stream not found")))
        #expect(JetStreamMessageAnswer(answer("", status: 503)) == .noResponder)
        for text in [
            "{}", "{\"message\":{\"seq\":5,\"data\":\"AQI\u{21}\"}}", "{\"message\":{\"data\":\"AQID\"}}",
            "x",
        ] {
            #expect(JetStreamMessageAnswer(answer(text)) == .unreadable, "\(text)")
        }
        #expect(JetStreamMessageAnswer.request(7) == Array("{\"seq\":7}".utf8))
        let request = JSONValue.object([.init("seq", 7), .init("next_by_subj", "ccs.0")])
        #expect(JetStreamMessageAnswer.request(from: 7, subject: "ccs.0") == Array(request.compact.utf8))
    }
}

import Basics
import ClientProtocol
import ClientSupport
import Testing
import Transport
import Wire

/// Logins by SCRAM, second attempts, and managed streams of an app server's machine.
@Suite struct AppServerMachineStreamTests {
    private static let functions = SCRAMClient.Functions(
        digests: SCRAM.Functions(
            hash: { Digest.sha256($0) }, authenticate: { Digest.hmacSHA256(key: $0, $1) }),
        stretch: { Digest.stretched($0, salt: $1, iterations: $2) })
    private static let sasl = "xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\""
    private static let management = "xmlns=\"urn:xmpp:sm:3\""

    private func login() -> AppServerLogin {
        var login = AppServerLogin(sender: SenderID(7), key: Redacted(Array("KEY".utf8)))
        login.resource = ""
        login.acknowledges = false
        return login
    }

    private func bench(_ login: AppServerLogin) -> AppServerBench {
        let bench = AppServerBench()
        bench.machine = AppServerMachine(login: login)
        bench.machine.open(out: &bench.out)
        _ = bench.sent()
        return bench
    }

    /// Completes the login until the stream is bound or to be resumed. Returns the last output.
    @discardableResult
    private func reopen(_ bench: AppServerBench) -> String {
        bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        bench.receive(AppServerScript.success)
        return bench.receive(AppServerScript.header + AppServerScript.features)
    }

    private static func base64(_ text: String) -> String { Base64.text(Array(text.utf8)) }

    // MARK: SCRAM

    /// A server that has the key: answers the first and the final message of a client.
    private struct Server {
        let salt = Array("salt of the server".utf8)
        let key: [UInt8]
        var iterations = 4_096
        var bare = ""
        var challenge = ""

        mutating func challenge(for auth: String) throws -> String {
            let payload = try #require(
                auth.split(separator: ">").dropFirst().first?.split(separator: "<").first)
            let decoded = Base64.bytes(Array(payload.utf8).raw)
            let first = try #require(decoded)
            bare = String(String(decoding: first, as: UTF8.self).dropFirst(3))
            let nonce = try #require(bare.split(separator: ",").last?.dropFirst(2))
            challenge = "r=\(nonce)SERVER,s=\(Base64.text(salt)),i=\(iterations)"
            return
                "<challenge \(AppServerMachineStreamTests.sasl)>\(AppServerMachineStreamTests.base64(challenge))</challenge>"
        }

        /// Returns the success, if the proof is right.
        func success(for response: String) throws -> String? {
            let payload = try #require(
                response.split(separator: ">").dropFirst().first?.split(separator: "<").first)
            let final = try SCRAM.ClientFinal(String(payload))
            let text = Array("\(bare),\(challenge),".utf8) + final.withoutProof
            let digests = AppServerMachineStreamTests.functions.digests
            let salted = AppServerMachineStreamTests.functions.stretch(key, salt, iterations)
            let keys = digests.keys(saltedPassword: salted)
            guard digests.accepts(proof: final.proof, storedKey: keys.stored, authMessage: text) else {
                return nil
            }
            let signature = SCRAM.serverFinal(signature: digests.authenticate(keys.server, text))
            return "<success \(AppServerMachineStreamTests.sasl)>\(Base64.text(signature))</success>"
        }
    }

    private func scramBench(binding: [UInt8]? = nil) -> AppServerBench {
        var login = login()
        login.mechanism = .scram(
            SCRAMClient(functions: Self.functions, nonce: "abc", binding: binding))
        return bench(login)
    }

    @Test("A login by SCRAM proves the key to a server that has it")
    func scram() throws {
        let bench = scramBench()
        let auth = bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        #expect(auth.hasPrefix("<auth mechanism=\"SCRAM-SHA-256\" \(Self.sasl)>"))
        var server = Server(key: Array("KEY".utf8))
        let response = bench.receive(try server.challenge(for: auth))
        let success = try #require(try server.success(for: response))
        #expect(bench.receive(success) == AppServerBench.ownHeader)
        bench.receive(AppServerScript.header + AppServerScript.features)
        bench.receive(AppServerScript.bound)
        let isReady = bench.machine.isReady
        #expect(isReady)
    }

    @Test("A login with channel binding names its type, and sends the data of the connection")
    func bound() throws {
        let bench = scramBench(binding: [1, 2])
        let auth = bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        let header = "p=tls-exporter,,"
        let first = Self.base64("\(header)n=7@gcm.googleapis.com,r=abc")
        #expect(auth == "<auth mechanism=\"SCRAM-SHA-256-PLUS\" \(Self.sasl)>\(first)</auth>")
        let challenge = Self.base64("r=abcSERVER,s=c2FsdA==,i=4096")
        let response = bench.receive("<challenge \(Self.sasl)>\(challenge)</challenge>")
        let payload = try #require(
            response.split(separator: ">").dropFirst().first?.split(separator: "<").first)
        let final = try SCRAM.ClientFinal(String(payload))
        #expect(final.bound == Array(header.utf8) + [1, 2])
    }

    @Test("A success without the server's proof ends the stream")
    func unproved() throws {
        let bench = scramBench()
        let auth = bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        var server = Server(key: Array("KEY".utf8))
        bench.receive(try server.challenge(for: auth))
        #expect(bench.receive(AppServerScript.success) == "</stream:stream>")
        guard bench.events.count == 1, case .unexpected = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test(
        "An invalid challenge ends the stream",
        arguments: [
            "r=other,s=c2FsdA==,i=4096", "r=abcSERVER,s=c2FsdA==,i=0", "r=abcSERVER,s=c2FsdA==,i=131073",
            "r=abcSERVER,s=c2FsdA==", "x",
        ])
    func invalidChallenge(_ challenge: String) {
        let bench = scramBench()
        bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        let ended = bench.receive("<challenge \(Self.sasl)>\(Self.base64(challenge))</challenge>")
        #expect(ended == "</stream:stream>")
    }

    @Test("A second challenge ends the stream")
    func secondChallenge() throws {
        let bench = scramBench()
        let auth = bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        var server = Server(key: Array("KEY".utf8))
        let challenge = try server.challenge(for: auth)
        #expect(bench.receive(challenge).contains("<response"))
        #expect(bench.receive(challenge) == "</stream:stream>")
    }

    @Test("A refused login may be followed by one with another key on the same stream")
    func secondLogin() {
        var first = login()
        first.endsWhenRefused = false
        let bench = bench(first)
        bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        #expect(bench.receive("<failure \(Self.sasl)><not-authorized/></failure>") == "")
        var second = AppServerLogin(sender: SenderID(7), key: Redacted(Array("NEW".utf8)))
        second.resource = "other"
        bench.machine.authenticate(second, out: &bench.out)
        let plain = Base64.text([0] + Array("7@gcm.googleapis.com".utf8) + [0] + Array("NEW".utf8))
        #expect(bench.sent() == "<auth mechanism=\"PLAIN\" \(Self.sasl)>\(plain)</auth>")
        bench.receive(AppServerScript.success)
        #expect(bench.receive(AppServerScript.header + AppServerScript.features).contains("other"))
    }

    // MARK: Managed streams

    private func managedBench() -> AppServerBench {
        var login = login()
        login.managesStream = true
        let bench = bench(login)
        reopen(bench)
        #expect(bench.receive(AppServerScript.bound) == "<enable \(Self.management) resume=\"true\"/>")
        return bench
    }

    private func send(_ bench: AppServerBench) {
        bench.machine.send(Downstream(to: [0x54], messageID: [0x6D]), out: &bench.out)
        _ = bench.sent()
    }

    @Test("A managed stream counts stanzas of both sides, and answers requests for its count")
    func managed() {
        let bench = managedBench()
        let isReady = bench.machine.isReady
        #expect(!isReady)
        bench.receive("<enabled \(Self.management) id=\"S1\" resume=\"true\" max=\"300\"/>")
        for _ in 0..<3 { send(bench) }
        let ack = AppServerScript.answer("{\"message_type\":\"ack\",\"message_id\":\"m\"}")
        bench.receive(ack)
        bench.receive("<message type=\"error\" id=\"1\"><error/></message>")
        #expect(bench.receive("<r \(Self.management)/>") == "<a \(Self.management) h=\"2\"/>")
        let stream = bench.machine.stream
        #expect(stream?.id == "S1" && stream?.sent == 3 && stream?.received == 2)
    }

    @Test("A server without managed streams is used without one")
    func notEnabled() {
        let bench = managedBench()
        bench.receive("<failed \(Self.management)/>")
        let (isReady, stream) = (bench.machine.isReady, bench.machine.stream)
        #expect(isReady && stream == nil)
        bench.receive("<r \(Self.management)/>")
        guard case .unexpected("<r>")? = bench.events.last else {
            Issue.record("\(bench.events)")
            return
        }
    }

    private func resuming() -> AppServerBench {
        let lost = managedBench()
        lost.receive("<enabled \(Self.management) id=\"a&amp;b\" resume=\"true\"/>")
        for _ in 0..<3 { send(lost) }
        lost.receive(AppServerScript.answer("{\"message_type\":\"ack\",\"message_id\":\"m\"}"))
        var login = login()
        login.resumes = lost.machine.stream
        let bench = bench(login)
        let resume = reopen(bench)
        #expect(resume == "<resume \(Self.management) previd=\"a&amp;b\" h=\"1\"/>")
        return bench
    }

    @Test("A lost stream is resumed after the stanzas that the server has handled")
    func resumed() {
        let bench = resuming()
        bench.receive("<resumed \(Self.management) previd=\"a&amp;b\" h=\"2\"/>")
        guard bench.events.count == 2, case .resumed(handled: 2) = bench.events[0],
            case .ready(let jid) = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(jid == "1234567890@gcm.googleapis.com/test0FAD177A")
        send(bench)
        let stream = bench.machine.stream
        #expect(stream?.sent == 3 && stream?.received == 1)
    }

    @Test("A stream that the server does not have is replaced by a new one")
    func notResumed() {
        let bench = resuming()
        let bind = bench.receive("<failed \(Self.management)><item-not-found/></failed>")
        #expect(bind.contains("<bind"))
        bench.receive(AppServerScript.bound)
        guard bench.events.count == 2, case .notResumed = bench.events[0], case .ready = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
        let stream = bench.machine.stream
        #expect(stream == nil)
    }

    @Test("A message may be refused")
    func refuse() {
        let bench = bench(login())
        reopen(bench)
        bench.receive(AppServerScript.bound)
        var message = ReceivedUpstream()
        (message.from, message.messageID) = (Array("T".utf8), Array("m".utf8))
        bench.machine.refuse(message, out: &bench.out)
        #expect(bench.sent().contains("{\"to\":\"T\",\"message_id\":\"m\",\"message_type\":\"nack\"}"))
    }
}

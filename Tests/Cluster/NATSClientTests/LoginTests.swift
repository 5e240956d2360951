import Basics
import Testing
import Wire

@testable import NATSClient

@Suite("logins to a NATS server") struct LoginTests {
    /// A pair from the documentation of NATS.
    private let seed = Array("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY".utf8)
    private let publicKey = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    @Test("a seed gives the public key that belongs to it, and is not shown")
    func seeds() throws {
        let key = try NKeySeed(seed)
        #expect(key.publicKey == publicKey)
        #expect(!"\(key)".contains("SUAC") && !"\(NATSLogin.key(key))".contains("SUAC"))
    }

    @Test("what is not the seed of a user is refused by its reason")
    func badSeeds() throws {
        func problem(_ text: [UInt8]) -> NKeyError? {
            do throws(NKeyError) {
                _ = try NKeySeed(text)
                return nil
            } catch {
                return error
            }
        }
        #expect(problem([]) == .wrongLength(0))
        #expect(problem(Array(seed.dropLast(8))) == .wrongLength(50))
        #expect(problem(Array("SU".utf8) + [0x21]) == .notBase32)
        for at in seed.indices {
            var wrong = seed
            wrong[at] = wrong[at] == 0x41 ? 0x42 : 0x41
            let found = problem(wrong)
            // The last digit has two bits that must be zero.
            #expect(found == .wrongChecksum || at == seed.count - 1 && found == .notBase32, "\(at)")
        }
        let account = try #require(TestKey(.account, 5))
        #expect(problem(account.seed) == .notAUser)
        #expect(problem(Array(publicKey.utf8)) == .wrongLength(56))
        #expect(NKeyError.wrongChecksum.description.contains("mistyped"))
    }

    @Test("a nonce is signed with the seed, and the JWT is sent with it")
    func answers() throws {
        let key = try NKeySeed(seed)
        let nonce = Array("nonce".utf8)
        #expect(try NATSLogin.none.answer(to: nil) == .none)
        #expect(
            try NATSLogin.password(user: "u", password: Redacted("p")).answer(to: nil)
                == .password(user: "u", password: "p"))
        #expect(try NATSLogin.token(Redacted("t")).answer(to: nil) == .token("t"))
        guard case .key(publicKey, let signature) = try NATSLogin.key(key).answer(to: nonce) else {
            Issue.record("another answer")
            return
        }
        #expect(signature.count == 86 && !signature.contains("="))
        let trusted = try #require(TestOperator())
        let credentials = try NATSCredentials(parsing: trusted.file(seed: trusted.user.seed))
        guard case .credentials(trusted.token, _) = try NATSLogin.credentials(credentials).answer(to: nonce)
        else {
            Issue.record("another answer")
            return
        }
        for login in [NATSLogin.key(key), .credentials(credentials)] {
            #expect(throws: NATSFailure.noNonce) { try login.answer(to: nil) }
        }
    }

    @Test("a file that is not a credentials file is refused by its reason")
    func badFiles() throws {
        let trusted = try #require(TestOperator())
        let whole = String(decoding: trusted.file(seed: trusted.user.seed), as: UTF8.self)
        func problem(_ text: String) -> NATSCredentialsError? {
            do throws(NATSCredentialsError) {
                _ = try NATSCredentials(parsing: Array(text.utf8))
                return nil
            } catch {
                return error
            }
        }
        #expect(problem(whole) == nil)
        #expect(problem(whole.replacing("\n", with: "\r\n")) == nil)
        #expect(problem("") == .noJWT && problem("-----BEGIN NATS USER JWT-----\n") == .noJWT)
        #expect(problem(whole.replacing(trusted.token, with: "a.b")) == .notAJWT)
        #expect(problem(whole.replacing(trusted.token, with: "YWFh.YWFh.Y!Fh")) == .notAJWT)
        #expect(problem(whole.replacing("USER NKEY SEED", with: "NOTHING")) == .noSeed)
        let seed = String(decoding: trusted.user.seed, as: UTF8.self)
        #expect(problem(whole.replacing(seed, with: "SUA")) == .seed(.notBase32))
        #expect(problem(String(repeating: "x", count: 65_537)) == .tooLong(65_537))
    }
}

@Suite("which NATS server is tried next") struct RotationTests {
    private let servers = (1...4).map { NATSServerAddress(host: "n\($0)") }
    private let start = Instant(nanoseconds: 0)

    @Test("all servers are tried in random order, then there is a wait that doubles up to its limit")
    func rounds() {
        var rotation = ServerRotation(servers: servers, seed: 1)
        var orders: Set<[NATSServerAddress]> = []
        var waits: [Int64] = []
        for _ in 1...12 {
            var order: [NATSServerAddress] = []
            while case .connect(let server) = rotation.next() { order.append(server) }
            #expect(Set(order) == Set(servers) && order.count == 4)
            orders.insert(order)
        }
        #expect(orders.count > 3)
        rotation = ServerRotation(servers: [servers[0]], seed: 1)
        for _ in 1...10 {
            #expect(rotation.next() == .connect(servers[0]))
            guard case .wait(let milliseconds) = rotation.next() else {
                Issue.record("no wait")
                return
            }
            waits.append(milliseconds)
        }
        #expect((50...100).contains(waits[0]) && (100...200).contains(waits[1]))
        #expect(waits.dropFirst(6).allSatisfy { (1_000...2_000).contains($0) })
    }

    @Test("a server that is lost is tried last, at once if the connection has lasted, otherwise after a wait")
    func lost() {
        var rotation = ServerRotation(servers: servers, seed: 2)
        for _ in 1...20 {
            guard case .connect(let server) = rotation.next() else { continue }
            rotation.connected(to: server, now: start)
            rotation.lost(now: start.advanced(milliseconds: 5_000))
            var order: [NATSServerAddress] = []
            while case .connect(let next) = rotation.next() { order.append(next) }
            #expect(order.count == 4 && order.last == server)
        }
        rotation = ServerRotation(servers: servers, seed: 3)
        guard case .connect(let server) = rotation.next() else { return }
        rotation.connected(to: server, now: start)
        rotation.lost(now: start.advanced(milliseconds: 4_999))
        guard case .wait = rotation.next() else {
            Issue.record("a server that closes at once is asked in a loop")
            return
        }
    }

    @Test("addresses are read with and without scheme, port and brackets, and mistakes are explained")
    func addresses() throws {
        let good: [(String, String, UInt16)] = [
            ("n1", "n1", 4_222), ("n1:4333", "n1", 4_333), ("nats://n1.example:1", "n1.example", 1),
            ("[::1]", "::1", 4_222), ("nats://[::1]:65535", "::1", 65_535),
            ("127.0.0.1:4222", "127.0.0.1", 4_222),
        ]
        for (text, host, port) in good {
            let address = try NATSServerAddress(parsing: text)
            #expect(address == NATSServerAddress(host: host, port: port), "\(text)")
            #expect(try NATSServerAddress(parsing: "\(address)") == address)
        }
        let bad: [(String, NATSAddressError)] = [
            ("", .invalid("")), (":4222", .invalid(":4222")), ("a b", .invalid("a b")),
            ("n1/x", .invalid("n1/x")), ("[::1", .invalid("[::1")), ("[::1]x", .invalid("[::1]x")),
            ("tls://n1", .scheme("tls://n1")), ("n1:0", .port("n1:0")), ("n1:x", .port("n1:x")),
            ("n1:65536", .port("n1:65536")), ("n1:", .port("n1:")), ("::1", .brackets("::1")),
            ("nats://user:secret@n1", .login),
        ]
        for (text, problem) in bad {
            #expect(throws: problem, "\(text)") { try NATSServerAddress(parsing: text) }
        }
    }
}

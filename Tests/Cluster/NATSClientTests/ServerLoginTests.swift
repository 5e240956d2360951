import Basics
import NATSServerSupport
import Testing
import Transport

@testable import NATSClient

extension ServerTests {
    @Suite("logins and TLS") struct Logins {
        private func outcome(_ server: NATSServerProcess, _ login: NATSLogin) throws -> NATSFailure? {
            let test = try TestClient(server, login: login)
            return try test.next {
                switch $0 {
                case .connected: .some(nil)
                case .attemptFailed(_, let failure): .some(.some(failure))
                default: nil
                }
            }
        }

        private let refused = NATSFailure.refused(.authorizationViolation)

        @Test("a user is accepted with the right password alone")
        func passwords() throws {
            let server = try NATSServerProcess("authorization { user: ccsd, password: right }")
            #expect(try outcome(server, .password(user: "ccsd", password: Redacted("right"))) == nil)
            #expect(try outcome(server, .password(user: "ccsd", password: Redacted("wrong"))) == refused)
            #expect(try outcome(server, .none) == refused)
            #expect(try outcome(server, .token(Redacted("right"))) == refused)
        }

        @Test("a token is accepted if it is the right one")
        func tokens() throws {
            let server = try NATSServerProcess("authorization { token: right }")
            #expect(try outcome(server, .token(Redacted("right"))) == nil)
            #expect(try outcome(server, .token(Redacted("wrong"))) == refused)
        }

        @Test("a key is accepted if the server's configuration names it")
        func keys() throws {
            let user = try #require(TestKey(.user, 3))
            let stranger = try #require(TestKey(.user, 4))
            let server = try NATSServerProcess(
                "authorization { users: [ { nkey: \(user.publicKey) } ] }")
            let seed = try NKeySeed(user.seed)
            #expect(seed.publicKey == user.publicKey)
            #expect(try outcome(server, .key(seed)) == nil)
            #expect(try outcome(server, .key(try NKeySeed(stranger.seed))) == refused)
            #expect(try outcome(server, .none) == refused)
            // A server without keys sends nothing to sign.
            #expect(try outcome(try NATSServerProcess(), .key(seed)) == .noNonce)
        }

        @Test("a credentials file is accepted if its seed belongs to its JWT")
        func credentials() throws {
            let trusted = try #require(TestOperator())
            let server = try NATSServerProcess(trusted.configuration, hasJetStream: false)
            let right = try NATSCredentials(parsing: trusted.file(seed: trusted.user.seed))
            #expect(try outcome(server, .credentials(right)) == nil)
            let stranger = try #require(TestKey(.user, 4))
            let wrong = try NATSCredentials(parsing: trusted.file(seed: stranger.seed))
            #expect(try outcome(server, .credentials(wrong)) == refused)
            #expect(try outcome(server, .none) == refused)
        }

        @Test("a subject that is not permitted is reported, and the connection stays")
        func permissions() throws {
            let server = try NATSServerProcess(
                """
                authorization { users: [ { user: u, password: p, permissions: {
                  publish: ["$JS.>", "ccs.>"], subscribe: ["_INBOX.>"] } } ] }
                """)
            let test = try TestClient(server, login: .password(user: "u", password: Redacted("p")))
            try test.connected()
            let client = try test.jetStream
            #expect(client.subscribe("secret.>") != nil)
            let warning = try test.next { if case .warning(let error) = $0 { error } else { nil } }
            #expect("\(warning)".contains("Permissions Violation for Subscription to \"secret.>\""))
            #expect(try test.createStream(0) == [] && client.isConnected)
        }

        // MARK: TLS

        private func settings(
            _ server: NATSServerProcess, _ use: NATSSession.TLSUse, _ folder: TestFolder
        ) throws -> NATSSettings {
            NATSSettings(
                servers: [NATSServerAddress(host: "127.0.0.1", port: server.port)], name: "tests",
                tlsUse: use, tls: try TLSClientSettings(trust: .file(folder.authority)))
        }

        private func outcome(_ settings: NATSSettings) throws -> NATSFailure? {
            let test = try TestClient(settings)
            let failure = try test.next { event -> NATSFailure?? in
                switch event {
                case .connected: .some(nil)
                case .attemptFailed(_, let failure): .some(.some(failure))
                default: nil
                }
            }
            if failure == nil { #expect(try test.createStream(0) == []) }
            return failure
        }

        private func isUntrusted(_ failure: NATSFailure?) -> Bool {
            if case .untrusted(let words) = failure { words.contains("verif") } else { false }
        }

        @Test("TLS begins after the server's description, and only with a trusted certificate for the name")
        func tls() throws {
            let folder = try TestFolder(names: ["127.0.0.1"])
            let stranger = try TestFolder(names: ["127.0.0.1"])
            let other = try TestFolder(names: ["nats.example"])
            let server = try NATSServerProcess(folder.serverTLS())
            for use in [NATSSession.TLSUse.ifRequired, .always] {
                #expect(try outcome(settings(server, use, folder)) == nil, "\(use)")
                #expect(isUntrusted(try outcome(settings(server, use, stranger))), "\(use)")
            }
            #expect(try outcome(settings(server, .never, folder)) == .tlsRequired)
            let named = try NATSServerProcess(other.serverTLS())
            #expect(isUntrusted(try outcome(settings(named, .always, other))))
        }

        @Test("a server without TLS is refused if TLS is required, and accepted otherwise")
        func plain() throws {
            let folder = try TestFolder(names: ["127.0.0.1"])
            let server = try NATSServerProcess()
            #expect(try outcome(settings(server, .always, folder)) == .tlsUnavailable)
            #expect(try outcome(settings(server, .ifRequired, folder)) == nil)
        }

        @Test("TLS begins before the server's description where both want that")
        func handshakeFirst() throws {
            let folder = try TestFolder(names: ["127.0.0.1"])
            let stranger = try TestFolder(names: ["127.0.0.1"])
            // The server waits longer than the client, however busy the machine is.
            let server = try NATSServerProcess(folder.serverTLS("handshake_first: true, timeout: 60"))
            #expect(try outcome(settings(server, .first, folder)) == nil)
            #expect(isUntrusted(try outcome(settings(server, .first, stranger))))
            // Each waits for the other.
            #expect(try outcome(settings(server, .always, folder)) == .timedOut)
        }
    }
}

/// A folder with an authority and a server certificate.
final class TestFolder {
    private let path: String

    init(names: [String]) throws {
        path = NATSServerProcess.temporaryFolder()
        let authority = CertificateAuthority(directory: path)
        try authority.ensure(names: names, now: Now.read().wall)
    }

    deinit { NATSServerProcess.remove(path) }

    var authority: String { "\(path)/ca.pem" }

    /// The TLS section of a server's configuration.
    func serverTLS(_ more: String = "") -> String {
        "tls { cert_file: \"\(path)/server.pem\", key_file: \"\(path)/server.key\", \(more) }"
    }
}

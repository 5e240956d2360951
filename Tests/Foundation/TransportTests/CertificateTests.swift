import Basics
import Glibc
import Testing

@testable import Transport

@Suite struct CertificateTests {
    private func run(_ command: String) -> Int32 { system(command + " >/dev/null 2>&1") }
    private let day: Int64 = 86_400_000

    @Test("openssl accepts the own authority and its certificate for each name and no other")
    func openSSL() throws {
        let scratch = try Scratch()
        let authority = try scratch.authority(names: ["fcm.googleapis.com", "localhost", "127.0.0.1", "::1"])
        let verify = "openssl verify -x509_strict -purpose sslserver -CAfile \(authority.authorityFile)"
        #expect(run("\(verify) -verify_hostname fcm.googleapis.com \(authority.certificateFile)") == 0)
        #expect(run("\(verify) -verify_ip 127.0.0.1 \(authority.certificateFile)") == 0)
        #expect(run("\(verify) -verify_ip ::1 \(authority.certificateFile)") == 0)
        #expect(run("\(verify) -verify_hostname example.org \(authority.certificateFile)") != 0)
        #expect(run("openssl verify \(authority.certificateFile)") != 0)
    }

    @Test("keys are readable by their owner only, certificates by everyone")
    func modes() throws {
        let scratch = try Scratch()
        _ = try scratch.authority()
        for (name, mode) in [
            ("ca.key", 0o600), ("server.key", 0o600), ("ca.pem", 0o644), ("server.pem", 0o644),
        ] {
            var status = stat()
            #expect(stat("\(scratch.path)/\(name)", &status) == 0)
            #expect(status.st_mode & 0o777 == mode)
        }
    }

    @Test("the authority is kept and the certificate replaced when it is needed, and neither otherwise")
    func renewal() throws {
        let scratch = try Scratch()
        let now = Now.read().wall
        let authority = try scratch.authority(names: ["a.example", "127.0.0.1"], now: now)
        let root = try SmallFile.read(authority.authorityFile)
        let first = try SmallFile.read(authority.certificateFile)
        #expect(try authority.ensure(names: ["127.0.0.1", "A.example"], now: now + 300 * day) == false)
        #expect(try SmallFile.read(authority.certificateFile) == first)
        #expect(try authority.ensure(names: ["a.example", "127.0.0.1"], now: now + 368 * day))
        #expect(try SmallFile.read(authority.certificateFile) != first)
        let renewed = try SmallFile.read(authority.certificateFile)
        #expect(try authority.ensure(names: ["a.example", "b.example"], now: now))
        #expect(try SmallFile.read(authority.certificateFile) != renewed)
        // A pair that does not match, as after a crash between two writes.
        try SmallFile.replace(authority.keyFile, with: Array("damaged".utf8), mode: 0o600)
        #expect(try authority.ensure(names: ["a.example", "b.example"], now: now))
        #expect(try SmallFile.read(authority.authorityFile) == root)
    }

    @Test(
        "a name is refused when a certificate cannot contain it",
        arguments: ["", "a,b", "a b", "x\u{0}y", "DNS:x,IP:1.2.3.4"])
    func badNames(name: String) throws {
        let scratch = try Scratch()
        #expect(throws: TransportError.self) { try scratch.authority(names: [name]) }
    }

    @Test("a certificate is used with a warning when it is about to expire or has expired")
    func warnings() throws {
        let scratch = try Scratch()
        let now = Now.read().wall
        let authority = try scratch.authority(now: now)
        func warnings(_ later: Int64) throws -> [String] {
            try TLSIdentity(
                certificateFile: authority.certificateFile, keyFile: authority.keyFile, now: now + later
            ).warnings
        }
        #expect(try warnings(0).isEmpty)
        #expect(try warnings(390 * day) == ["the certificate expires in 6 days"])
        #expect(try warnings(400 * day).first?.contains("has expired") == true)
        #expect(try warnings(-2 * day) == ["the certificate is not valid yet"])
    }

    @Test("new handshakes use a new certificate when it was replaced, and open connections continue")
    func swap() throws {
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let before = Recorder()
        let old = try loop.connect(before)
        #expect(!loop.certificate.hasChanged)
        // Another authority in place of the first: only a client that trusts it can connect afterwards.
        for name in ["ca.pem", "ca.key"] { unlink("\(loop.scratch.path)/\(name)") }
        #expect(try loop.authority.ensure(names: ["localhost", "127.0.0.1"], now: Now.read().wall))
        #expect(loop.certificate.hasChanged)
        try loop.reload()
        #expect(!loop.certificate.hasChanged)
        let distrusting = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: distrusting)
        #expect(loop.reactor.turns { !distrusting.closed.isEmpty })
        #expect(distrusting.closed == [.handshakeFailed])
        #expect(distrusting.failures.first?.contains("certificate verify failed") == true)
        loop.client = try TLSClientSettings(trust: .file(loop.authority.authorityFile))
        _ = try loop.connect(Recorder())
        old.send("still here")
        #expect(loop.reactor.turns { before.received == Array("still here".utf8) })
    }

    @Test(
        "the old certificate stays in use when the new files are invalid",
        arguments: ["server.pem", "server.key"])
    func keepsOld(name: String) throws {
        let loop = try Loopback()
        try SmallFile.replace("\(loop.scratch.path)/\(name)", with: Array("not PEM".utf8), mode: 0o600)
        #expect(loop.certificate.hasChanged)
        let error = try #require(throws: TransportError.self) { try loop.reload() }
        #expect(
            !error.detail.isEmpty && error.description.contains("\(loop.scratch.path)/\(name)"), "\(error)")
        _ = try loop.connect(Recorder())
    }

    @Test("a key is refused when it belongs to another certificate")
    func wrongKey() throws {
        let (one, other) = (try Scratch(), try Scratch())
        let (first, second) = (try one.authority(), try other.authority())
        let error = #expect(throws: TransportError.self) {
            try TLSIdentity(
                certificateFile: first.certificateFile, keyFile: second.keyFile, now: Now.read().wall)
        }
        #expect(error?.description.contains("key in \(second.keyFile)") == true)
        #expect(error?.description.contains(first.certificateFile) == true)
    }

    @Test("a verifying client refuses a certificate when the name differs")
    func wrongName() throws {
        let loop = try Loopback()
        let owner = Recorder()
        _ = try loop.reactor.connect(
            to: loop.address, tls: loop.client, serverName: "example.org", delegate: owner)
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(owner.closed == [.handshakeFailed])
        #expect(owner.failures.first?.lowercased().contains("hostname") == true)
        _ = try loop.connect(Recorder(), serverName: "localhost")
    }

    @Test("an application protocol is selected when it is known, and ignored otherwise")
    func applicationProtocol() throws {
        var settings = TLSServerSettings()
        settings.applicationProtocols = ["h2", "http/1.1"]
        let loop = try Loopback(settings: settings)
        let trust = TLSClientSettings.Trust.file(loop.authority.authorityFile)
        for (offer, agreed) in [(["xmpp-client"], nil), (["http/1.1", "h2"], "h2"), ([], nil)]
            as [([String], String?)]
        {
            loop.client = try TLSClientSettings(trust: trust, applicationProtocols: offer)
            let connection = try loop.connect(Recorder())
            #expect(connection.applicationProtocol == agreed)
            #expect(loop.server.connections.last?.applicationProtocol == agreed)
        }
    }

    @Test("a client can resume until the certificate is replaced", arguments: ["-tls1_2", "-tls1_3"])
    func resumption(version: String) throws {
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let ticket = "\(loop.scratch.path)/other.pem"
        let command = "openssl s_client -connect 127.0.0.1:\(loop.address.port) \(version) -no_ign_eof"
        func dial(_ options: String) throws -> Bool? {
            let process = try spawn("(echo hi; sleep 0.2) | \(command) \(options)")
            var status: Int32 = 0
            #expect(loop.reactor.turns { waitpid(process, &status, WNOHANG) == process })
            return loop.server.connections.last?.tlsIsResumed
        }
        // The ticket of TLS 1.3 follows the handshake: a client on a busy machine may have closed before it arrives.
        for _ in 0..<20 where SmallFile.stamp(ticket) == nil {
            #expect(try dial("-sess_out \(ticket)") == false)
        }
        #expect(try dial("-sess_in \(ticket)") == true)
        try loop.reload()
        #expect(try dial("-sess_in \(ticket)") == false)
    }

    @Test(
        "an outbound connection resumes when its settings allow it, and not otherwise",
        arguments: [false, true])
    func ownResumption(resumes: Bool) throws {
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        loop.client = try TLSClientSettings(
            trust: .file(loop.authority.authorityFile), resumes: resumes)
        for isFirst in [true, false, false] {
            let owner = Recorder()
            let connection = try loop.connect(owner)
            #expect(connection.tlsIsResumed == (resumes && !isFirst))
            #expect(loop.server.connections.last?.tlsIsResumed == connection.tlsIsResumed)
            // The ticket comes before the first bytes of the server.
            connection.send(Array("hi".utf8))
            #expect(loop.reactor.turns { owner.chunks.joined().count == 2 })
            // A session outlives a connection that is broken off.
            connection.abort(.peerReset)
            #expect(loop.reactor.turns { !owner.closed.isEmpty })
        }
    }

    @Test("other TLS clients connect with 1.2 and 1.3, and are refused with older versions")
    func versions() throws {
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let command =
            "openssl s_client -connect 127.0.0.1:\(loop.address.port) -CAfile \(loop.authority.authorityFile)"
        for (version, succeeds) in [("-tls1_2", true), ("-tls1_3", true), ("-tls1_1", false)] {
            let opened = loop.server.opened
            var pipe = [Int32](repeating: 0, count: 2)
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pipe) == 0)
            let process = try spawn(
                "echo hello | \(command) -verify_return_error -brief -no_ign_eof \(version)")
            var status: Int32 = 0
            #expect(loop.reactor.turns { waitpid(process, &status, WNOHANG) == process })
            pipe.forEach { close($0) }
            #expect((loop.server.opened > opened) == succeeds, "\(version)")
        }
        #expect(loop.server.connections.map { $0.tlsVersion } == ["TLSv1.2", "TLSv1.3"])
        #expect(loop.server.connections.first?.tlsCipher?.hasPrefix("ECDHE") == true)
    }
}

/// Starts a shell command and drops its output.
func spawn(_ command: String) throws -> pid_t {
    var process: pid_t = 0
    let words = ["sh", "-c", "exec >/dev/null 2>&1; \(command)"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    #expect(posix_spawn(&process, "/bin/sh", nil, nil, arguments, environ) == 0)
    return process
}

@Suite struct ClusterAuthorityTests {
    private func run(_ command: String) -> Int32 { system(command + " >/dev/null 2>&1") }

    @Test("openssl accepts the certificate of a node as server and as client, for its name and no other")
    func openSSL() throws {
        let scratch = try Scratch()
        let authority = try ClusterAuthority(of: ClusterID(0xc105), now: Now.read().wall)
        let node = try authority.makeNode(named: "node-1.test.ccsd", now: Now.read().wall)
        let (root, leaf) = ("\(scratch.path)/ca.pem", "\(scratch.path)/server.pem")
        try SmallFile.replace(root, with: authority.pair().chain, mode: 0o644)
        try SmallFile.replace(leaf, with: node.chain, mode: 0o644)
        for purpose in ["sslserver", "sslclient"] {
            let verify = "openssl verify -x509_strict -purpose \(purpose) -CAfile \(root)"
            #expect(run("\(verify) -verify_hostname node-1.test.ccsd \(leaf)") == 0)
            #expect(run("\(verify) -verify_hostname node-2.test.ccsd \(leaf)") != 0)
        }
        #expect(run("openssl verify \(leaf)") != 0)
    }

    @Test("an authority is read with its key, and with no other")
    func reading() throws {
        let now = Now.read().wall
        let pair = try ClusterAuthority(of: ClusterID(1), now: now).pair()
        let read = try ClusterAuthority(certificate: pair.chain, key: pair.key)
        #expect(try read.pair().chain == pair.chain)
        let node = try read.makeNode(named: "a", now: now)
        _ = try TLSIdentity(chain: node.chain, key: node.key.revealed, now: now)
        #expect(throws: TransportError.self) {
            try ClusterAuthority(certificate: pair.chain, key: node.key)
        }
    }
}

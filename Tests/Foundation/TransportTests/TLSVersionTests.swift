import Basics
import COpenSSL
import Testing

@testable import Transport

/// Real handshakes of clients with one version of TLS (ccs-xmpp 1.2).
@Suite struct TLSVersionTests {
    /// Returns the negotiated version of a listener and a client that supports only this one, or `nil` if they fail.
    private func agreed(_ version: TLSVersion, minimum: TLSVersion) throws -> String? {
        var settings = TLSServerSettings()
        settings.minimum = minimum
        let loop = try Loopback(settings: settings)
        let client = try #require(loop.client)
        // The client accepts everything that OpenSSL allows, so a refusal is the listener's.
        SSL_CTX_ctrl(client.raw, SSL_CTRL_SET_MIN_PROTO_VERSION, version.number, nil)
        SSL_CTX_ctrl(client.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, version.number, nil)
        #expect(SSL_CTX_set_cipher_list(client.raw, "ALL:@SECLEVEL=0") == 1)
        loop.server.onBytes = { $0.send($1) }
        let owner = Recorder()
        let connection = try loop.reactor.connect(to: loop.address, tls: client, delegate: owner)
        owner.onOpen = { $0.send("hello") }
        #expect(loop.reactor.turns { !owner.closed.isEmpty || owner.received.count == 5 })
        if owner.received.isEmpty {
            #expect(owner.closed == [.handshakeFailed])
            return nil
        }
        #expect(owner.received == Array("hello".utf8))
        return connection.tlsVersion
    }

    @Test("a listener refuses versions before 1.2 by default")
    func preset() throws {
        #expect(TLSServerSettings().minimum == .tls12)
        let found = try TLSVersion.allCases.map { try agreed($0, minimum: .tls12) }
        #expect(found == [nil, nil, "TLSv1.2", "TLSv1.3"])
    }

    @Test("a listener accepts old clients when the minimum is lowered, and new ones as before")
    func switched() throws {
        let agreed10 = try TLSVersion.allCases.map { try agreed($0, minimum: .tls10) }
        #expect(agreed10 == ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"])
        let agreed11 = try TLSVersion.allCases.map { try agreed($0, minimum: .tls11) }
        #expect(agreed11 == [nil, "TLSv1.1", "TLSv1.2", "TLSv1.3"])
        let agreed13 = try TLSVersion.allCases.map { try agreed($0, minimum: .tls13) }
        #expect(agreed13 == [nil, nil, nil, "TLSv1.3"])
    }

    @Test("a client of all versions gets the newest and its best cipher when the minimum is lowered")
    func newest() throws {
        var settings = TLSServerSettings()
        settings.minimum = .tls10
        let loop = try Loopback(settings: settings)
        let client = try #require(loop.client)
        let owner = Recorder()
        #expect(try loop.connect(owner).tlsVersion == "TLSv1.3")
        SSL_CTX_ctrl(client.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, TLSVersion.tls12.number, nil)
        #expect(SSL_CTX_set_cipher_list(client.raw, "kECDHE+AES") == 1)
        let second = try loop.connect(owner)
        #expect(second.tlsVersion == "TLSv1.2")
        #expect(second.tlsCipher?.contains("GCM") == true)
    }
}

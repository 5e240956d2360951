import Testing

@testable import APNsGateway

/// What the end of a TLS handshake means for the gateway and in the log.
@Suite("TLS handshakes with Apple") struct HandshakeVerdictTests {
    @Test(
        "HTTP/2 alone is accepted, and any other protocol is named", arguments: ["http/1.1", "h2c", "", nil])
    func protocols(agreed: String?) throws {
        #expect(HandshakeVerdict.problem(ofProtocol: "h2") == nil)
        let problem = try #require(HandshakeVerdict.problem(ofProtocol: agreed))
        #expect(problem.contains("agrees to \(agreed ?? "no protocol")") && problem.contains("ALPN"))
    }

    @Test(
        "the end of a handshake has its reason",
        arguments: [
            ("tlsv1 alert no application protocol", true, true, APNsOpenFailure.notHTTP2),
            ("tlsv1 alert unknown ca", true, true, .credentialRefused),
            ("tlsv1 alert unknown ca", true, false, .untrusted),
            ("certificate verify failed: unable to get local issuer certificate", true, true, .untrusted),
            ("connection refused", false, true, .unreachable),
        ])
    func failures(words: String, inHandshake: Bool, hasCertificate: Bool, failure: APNsOpenFailure) {
        #expect(
            HandshakeVerdict.failure(words, inHandshake: inHandshake, hasCertificate: hasCertificate)
                == failure)
        #expect(HandshakeVerdict.words(words).contains(words))
        #expect(HandshakeVerdict.words(words).contains("ALPN") == (failure == .notHTTP2))
    }
}

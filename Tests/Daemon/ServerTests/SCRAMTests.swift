import Basics
import Delivery
import Testing
import Wire

@testable import Server

/// SCRAM-SHA-256 with OpenSSL's functions, tested with the exchange in RFC 7677, 3.
@Suite struct SCRAMTests {
    private static let salt = Base64.bytes(Array("W22ZaJ0SNY7soEsUEjb6gQ==".utf8).raw) ?? []
    private static let verifier = SCRAMVerifier("pencil", salt: salt, iterations: 4_096)
    private static let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"

    private func conversation(proof: String) throws -> (isAccepted: Bool, answer: String) {
        let first = try SCRAM.ClientFirst(Base64.text(Array("n,,n=user,r=rOprNGfwEbeRWgbNEkqO".utf8)))
        #expect(first.binding == .unsupported && first.user == "user" && first.authzid.isEmpty)
        let challenge = SCRAM.serverFirst(nonce: Array(Self.nonce.utf8), salt: Self.salt, iterations: 4_096)
        #expect(
            String(decoding: challenge, as: UTF8.self) == "r=\(Self.nonce),s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
        let final = try SCRAM.ClientFinal(
            Base64.text(Array("c=biws,r=\(Self.nonce),p=\(proof)".utf8)))
        #expect(final.bound == first.header && final.nonce == Array(Self.nonce.utf8))
        let message = SCRAM.authMessage(first: first, serverFirst: challenge, final: final)
        let answer = SCRAM.serverFinal(
            signature: SCRAM.Functions.host.authenticate(Self.verifier.serverKey, message))
        return (
            SCRAM.Functions.host.accepts(
                proof: final.proof, storedKey: Self.verifier.storedKey, authMessage: message),
            String(decoding: answer, as: UTF8.self)
        )
    }

    @Test("the exchange of RFC 7677 is reproduced byte for byte")
    func vector() throws {
        let (isAccepted, answer) = try conversation(proof: "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
        #expect(isAccepted)
        #expect(answer == "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    }

    @Test(
        "canary: a proof with a wrong bit or a wrong length is refused",
        arguments: [
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVU=", "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7Andg==",
            "",
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQA",
        ])
    func wrongProof(proof: String) throws {
        #expect(try !conversation(proof: proof).isAccepted)
    }

    @Test("escapes in names are decoded, and any other = is refused")
    func names() throws {
        func first(_ text: String) throws -> SCRAM.ClientFirst {
            try SCRAM.ClientFirst(Base64.text(Array(text.utf8)))
        }
        let message = try first("p=tls-exporter,a=x=2C=3Dy,n=a=3D=2Cb,r=n,x=ignored")
        #expect(message.binding == .type("tls-exporter"))
        #expect(message.authzid == "x,=y" && message.user == "a=,b")
        #expect(message.header == Array("p=tls-exporter,a=x=2C=3Dy,".utf8))
        #expect(message.bare == Array("n=a=3D=2Cb,r=n,x=ignored".utf8))
        let bad = [
            "", "n", "n,", "n,,", "n,,n=a", "n,,r=a,n=b", "n,,n=,r=b", "n,,n=a,r=", "n,,n=a=,r=b",
            "n,,n=a=2c,r=b",
            "n,,n=a=,2C,r=b", "n,,m=1,n=a,r=b", "x,,n=a,r=b", "n,x,n=a,r=b", "p,,n=a,r=b", "n,,n=a\0,r=b",
            "n,,n=a,r=b b", "n,,n=a,r=ä", "n,,n=" + String(repeating: "a", count: 256) + ",r=b",
            "n,,n=a,r=" + String(repeating: "b", count: 256),
        ]
        for text in bad {
            #expect(throws: SASL.Condition.malformedRequest, "\(text)") { try first(text) }
        }
        #expect(throws: SASL.Condition.incorrectEncoding) { try SCRAM.ClientFirst("!") }
    }

    @Test("a final message has its channel binding first and its proof last")
    func finals() throws {
        func final(_ text: String) throws -> SCRAM.ClientFinal {
            try SCRAM.ClientFinal(Base64.text(Array(text.utf8)))
        }
        #expect(try final("c=biws,r=n,x=1,p=AAAA").withoutProof == Array("c=biws,r=n,x=1".utf8))
        for text in [
            "", "c=biws,r=n", "r=n,c=biws,p=AAAA", "c=!,r=n,p=AAAA", "c=biws,r=n,p=A", "c=biws,p=AAAA",
        ] {
            #expect(throws: SASL.Condition.malformedRequest, "\(text)") { try final(text) }
        }
    }
}

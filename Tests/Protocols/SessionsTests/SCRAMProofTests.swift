import Basics
import Delivery
import Synchronization
import Testing
import Wire

@testable import Sessions

@Suite("proofs of SCRAM")
struct SCRAMProofTests {
    private final class Count: Sendable {
        let calls = Mutex(0)
    }

    private func key(_ byte: UInt8) -> ServerKey {
        let verifier = SCRAMVerifier(
            storedKey: [UInt8](repeating: byte, count: 32), serverKey: [], salt: [1], iterations: 4_096)
        return ServerKey(
            digest: SecretDigest(bytes: [byte]), createdAt: 0, expiresAt: nil, scram: verifier)
    }

    /// How often a text is authenticated for a login with a wrong one, and whether it proves a key.
    private func compared(_ keys: [ServerKey], nonce: String = "ab") throws -> (Int, Bool) {
        let count = Count()
        let functions = SCRAM.Functions(
            hash: { $0 },
            authenticate: { _, _ in
                count.calls.withLock { $0 += 1 }
                return [UInt8](repeating: 0, count: 32)
            })
        let exchange = AppServerSCRAM(binding: nil)
        exchange.first = try SCRAM.ClientFirst(Base64.text(Array("n,,n=1,r=a".utf8)))
        exchange.nonce = Array("ab".utf8)
        exchange.keys = keys
        let proof = Base64.text([UInt8](repeating: 9, count: 32))
        let text = "c=\(Base64.text(Array("n,,".utf8))),r=\(nonce),p=\(proof)"
        let final = try SCRAM.ClientFinal(Base64.text(Array(text.utf8)))
        let isProven = exchange.provenKey(final, functions) != nil
        return (count.calls.withLock { $0 }, isProven)
    }

    @Test("an unknown sender takes as long as a wrong proof, and every key is tried")
    func constantTime() throws {
        #expect(try compared([]) == (1, false))
        #expect(try compared([key(1)]) == (1, false))
        #expect(try compared([key(9), key(1), key(2)]) == (4, true), "three keys and the answer")
        #expect(try compared([key(9)], nonce: "ac") == (0, false), "the nonce is another one")
    }
}

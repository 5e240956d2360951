import Basics
import Crypto
import Testing

@Suite("Ed25519") struct Ed25519Tests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            (Hex.value(of: digits[$0]) ?? 0) << 4 | (Hex.value(of: digits[$0 + 1]) ?? 0)
        }
    }

    @Test("public keys and signatures are those of RFC 8032, 7.1")
    func vectors() throws {
        let vectors = [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                    + "d25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                    + "387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ]
        for (seed, publicKey, message, signature) in vectors {
            let key = try #require(Ed25519Key(seed: bytes(seed)))
            #expect(key.publicKey == bytes(publicKey))
            #expect(key.signature(of: bytes(message)) == bytes(signature))
            #expect(!"\(key)".contains("157, 97"))
        }
    }

    @Test("a seed of another length is refused", arguments: [0, 31, 33, 64])
    func lengths(count: Int) {
        #expect(Ed25519Key(seed: [UInt8](repeating: 1, count: count)) == nil)
    }
}

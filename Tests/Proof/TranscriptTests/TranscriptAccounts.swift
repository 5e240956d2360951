import Basics
import Delivery
import Wire

@testable import Sessions

/// The service account of the transcripts of HTTP v1, and its credentials.
enum TranscriptAccounts {
    private static let account = ServiceAccount(
        email: "app@lab-project.iam.gserviceaccount.com", keyID: "0a1b2c", publicKey: [1, 2, 3], createdAt: 0)
    private static let sender = SenderID(1_234_567_890)
    private static let directory = SenderDirectory([
        SenderRecord(
            sender: sender, label: "", keys: [], createdAt: 0, project: "lab-project", accounts: [account])
    ])

    /// A signature is the key and the text: the transcripts only check that it is verified.
    static let functions = AccountFunctions(
        account: { directory.account(withKeyID: $0) }, record: { directory[$0] },
        verifies: { signature, text, key in signature == key + text })

    private static func token(lives: UnixMilliseconds, at start: UnixMilliseconds) -> String {
        let seal = AppServerDialect.seal
        let token = AccessToken(
            sender: sender, account: seal.mark(ofKeyID: account.keyID), expiresAt: start + lives)
        return String(decoding: seal.text(of: token), as: UTF8.self)
    }

    private static func assertion(_ key: [UInt8], at start: UnixMilliseconds) -> String {
        let second = start / 1_000
        let header: JSONValue = ["typ": "JWT", "alg": "RS256", "kid": .string(account.keyID)]
        let claims: JSONValue = [
            "iss": .string(account.email), "aud": "https://oauth2.googleapis.com/token",
            "iat": .integer(Int(second)), "exp": .integer(Int(second) + 3_600),
            "scope": "https://www.googleapis.com/auth/cloud-platform",
        ]
        let text = [header, claims].map {
            Base64.text(Array($0.compact.utf8), urlSafe: true, padded: false)
        }.joined(separator: ".")
        return text + "." + Base64.text(key + Array(text.utf8), urlSafe: true, padded: false)
    }

    /// `BEARER` is a token granted at the start of a transcript, `BEARER_EXPIRED` an expired one.
    static func values(at start: UnixMilliseconds) -> [String: String] {
        [
            "ASSERTION": assertion(account.publicKey, at: start), "FORGED": assertion([9, 9, 9], at: start),
            "BEARER": token(lives: 3_600_000, at: start), "BEARER_EXPIRED": token(lives: 0, at: start),
        ]
    }
}

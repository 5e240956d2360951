import Basics
import Crypto
import Testing

@testable import Client
@testable import ClientProtocol

/// Headers with more parameters than a web app needs.
@Suite struct WebAppHeaderTests {
    @Test("Parameters may be separated by commas, and an unknown coding counts as aesgcm")
    func commas() throws {
        let app = try #require(WebApp(subtype: "wp:test"))
        let sealed = try #require(
            WebPush.seal(Array("hello".utf8), publicKey: app.publicKey, auth: app.auth) { count in
                (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) }
            })
        let key = Base64.text(sealed.publicKey, urlSafe: true)
        let salt = Base64.text(sealed.salt, urlSafe: true)
        let pairs = [
            ("content-encoding", "aesgcm"), ("crypto-key", "p256ecdsa=AAAA,dh=\(key)"),
            ("encryption", "keyid=1,salt=\(salt)"),
        ]
        var message = DeviceMessage(
            persistentID: [], from: [], category: [], collapseKey: [], sentAt: 0,
            pairs: pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) })
        message.rawData = sealed.records
        #expect(message.isEncrypted)
        #expect(app.open(message) == Array("hello".utf8))
    }
}

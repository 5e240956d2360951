import Basics
import Crypto
import CryptoSupport
import Testing
import Wire

@testable import Client
@testable import ClientProtocol

/// Decryption of messages by a web app on a device.
@Suite struct WebAppTests {
    let app: WebApp

    init() throws { app = try #require(WebApp(subtype: "wp:test")) }

    private func message(_ pairs: [(String, String)], raw: [UInt8]) -> DeviceMessage {
        var message = DeviceMessage(
            persistentID: [], from: [], category: [], collapseKey: [], sentAt: 0,
            pairs: pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) })
        message.rawData = raw
        return message
    }

    private func random(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) } }

    private func aesgcm(_ text: String, before: String = "", after: String = "") throws -> DeviceMessage {
        let sealed = try #require(
            WebPush.seal(Array(text.utf8), publicKey: app.publicKey, auth: app.auth, random: random))
        let key = Base64.text(sealed.publicKey, urlSafe: true)
        let salt = Base64.text(sealed.salt, urlSafe: true)
        return message(
            [
                ("crypto-key", "\(before)dh=\(key)\(after)"), ("encryption", "salt=\(salt)"),
                ("subtype", "wp:test"),
            ], raw: sealed.records)
    }

    @Test("both encodings are decrypted, also with additional header parameters")
    func reads() throws {
        #expect(app.open(try aesgcm("hello")) == Array("hello".utf8))
        #expect(
            app.open(try aesgcm("hello", before: "p256ecdsa=AAAA; ", after: ";x=1")) == Array("hello".utf8))
        let body = try #require(
            WebPush.sealBody(
                Array("hello".utf8), publicKey: app.publicKey, auth: app.auth, random: random))
        let other = message([("content-encoding", "aes128gcm")], raw: body)
        #expect(app.open(other) == Array("hello".utf8))
        #expect(other.isEncrypted)
    }

    @Test("an app restored from its keys equals the new one")
    func known() throws {
        let known = try #require(
            WebApp(subtype: app.subtype, privateKey: app.privateKey, auth: app.auth))
        #expect(known.publicKey == app.publicKey)
        #expect(known.open(try aesgcm("hello")) == Array("hello".utf8))
        #expect(WebApp(subtype: "", privateKey: [1], auth: app.auth) == nil)
        #expect(WebApp(subtype: "", privateKey: app.privateKey, auth: []) == nil)
    }

    /// Canary: an app that decrypts messages for others would pass all other tests.
    @Test("a message for another app, a changed one and an incomplete one are refused")
    func others() throws {
        let other = try #require(WebApp(subtype: "wp:test"))
        var sealed = try aesgcm("hello")
        #expect(other.open(sealed) == nil)
        sealed.rawData[0] ^= 1
        #expect(app.open(sealed) == nil)
        sealed = try aesgcm("hello")
        sealed.pairs.removeFirst()
        #expect(app.open(sealed) == nil)
        #expect(app.open(message([("crypto-key", "dh="), ("encryption", "salt=")], raw: [1])) == nil)
        #expect(!message([("k", "v")], raw: []).isEncrypted)
    }

    @Test("the call for a token with server-side encryption has sender, endpoint and keys")
    func subscribes() throws {
        let call = DeviceCalls.subscribe(
            publicKey: app.publicKey, auth: app.auth, endpoint: "https://a/fcm/send/t:1", sender: "123")
        let form = try FormBody(call.body.raw)
        #expect(form["authorized_entity"] == Array("123".utf8))
        #expect(form["endpoint"] == Array("https://a/fcm/send/t:1".utf8))
        #expect(form["encryption_key"].flatMap { Base64.bytes($0.raw) } == app.publicKey)
        #expect(form["encryption_auth"].flatMap { Base64.bytes($0.raw) } == app.auth)
    }
}

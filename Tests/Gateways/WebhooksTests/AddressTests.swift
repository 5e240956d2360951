import Basics
import Testing

@testable import Webhooks

@Suite("addresses of webhooks")
struct AddressTests {
    @Test(
        "addresses within a network are classed",
        arguments: [
            ("127.0.0.1", AddressClass.loopback), ("127.255.0.1", .loopback), ("::1", .loopback),
            ("::ffff:127.0.0.1", .loopback), ("64:ff9b::7f00:1", .loopback), ("10.0.0.1", .privateNetwork),
            ("172.16.0.1", .privateNetwork), ("172.31.255.255", .privateNetwork),
            ("192.168.1.1", .privateNetwork), ("100.64.0.1", .privateNetwork), ("fd00::1", .privateNetwork),
            ("fc00::1", .privateNetwork), ("fec0::1", .privateNetwork), ("::ffff:10.1.2.3", .privateNetwork),
            ("169.254.169.254", .linkLocal), ("fe80::1", .linkLocal), ("224.0.0.1", .multicast),
            ("239.255.255.255", .multicast), ("ff02::1", .multicast), ("0.0.0.0", .reserved),
            ("240.0.0.1", .reserved), ("255.255.255.255", .reserved), ("192.0.2.1", .reserved),
            ("198.18.0.1", .reserved), ("198.51.100.1", .reserved), ("203.0.113.1", .reserved),
            ("192.0.0.1", .reserved), ("192.88.99.1", .reserved), ("::", .reserved), ("::5", .reserved),
            ("2001:db8::1", .reserved), ("2002:7f00:1::", .reserved), ("2001::1", .reserved),
            ("3fff::1", .reserved), ("4000::1", .reserved),
        ])
    func classes(text: String, kind: AddressClass) throws {
        let address = try #require(AddressClass.ipv4(text[...]) ?? AddressClass.ipv6(text[...]))
        #expect(AddressClass(address) == kind)
    }

    @Test(
        "public addresses are not",
        arguments: [
            "8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1",
            "169.253.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
            "64:ff9b::808:808", "::ffff:8.8.8.8", "2001:200::1", "2001:4860:4860::8888",
        ])
    func reachable(text: String) throws {
        let address = try #require(AddressClass.ipv4(text[...]) ?? AddressClass.ipv6(text[...]))
        #expect(AddressClass(address) == nil)
    }

    @Test("an address of another length is refused")
    func others() { #expect(AddressClass([]) == .reserved && AddressClass([1, 2]) == .reserved) }

    @Test(
        "good URLs pass",
        arguments: [
            "https://a.example/", "https://a.example", "HTTPS://a.example:8443/x?y=1", "https://8.8.8.8/",
            "https://[2606:4700::1111]:443/", "https://a-b_c.example./%C3%BC",
        ])
    func good(url: String) { #expect(WebhookURL.problem(url, WebhookReach()) == nil) }

    @Test(
        "bad URLs are explained",
        arguments: [
            ("http://a.example/", "expected https://"), ("http://x/", "expected https://"),
            ("https://a", "bytes"),
            ("ftp://a.example/", "https://"),
            ("https://u:p@a.example/", "user name"), ("https://a.example/#x", "fragment"),
            ("https://a.example/ü", "ASCII"), ("https://a.example/ x", "ASCII"),
            ("https:///path", "host"), ("https://a..example/", "host"), ("https://a.example:0/", "host"),
            ("https://a.example:65536/", "host"), ("https://a.example:+1/", "host"),
            ("https://[::1/", "host"), ("https://[zz]/x", "host"), ("https://127.1/xx", "host"),
            ("https://2130706433/", "host"), ("https://127.0.0.1/", "loopback"),
            ("https://localhost/", "loopback"), ("https://[::ffff:10.0.0.1]/", "private"),
            ("https://169.254.169.254/latest", "link-local"), ("https://a.example/\\x", "ASCII"),
            ("https://" + String(repeating: "a", count: 2_100), "bytes"),
        ])
    func bad(url: String, words: String) {
        let problem = WebhookURL.problem(url, WebhookReach())
        #expect(problem?.contains(words) == true, "\(problem ?? "accepted")")
    }

    @Test("private addresses pass where they are allowed")
    func allowed() {
        #expect(WebhookURL.problem("https://127.0.0.1:8443/", WebhookReach(allowsPrivate: true)) == nil)
        #expect(WebhookURL.problem("https://localhost/", WebhookReach(allowsPrivate: true)) == nil)
    }

    @Test("http:// passes on loopback only, and only where it is allowed")
    func plain() {
        let tests = WebhookReach(allowsPlainLoopback: true)
        for url in [
            "http://127.0.0.1:8080/x", "http://localhost/", "HTTP://[::1]:80/hook", "http://127.9.9.9/",
        ] {
            #expect(WebhookURL.problem(url, tests) == nil, "\(url)")
            #expect(WebhookURL.problem(url, WebhookReach(allowsPrivate: true)) != nil, "\(url)")
        }
        for url in [
            "http://a.example/", "http://10.0.0.1/x", "http://8.8.8.8/x", "http://localhost.example/",
        ] {
            #expect(WebhookURL.problem(url, tests)?.contains("only for loopback") == true, "\(url)")
        }
        #expect(WebhookURL.problem("https://127.0.0.1/", tests) != nil, "canary: the rest is as before")
        #expect(tests.allows(.loopback, isPlain: true) && !tests.allows(.privateNetwork, isPlain: true))
        #expect(!tests.allows(nil, isPlain: true) && tests.allows(nil, isPlain: false))
        #expect(!WebhookReach(allowsPrivate: true).allows(.loopback, isPlain: true))
    }

    @Test(
        "malformed addresses are none",
        arguments: [
            "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.+4", "::1::", "1:2:3:4:5:6:7", "12345::",
            "1:2:3:4:5:6:7:8:9", "::1.2.3", "+1::", "1:2:3:4:5:6:7::8",
        ])
    func malformed(text: String) {
        #expect(AddressClass.ipv4(text[...]) == nil && AddressClass.ipv6(text[...]) == nil)
    }
}

import Basics
import Testing

@testable import Delivery

@Suite struct CompletionTests {
    private static func bench(_ change: (inout Registration) -> Void = { _ in }) -> Harness {
        let bench = Harness.withDevice()
        if var registration = bench.store.registrations[Harness.target] {
            change(&registration)
            bench.store.registrations[Harness.target] = registration
        }
        return bench
    }

    @Test(
        "A notification without a key collapses under its app's package name, also with a message that has that key"
    )
    func appCollapseKey() {
        let bench = Self.bench()
        bench.submit(1, key: "")
        bench.submit(2, key: "")
        bench.submit(3, key: "app")
        bench.submit(4, key: "other")
        bench.settle()
        bench.login()
        bench.settle()
        var keys: [[UInt8]?] = []
        for (_, command) in bench.commands {
            if case .device(.deliver(let delivery)) = command { keys.append(delivery.message.collapseKey) }
        }
        #expect(keys == [bytes("app"), bytes("other")])
    }

    @Test("The apns object is stored for an app behind APNs, and for no other")
    func apple() throws {
        var submission = Harness.submission(1)
        submission.content.apns = bytes("{}")
        for (token, kept) in [("", nil), ("p_00", bytes("{}"))] as [(String, [UInt8]?)] {
            let bench = Self.bench { $0.apnsToken = bytes(token) }
            bench.post(.submitted(submission))
            bench.settle()
            bench.pass(milliseconds: Limits.APNs.verdictMilliseconds)
            #expect(bench.take(appServer).words == ["ack 1"])
            let stored = try #require(bench.store.messages[device]?.first)
            #expect(stored.apns == kept && stored.body == submission.content.body)
        }
    }

    @Test("A notification is for APNs, and data alone only where the operator wants background pushes")
    func appleRoute() throws {
        let registration = Self.bench { $0.apnsToken = bytes("p_00") }.store.registrations[Harness.target]
        let target = try #require(registration)
        func apns(isNotification: Bool, _ given: String?, _ route: AppleDataRoute) throws -> [UInt8]? {
            var content = Harness.submission(1).content
            content.isNotification = isNotification
            content.apns = given.map { bytes($0) }
            content.apnsLifetimeSeconds = 7
            try target.complete(&content, appleData: route)
            #expect(content.lifetimeSeconds == 7)
            return content.apns
        }
        #expect(try apns(isNotification: true, nil, .store) == [])
        #expect(try apns(isNotification: true, nil, .silent) == [])
        #expect(try apns(isNotification: false, nil, .store) == nil)
        #expect(try apns(isNotification: false, nil, .silent) == MessageContent.backgroundPush)
        #expect(try apns(isNotification: false, "{}", .silent) == bytes("{}"))
    }

    @Test("The channel of a registration follows from its APNs token and web keys")
    func channels() throws {
        var registration = Registration(
            name: Harness.target, category: [], subtype: [], senderText: [], sender: nil, createdAt: 0)
        #expect(registration.channel == .mcs && !registration.usesAPNs)
        registration.apnsToken = bytes("p_a1")
        #expect(registration.channel == .apns(token: bytes("a1"), .production) && registration.usesAPNs)
        registration.apnsToken = bytes("s_a1")
        #expect(registration.channel == .apns(token: bytes("a1"), .sandbox))
        let keys = try #require(
            WebKeys(
                publicKey: [4] + [UInt8](repeating: 1, count: 64), auth: [UInt8](repeating: 2, count: 16)))
        registration.web = keys
        #expect(registration.channel == .webPush(keys) && !registration.usesAPNs)
    }

    @Test("raw_data is refused by name when the channel cannot carry it, else stored unchanged")
    func rawData() {
        var submission = Harness.submission(1)
        submission.content.holdsRawData = true
        let plain = Self.bench()
        plain.post(.submitted(submission))
        plain.settle()
        #expect(plain.take(appServer).words == ["ack 1"])
        for bench in [
            Self.bench { $0.apnsToken = bytes("apple") },
            Self.bench {
                $0.web = WebKeys(
                    publicKey: [4] + [UInt8](repeating: 1, count: 64), auth: [UInt8](repeating: 2, count: 16))
            },
        ] {
            bench.post(.submitted(submission))
            bench.settle()
            let isNamed = bench.commands.contains { _, command in
                if case .submission(1, .refused(.conflict(field: "raw_data", _))) = command {
                    true
                } else {
                    false
                }
            }
            #expect(isNamed)
            #expect(bench.store.downPending == 0)
        }
    }
}

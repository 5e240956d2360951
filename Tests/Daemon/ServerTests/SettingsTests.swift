import Basics
import BasicsSupport
import Catalogue
import Delivery
import Sessions
import Store
import Testing
import Transport

@testable import Server

/// Each config key sets the intended setting and no other.
@Suite("Settings")
struct SettingsTests {
    private static let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))

    /// Senders with a store in memory, whose threads end with the test.
    private func withSenders(_ body: (Senders) throws -> Void) throws {
        let store = GatedStore()
        let thread = try StoreThreads(store: store, metrics: MetricShard(), log: .silent, report: { _ in })
        defer { thread.stop() }
        try body(
            Senders(store: store, batches: thread, mailboxes: [], directory: SenderDirectory([])))
    }

    private func sessions(
        _ senders: Senders, secret: [UInt8] = [1], _ change: (inout Configuration) -> Void
    ) -> SessionSettings {
        var configuration = Configuration()
        change(&configuration)
        return SessionSettings(configuration, seal: Self.seal, scramSecret: secret, senders: senders)
    }

    @Test(
        "the registry limit is at most its share of the disk, a lower one is used as configured, and 0 disables it"
    )
    func registry() throws {
        let size = try #require(DeviceSpace(of: "/tmp")).size
        func limit(_ bytes: Int, in folder: String = "/tmp") -> Int {
            var configuration = Configuration()
            configuration[.dataDirectory] = .text(folder)
            configuration[.registryBytes] = .integer(bytes)
            return configuration.registryLimit
        }
        #expect(limit(1_125_899_906_842_624) == size / Limits.Registry.shareOfDevice)
        #expect(limit(5_000) == 5_000)
        #expect(limit(0) == 0)
        #expect(limit(5_000, in: "/nowhere") == 5_000)
    }

    @Test("number keys set the numbers of sessions")
    func numbers() throws {
        try withSenders { senders in
            let settings = sessions(senders) { configuration in
                configuration[.pendingWindow] = .integer(11)
                configuration[.keepaliveSeconds] = .integer(12)
                configuration[.devicePingSeconds] = .integer(130)
                configuration[.deviceHeartbeatSeconds] = .integer(14)
                configuration[.loginDeadlineSeconds] = .integer(15)
                configuration[.topicPayloadBytes] = .integer(3_000)
            }
            #expect(settings.pendingWindow == 11 && settings.keepaliveSeconds == 12)
            #expect(settings.devicePingSeconds == 130 && settings.deviceHeartbeatSeconds == 14)
            #expect(settings.loginDeadlineSeconds == 15 && settings.rules.topicPayloadBytes == 3_000)
        }
    }

    @Test("each boolean key sets one setting of sessions")
    func switches() throws {
        let switches: [(ConfigKey, (SessionSettings) -> Bool)] = [
            (.strictAcks, { $0.strictAcks }), (.controlMessageID, { $0.controlMessageID }),
            (.lenientTimeToLive, { $0.rules.lenientLifetime }),
            (.reserveGCMPrefix, { $0.rules.reservesGCMPrefix }),
            (.strictConditions, { $0.rules.strictConditions }),
            (.streamManagement, { $0.streamManagement }), (.idleNotifications, { $0.idleNotifications }),
            (.scram, { $0.scram != nil }),
        ]
        try withSenders { senders in
            for (key, _) in switches {
                let settings = sessions(senders) { configuration in
                    for (other, _) in switches { configuration[other] = .boolean(other == key) }
                }
                #expect(switches.filter { $0.1(settings) }.map { $0.0 } == [key])
            }
        }
    }

    @Test("configured host names are accepted at login and as the origin of a web push")
    func hostNames() throws {
        try withSenders { senders in
            let settings = sessions(senders) { $0.hostNames = ["Push.example.com", "localhost"] }
            #expect(settings.acceptedDomains.contains("Push.example.com"))
            #expect(settings.acceptedDomains.count { $0 == "localhost" } == 1)
            #expect(settings.pushHosts.contains("push.example.com"))
        }
    }

    @Test("pages of the configured origins may call the services for devices, by default those of all")
    func origins() throws {
        let page = "https://a.example"
        let cases: [([String]?, PageOrigins)] = [
            (nil, .any), ([page], .only([Array(page.utf8)])), ([], .only([])), ([page, "*"], .any),
        ]
        try withSenders { senders in
            for pair in cases {
                let settings = sessions(senders) { configuration in
                    if let list = pair.0 { configuration[.corsOrigins] = .list(list) }
                }
                #expect(settings.pageOrigins == pair.1)
            }
        }
    }

    @Test("sessions use the current senders, and salts of unknown senders depend on the secret")
    func senders() throws {
        try withSenders { senders in
            let settings = sessions(senders) { $0[.scram] = .boolean(true) }
            let (sender, key) = try senders.add(nil, label: "", key: nil, now: 1)
            #expect(settings.senderOfKey(Senders.digest(key), 2) == sender)
            _ = try senders.rotateKey(sender, overlapSeconds: 1, key: nil, now: 2)
            #expect(settings.senderOfKey(Senders.digest(key), 1_001) == sender)
            #expect(settings.senderOfKey(Senders.digest(key), 1_003) == nil)

            let salt = settings.scram?.unknownSalt(SenderID(5))
            let other = sessions(senders, secret: [2]) { $0[.scram] = .boolean(true) }
            #expect(
                salt?.count == Limits.Login.scramSaltBytes && salt == settings.scram?.unknownSalt(SenderID(5))
            )
            #expect(salt != settings.scram?.unknownSalt(SenderID(6)))
            #expect(salt != other.scram?.unknownSalt(SenderID(5)))
        }
    }

    @Test("keys of the core, the admission checks and drains set their settings")
    func others() {
        var configuration = Configuration()
        for (key, number) in [
            (.pendingWindow, 11), (.deviceExpirySeconds, 12), (.senderMessagesPerMinute, 13),
            (.topicChangesPerSecond, 14), (.failedLoginsPerMinute, 15), (.failedLoginsPerAddress, 16),
            (.anonymousPerAddress, 17), (.drainGraceSeconds, 18), (.drainSpreadSeconds, 19),
            (.beforeLoginBytes, 1_000_000),
        ] as [(ConfigKey, Int)] { configuration[key] = .integer(number) }
        configuration[.proxyProtocolFrom] = .list(["10.0.0.0/8"])
        let running = configuration.running
        #expect(running.pendingWindow == 11 && running.deviceExpirySeconds == 12)
        #expect(running.rates.sender == Rate(13, perSeconds: 60))
        #expect(running.rates.topicChanges == Rate(14, perSeconds: 1))
        let admission = configuration.admission
        #expect(admission.failedLogins == FailedLogins.Bounds(perIdentity: 15, perAddress: 16))
        #expect(admission.anonymousPerAddress == 17)
        #expect(admission.connectionsBeforeLogin(reactors: 2) == 10)
        configuration[.beforeLoginBytes] = .integer(0)
        #expect(configuration.admission.connectionsBeforeLogin(reactors: 2) == .max)
        #expect(admission.proxies == ["10.0.0.0/8"].compactMap { AddressNetwork($0) })
        let pace = configuration.drainPace
        #expect(pace.graceMilliseconds == 18_000 && pace.spreadMilliseconds == 19_000)
    }

    @Test("every numeric property reads its own key")
    func fields() {
        let fields: [(ConfigKey, KeyPath<Configuration, Int>)] = [
            (.appServerPort, \.appServerPort), (.appServerPreproductionPort, \.appServerPreproductionPort),
            (.devicePort, \.devicePort), (.httpsPort, \.httpsPort), (.reactors, \.reactors),
            (.pendingWindow, \.pendingWindow), (.keepaliveSeconds, \.keepaliveSeconds),
            (.devicePingSeconds, \.devicePingSeconds), (.deviceExpirySeconds, \.deviceExpirySeconds),
            (.deviceHeartbeatSeconds, \.deviceHeartbeatSeconds),
            (.loginDeadlineSeconds, \.loginDeadlineSeconds), (.drainGraceSeconds, \.drainGraceSeconds),
            (.drainSpreadSeconds, \.drainSpreadSeconds), (.shutdownSeconds, \.shutdownSeconds),
            (.deviceMessagesPerMinute, \.deviceMessagesPerMinute),
            (.deviceMessagesPerHour, \.deviceMessagesPerHour),
            (.senderMessagesPerMinute, \.senderMessagesPerMinute),
            (.collapsibleBurst, \.collapsibleBurst), (.collapsibleRefillSeconds, \.collapsibleRefillSeconds),
            (.deviceUpstreamPerMinute, \.deviceUpstreamPerMinute),
            (.senderUpstreamPerMinute, \.senderUpstreamPerMinute),
            (.topicChangesPerSecond, \.topicChangesPerSecond), (.topicPayloadBytes, \.topicPayloadBytes),
            (.failedLoginsPerMinute, \.failedLoginsPerMinute),
            (.failedLoginsPerAddress, \.failedLoginsPerAddress),
            (.anonymousPerAddress, \.anonymousPerAddress), (.beforeLoginBytes, \.beforeLoginBytes),
            (.advertisedHTTPSPort, \.advertisedHTTPSPort),
            (.advertisedDevicePort, \.advertisedDevicePort),
        ]
        var configuration = Configuration()
        for (at, (key, _)) in fields.enumerated() { configuration[key] = .integer(1_000 + at) }
        #expect(fields.map { configuration[keyPath: $0.1] } == fields.indices.map { 1_000 + $0 })
    }

    @Test("canary: a setting without a value keeps its default")
    func canary() throws {
        try withSenders { senders in
            let settings = sessions(senders) { _ in }
            #expect(settings.keepaliveSeconds == Limits.AppServer.keepaliveSeconds && !settings.strictAcks)
        }
    }
}

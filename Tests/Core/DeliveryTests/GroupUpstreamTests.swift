import Basics
import Delivery
import Testing

/// Messages of devices to a group that they are in: the other members receive them (ccs-xmpp 4.4).
@Suite struct GroupUpstreamTests {
    private static let group = GroupName(sender: Harness.sender, number: 7)

    /// The device of the scene and `others` more devices, all members unless specified otherwise.
    private static func bench(
        _ others: Int = 2, isMember: Bool = true, settings: DeliverySettings = DeliverySettings()
    ) -> Harness {
        let bench = Harness.withDevice(partitions: 3, settings: settings)
        var names = isMember ? [Harness.target] : []
        for at in 0..<others {
            let device = DeviceID(1 << 60 | UInt64(at + 1) << 8)
            let name = RegistrationName(device: device, number: RegistrationNumber(UInt64(at + 2)))
            bench.store.records[device] = DeviceRecord(
                device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 100)
            bench.store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
            names.append(name)
        }
        bench.store.groups = [
            GroupRecord(name: group, label: bytes("team"), members: tokens(names), createdAt: 0)
        ]
        return bench
    }

    private static func send(_ bench: Harness, _ requestID: UInt32, lifetime: Int = 3_600) -> [String] {
        var upstream = Harness.upstream(requestID, lifetime: lifetime)
        upstream.group = group
        bench.post(.upstreamReceived(upstream))
        bench.settle()
        return bench.take(phone).words
    }

    private static func waiting(_ bench: Harness) -> [UInt64] {
        bench.store.messages.filter { !$0.value.isEmpty }.map { $0.key.number >> 8 & 0xFF }.sorted()
    }

    @Test(
        "A device's group message reaches the other members, and is acknowledged when it is on disk for all")
    func others() throws {
        let bench = Self.bench()
        var upstream = Harness.upstream(1)
        upstream.group = Self.group
        bench.post(.upstreamReceived(upstream))
        bench.runTurns()
        #expect(bench.take(phone).isEmpty, "a message is not acknowledged before it is on disk")
        bench.settle()
        #expect(bench.take(phone).words == ["stored 1"])
        #expect(Self.waiting(bench) == [1, 2])
        let message = try #require(bench.store.messages.values.first { !$0.isEmpty }?.first)
        #expect(message.messageID == bytes("u1") && message.body == bytes("up 1"))
        #expect(message.expiresAt == bench.now.wall + 3_600_000)
        #expect(bench.store.upstream.isEmpty, "no app server receives it")
        #expect(bench.take(appServer).isEmpty)
    }

    @Test("A group message is refused when the device is not a member, or the group or sender does not exist")
    func refused() {
        let stranger = Self.bench(isMember: false)
        #expect(Self.send(stranger, 1) == ["refused 1 invalid_parameters"])
        #expect(Self.waiting(stranger).isEmpty)
        let bench = Self.bench()
        bench.store.groups = []
        #expect(Self.send(bench, 2) == ["refused 2 invalid_parameters"])
        bench.post(.senders(SenderDirectory([])))
        #expect(Self.send(bench, 3) == ["refused 3 invalid_parameters"])
        #expect(bench.up.refused == 2)
    }

    @Test("A group message succeeds when no other member is left, and unregistered members leave the group")
    func alone() {
        let alone = Self.bench(0)
        #expect(Self.send(alone, 1) == ["stored 1"])
        let bench = Self.bench(1)
        bench.store.registrations = bench.store.registrations.filter { $0.key == Harness.target }
        #expect(Self.send(bench, 2) == ["stored 2"])
        #expect(bench.store.groups.first?.members == [TokenName(Harness.target)])
    }

    @Test("A group message is refused as unavailable while the store cannot be read or written")
    func unavailable() {
        let bench = Self.bench(1)
        var upstream = Harness.upstream(1)
        upstream.group = Self.group
        bench.post(.upstreamReceived(upstream))
        bench.runTurns()
        let owner = bench.partitions[PartitionKey.sender(Harness.sender).partition(of: 3)]
        bench.read(owner, failing: true)
        bench.reportAnswer(owner)
        bench.settle()
        #expect(bench.take(phone).words == ["refused 1 unavailable"])
        #expect(Self.send(bench, 2) == ["stored 2"], "canary: a later message is stored")
        let other = bench.partitions[PartitionKey.device(DeviceID(1 << 60 | 1 << 8)).partition(of: 3)]
        upstream.requester.requestID = 3
        bench.post(.upstreamReceived(upstream))
        bench.runTurns()
        bench.read(owner)
        bench.reportAnswer(owner)
        bench.runTurns()
        bench.apply(other, failing: true)
        bench.reportOutcome(other)
        bench.settle()
        #expect(bench.take(phone).words == ["refused 3 unavailable"])
    }

    @Test("A group message frees its slot for the next one when it is accepted or refused")
    func place() {
        var settings = DeliverySettings()
        settings.waitingUpstream = 1
        let bench = Self.bench(settings: settings)
        #expect(Self.send(bench, 1) == ["stored 1"])
        #expect(Self.send(bench, 2) == ["stored 2"])
        var upstream = Harness.upstream(3)
        upstream.group = Self.group
        bench.post(.upstreamReceived(upstream))
        #expect(
            Self.send(bench, 4) == ["refused 4 toomanymessages", "stored 3"], "canary: there is one slot")
        bench.store.groups = []
        #expect(Self.send(bench, 5) == ["refused 5 invalid_parameters"])
        #expect(Self.send(bench, 6) == ["refused 6 invalid_parameters"])
    }

    @Test("A group message counts for the rates of the device, of its sender and of the receiving devices")
    func rates() {
        var settings = DeliverySettings()
        settings.rates.senderUpstream = Rate(1, perSeconds: 60)
        let bench = Self.bench(settings: settings)
        #expect(Self.send(bench, 1) == ["stored 1"])
        #expect(Self.send(bench, 2) == ["refused 2 toomanymessages"])
        settings = DeliverySettings()
        settings.rates.deviceShort = Rate(1, perSeconds: 60)
        let other = Self.bench(1, settings: settings)
        #expect(Self.send(other, 1) == ["stored 1"])
        #expect(Self.send(other, 2) == ["refused 2 toomanymessages"])
    }

    @Test("A now-or-never group message reaches connected members only, and is not stored")
    func passing() {
        let bench = Self.bench()
        #expect(Self.send(bench, 1, lifetime: 0) == ["stored 1"])
        #expect(Self.waiting(bench).isEmpty)
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words.contains("device login accepted"))
    }
}

import Basics
import Delivery
import Testing

@Suite struct GroupTests {
    /// Returns `count` devices with one registration each, over three partitions.
    private static func bench(_ count: Int = 3) -> (Harness, [RegistrationName]) {
        var store = FakeStore()
        var names: [RegistrationName] = []
        for at in 0..<count {
            let device = DeviceID(1 << 60 | UInt64(at + 1) << 8)
            let name = RegistrationName(device: device, number: RegistrationNumber(UInt64(at + 1)))
            store.records[device] = DeviceRecord(
                device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 100)
            store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
            names.append(name)
        }
        return (Harness(partitions: 3, store: store), names)
    }

    private static func ask(_ bench: Harness, _ requestID: UInt32, _ operation: GroupRequest.Operation)
        -> String
    {
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: requestID), sender: Harness.sender,
                    operation: operation)))
        bench.settle()
        return bench.take(web).words.joined(separator: ";")
    }

    private static func send(
        _ bench: Harness, _ requestID: UInt32, to group: GroupName, lifetime: Int = 3_600,
        from sender: SenderID = Harness.sender
    ) -> String {
        var submission = Harness.submission(requestID, lifetime: lifetime)
        submission.entitlement = .account(sender)
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: submission)))
        bench.settle()
        return bench.take(appServer).words.joined(separator: ";")
    }

    private static func made(_ bench: Harness) throws -> GroupName {
        try #require(bench.store.groups.first).name
    }

    @Test("A group is made, grows, shrinks, and lives on without members until its name is made again")
    func life() throws {
        let (bench, names) = Self.bench()
        let label = bytes("appUser-Chris")
        #expect(
            Self.ask(bench, 1, .create(label: label, members: tokens([names[0], names[0]])))
                == "group known 1 1")
        let number = try Self.made(bench).number
        #expect(
            Self.ask(bench, 2, .create(label: label, members: tokens([names[1]])))
                == "group refused 2 label_taken")
        #expect(
            Self.ask(bench, 3, .add(number: number, label: nil, members: tokens([names[1], names[0]])))
                == "group known 3 1,2")
        #expect(
            Self.ask(bench, 4, .add(number: number, label: bytes("other"), members: tokens([names[2]])))
                == "group refused 4 label_mismatch")
        #expect(Self.ask(bench, 5, .find(label: label)) == "group known 5 1,2")
        #expect(Self.ask(bench, 6, .find(label: bytes("none"))) == "group refused 6 not_found")
        #expect(
            Self.ask(bench, 7, .remove(number: number, label: label, members: tokens([names[0]])))
                == "group known 7 2")
        #expect(
            Self.ask(bench, 8, .remove(number: number, label: nil, members: tokens([names[1]])))
                == "group known 8 ")
        let empty = try Self.made(bench)
        #expect(Self.ask(bench, 9, .show(number: number)) == "group known 9 ")
        #expect(Self.send(bench, 10, to: empty) == "group 10 0/0")
        #expect(
            Self.ask(bench, 11, .create(label: label, members: tokens([names[2]]))) == "group known 11 3",
            "the name is free again")
        #expect(bench.store.groups.count == 1)
        #expect(try Self.made(bench).number != number, "the old key is not reused")
        #expect(Self.send(bench, 12, to: empty) == "nack 12 not_registered")
    }

    @Test("A group without members takes new ones, and is deleted when its owner removes one more")
    func empty() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens([names[0]])))
        let number = try Self.made(bench).number
        _ = Self.ask(bench, 2, .remove(number: number, label: nil, members: tokens([names[0]])))
        #expect(
            Self.ask(bench, 3, .add(number: number, label: nil, members: tokens([names[1]])))
                == "group known 3 2")
        _ = Self.ask(bench, 4, .remove(number: number, label: nil, members: tokens([names[1]])))
        #expect(
            Self.ask(bench, 5, .remove(number: number, label: nil, members: tokens([names[1]])))
                == "group known 5 ")
        #expect(bench.store.groups.isEmpty)
        #expect(Self.ask(bench, 6, .find(label: bytes("a"))) == "group refused 6 not_found")
    }

    @Test("A group has from 1 to 20 members")
    func size() throws {
        let (bench, names) = Self.bench(21)
        #expect(
            Self.ask(bench, 1, .create(label: bytes("a"), members: tokens([])))
                == "group refused 1 no_members")
        #expect(
            Self.ask(bench, 2, .create(label: bytes("a"), members: tokens(names)))
                == "group refused 2 too_many_members")
        #expect(
            Self.ask(bench, 3, .create(label: bytes("a"), members: tokens(Array(names[..<20])))).hasPrefix(
                "group known 3"))
        let number = try Self.made(bench).number
        #expect(
            Self.ask(bench, 4, .add(number: number, label: nil, members: tokens([names[20]])))
                == "group refused 4 too_many_members")
        _ = Self.ask(bench, 5, .remove(number: number, label: nil, members: tokens([names[0]])))
        #expect(
            Self.ask(bench, 6, .add(number: number, label: nil, members: tokens([names[20]]))).hasPrefix(
                "group known 6"), "20 members can also be reached by adding")
    }

    @Test("A dry run reports unregistered members, and changes nothing")
    func dryRun() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        let claim = TokenClaim(
            name: names[0], proof: .device(names[0].device, token), projects: [.sender(Harness.sender)])
        bench.post(.unregisterToken(claim, Requester(connection: web, requestID: 2)))
        bench.settle()
        var submission = Harness.submission(7)
        submission.content.isDryRun = true
        let group = try Self.made(bench)
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: submission)))
        bench.settle()
        #expect(bench.take(appServer).words == ["group 7 2/1 1=not_registered"])
        #expect(bench.store.groups.first?.members.count == 3)
        #expect(Self.send(bench, 8, to: group) == "group 8 2/1 1=not_registered", "canary")
        #expect(bench.store.groups.first?.members.count == 2)
    }

    @Test("Changes of one sender run one after another, so that none is lost")
    func turns() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens([names[0]])))
        let number = try Self.made(bench).number
        for (at, name) in names.dropFirst().enumerated() {
            bench.post(
                .groupRequested(
                    GroupRequest(
                        requester: Requester(connection: web, requestID: UInt32(at)), sender: Harness.sender,
                        operation: .add(number: number, label: nil, members: tokens([name])))))
        }
        bench.settle()
        #expect(bench.take(web).words == ["group known 0 1,2", "group known 1 1,2,3"])
    }

    @Test("A change is answered when it is on disk, refused when its batch fails, and the next one continues")
    func durable() throws {
        let (bench, names) = Self.bench()
        let owner = bench.partitions[PartitionKey.sender(Harness.sender).partition(of: 3)]
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: 1), sender: Harness.sender,
                    operation: .create(label: bytes("a"), members: tokens([names[0]])))))
        bench.runTurns()
        bench.read(owner)
        bench.reportAnswer(owner)
        bench.runTurns()
        #expect(owner.batches.count == 1)
        #expect(bench.take(web).isEmpty, "no answer is sent before the store has answered")
        bench.apply(owner, failing: true)
        bench.reportOutcome(owner)
        bench.settle()
        #expect(bench.take(web).words == ["group refused 1 unavailable"])
        #expect(
            Self.ask(bench, 2, .create(label: bytes("a"), members: tokens([names[0]]))) == "group known 2 1")
    }

    @Test(
        "A group message reaches every member, is stored for each, and is answered once",
        arguments: [0, 3_600])
    func send(lifetime: Int) throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        let answer = Self.send(bench, 7, to: try Self.made(bench), lifetime: lifetime)
        #expect(answer == "group 7 3/0")
        #expect(bench.store.downPending == (lifetime == 0 ? 0 : 3))
        #expect(bench.down.accepted == 3)
    }

    @Test("The answer names members that cannot be reached, and an unregistered member then leaves the group")
    func partial() throws {
        let (bench, names) = Self.bench()
        let foreign = RegistrationName(device: names[2].device, number: RegistrationNumber(50))
        bench.store.registrations[foreign] = Registration(
            name: foreign, category: bytes("app"), subtype: [], senderText: bytes("200"),
            sender: Harness.otherSender, createdAt: 0)
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names + [foreign])))
        bench.store.registrations[names[1]] = nil
        let group = try Self.made(bench)
        #expect(Self.send(bench, 7, to: group) == "group 7 2/2 2=not_registered 50=sender_mismatch")
        #expect(Self.ask(bench, 8, .show(number: group.number)) == "group known 8 1,3,50")
        #expect(Self.send(bench, 9, to: group) == "group 9 2/1 50=sender_mismatch")
    }

    @Test("A group lives on when all members have unregistered")
    func allGone() throws {
        let (bench, names) = Self.bench(1)
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        bench.store.registrations[names[0]] = nil
        let group = try Self.made(bench)
        #expect(Self.send(bench, 7, to: group) == "group 7 0/0")
        #expect(bench.store.groups.first?.members.isEmpty == true)
        #expect(Self.send(bench, 8, to: group) == "group 8 0/0")
    }

    @Test("A group has no members, and keeps its name, when several have unregistered at once")
    func severalGone() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        for name in names { bench.store.registrations[name] = nil }
        let group = try Self.made(bench)
        #expect(Self.send(bench, 7, to: group) == "group 7 0/0")
        #expect(bench.store.groups.first?.members.isEmpty == true)
        #expect(Self.ask(bench, 8, .find(label: bytes("a"))) == "group known 8 ")
    }

    @Test("A group is neither visible to another sender nor accepts its messages")
    func foreign() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        let group = try Self.made(bench)
        #expect(Self.send(bench, 7, to: group, from: Harness.otherSender) == "nack 7 sender_mismatch")
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: 2), sender: Harness.otherSender,
                    operation: .show(number: group.number))))
        bench.settle()
        #expect(bench.take(web).words == ["group refused 2 not_found"])
    }

    @Test("A send sees changes that its sender makes while the members are being read")
    func freshRead() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens([names[0]])))
        let group = try Self.made(bench)
        let owner = bench.partitions[PartitionKey.sender(Harness.sender).partition(of: 3)]
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: Harness.submission(7))))
        bench.runTurns()
        // Read, but not reported: later requests must not be answered with this state.
        bench.read(owner)
        bench.store.groups[0].members.append(TokenName(names[1]))
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: Harness.submission(8))))
        bench.settle()
        #expect(bench.take(appServer).words == ["group 7 1/0", "group 8 2/0"])
    }

    @Test("A send is refused when the group cannot be read, and can be repeated")
    func unreadable() throws {
        let (bench, names) = Self.bench()
        _ = Self.ask(bench, 1, .create(label: bytes("a"), members: tokens(names)))
        let group = try Self.made(bench)
        let owner = bench.partitions[PartitionKey.sender(Harness.sender).partition(of: 3)]
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: Harness.submission(7))))
        bench.runTurns()
        bench.read(owner, failing: true)
        bench.reportAnswer(owner)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 7 unavailable"])
        #expect(Self.send(bench, 8, to: group) == "group 8 3/0")
    }
}

import Basics
import Testing

@testable import Delivery

/// The response of a release build to a broken invariant.
@Suite struct InvariantTests {
    private static func settings() -> DeliverySettings {
        var settings = DeliverySettings()
        settings.trapsAtFailedInvariants = false
        return settings
    }

    /// A connected device, and its state in the core.
    private func connected() throws -> (Harness, DeviceEntry) {
        let bench = Harness.withDevice(settings: Self.settings())
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        return (bench, try #require(bench.partitions[0].core.devices.table[device]))
    }

    @Test("A broken invariant of a device refuses the batch, closes the connection, and acknowledges nothing")
    func refusesBatch() throws {
        let (bench, entry) = try connected()
        var report = StoredMessage(
            device: device, sequence: SequenceNumber(.max), salt: 0, registration: Harness.target.number,
            sender: nil,
            kind: .sendError(of: SequenceNumber(1)), messageID: [], acceptedAt: 0, expiresAt: .max, body: [])
        report.device = device
        entry.append(
            MailboxSlot(entry: MailboxEntry(report), state: .waiting(isStored: true)),
            &bench.partitions[0].core.turn)
        bench.submit(1)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.take(phone).words == ["close internal_error"])
        #expect(bench.failures.map(\.what) == ["a message's sequence is not the newest"])
        #expect(bench.store.put.isEmpty)
        // The device has been read again, and the next message is accepted.
        bench.submit(2)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
        #expect(bench.failures.count == 1)
    }

    @Test("A device with a broken state is read again, and receives its unacknowledged messages again")
    func readsAgain() throws {
        let (bench, entry) = try connected()
        bench.submit(1)
        bench.settle()
        let sent = try #require(bench.take(phone).compactMap(\.delivery).first)
        entry.setState(.throttled, at: 0, &bench.partitions[0].core.turn)
        bench.post(.deviceAcknowledged(phone, device, [sent.message.sequence]))
        bench.settle()
        #expect(bench.take(phone).words == ["close internal_error"])
        #expect(
            bench.failures == [
                InvariantFailure(what: "a message cannot change to this state", owner: .device(device))
            ])
        #expect(bench.store.messages[device]?.count == 1, "the refused batch changes nothing")
        #expect(entry.link?.acceptsUnstored == false, "nothing more is sent on a closing connection")
        bench.post(.deviceClosed(phone, device))
        bench.login(web)
        bench.settle()
        let again = bench.take(web)
        #expect(again.words == ["device login accepted", "deliver m1", "report when writable"])
        bench.post(.deviceAcknowledged(web, device, [sent.message.sequence]))
        bench.settle()
        #expect(bench.store.downPending == 0 && bench.down.delivered == 1)
        #expect(bench.failures.count == 1)
    }

    @Test("A broken invariant of a sender closes its connections, and its messages are sent again")
    func sender() throws {
        let bench = Harness.withDevice(settings: Self.settings())
        bench.bindAppServer()
        bench.login()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.settle()
        let first = try #require(bench.take(appServer).compactMap(\.upstream).first)
        _ = bench.take(phone)
        let entry = try #require(bench.partitions[0].core.senders.table[Harness.sender])
        entry.sticky = [:]
        bench.post(.upstreamResolved(Harness.upstream(3), from: TokenName(Harness.target)))
        bench.post(.upstreamFinished(appServer, Harness.sender, first.sequence, .acknowledged))
        bench.settle()
        #expect(bench.take(appServer).words == ["close internal_error"])
        #expect(bench.take(phone).words == ["refused 3 unavailable"])
        #expect(
            bench.failures == [
                InvariantFailure(
                    what: "a message leaves a session that has none of its device",
                    owner: .sender(Harness.sender))
            ])
        #expect(bench.store.up.delivered == 0 && bench.store.upPending == 2)
        // The next connection receives the unanswered and the new messages; the removal is tried again.
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.bindAppServer(web)
        bench.post(.upstreamReceived(Harness.upstream(3)))
        bench.settle()
        let received = bench.take(web).compactMap(\.upstream)
        #expect(received.map(\.messageID) == [bytes("u2"), bytes("u3")])
        #expect(bench.take(phone).words == ["stored 3"])
        for message in received {
            bench.post(.upstreamFinished(web, Harness.sender, message.sequence, .acknowledged))
        }
        bench.advance(milliseconds: 500)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.upPending == 0 && bench.failures.count == 1)
    }

    @Test("A failed put leaves no negative count when its message was removed from the counts before")
    func countedNoMore() throws {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.runTurns()
        let entry = try #require(bench.partitions[0].core.senders.table[Harness.sender])
        // As after a search that found it expired before its batch was committed.
        entry.countRemoved()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(entry.stored == 0)
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(bench.take(phone).words == ["refused 1 unavailable", "stored 1"] && entry.stored == 1)
    }

    @Test("A broken invariant of the partition refuses the batch of its turn only, and closes no connection")
    func partition() throws {
        let (bench, _) = try connected()
        bench.post(.loaded(.unseen([], next: nil)))
        bench.submit(1)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.take(phone).isEmpty)
        #expect(
            bench.failures == [
                InvariantFailure(what: "the answer to a device search that was not requested")
            ])
        #expect(bench.store.put.isEmpty)
        bench.submit(2)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
        #expect(bench.take(phone).words == ["deliver m2"])
        #expect(bench.failures.count == 1)
    }

    @Test("A broken invariant in a turn without changes refuses no batch of a later turn")
    func withoutBatch() throws {
        let (bench, _) = try connected()
        bench.post(.loaded(.unseen([], next: nil)))
        bench.runTurns()
        #expect(bench.failures.count == 1)
        bench.submit(1)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
    }

    @Test("An event of another partition is refused, and changes nothing")
    func elsewhere() throws {
        let bench = Harness.withDevice(partitions: 2, settings: Self.settings())
        let owner = PartitionKey.device(device).partition(of: 2)
        let other = bench.partitions[1 - owner]
        other.events.append(.submitted(Harness.submission(1)))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.failures.map(\.what) == ["an event of another partition"])
        #expect(other.core.devices.table.count == 0 && bench.store.put.isEmpty)
        bench.submit(2)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
    }

    @Test("An event is refused when its content belongs to another device or sender")
    func mixedUp() throws {
        let (bench, _) = try connected()
        let other = RegistrationName(device: DeviceID(77), number: RegistrationNumber(1))
        bench.post(.device(device, .submitted(Harness.submission(1, to: other))))
        bench.post(
            .sender(
                Harness.otherSender, .upstreamResolved(Harness.upstream(2), from: TokenName(Harness.target))))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.take(phone).words == ["refused 2 unavailable"])
        #expect(
            bench.failures.map(\.what) == [
                "an event is for another device", "an event is for another sender",
            ])
        #expect(bench.store.put.isEmpty)
    }

    @Test("An answer of the store is treated as failed when its records are out of order")
    func disorder() throws {
        let bench = Harness.withDevice(settings: Self.settings())
        bench.submit(1)
        bench.runTurns()
        bench.partitions[0].loads = []
        let registration = try #require(bench.store.registrations[Harness.target])
        let state = DeviceState(
            device: device, record: bench.store.records[device],
            registrations: [registration, registration], mailbox: [])
        bench.post(.loaded(.device(state)))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.failures.map(\.what) == ["the store returned records out of order"])
        bench.submit(2)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
    }

    @Test(
        "A message changes only to permitted states, and a stored message stays stored",
        arguments: [
            (MailboxSlot.State.waiting(isStored: false), MailboxSlot.State.sent, true),
            (.waiting(isStored: true), .waiting(isStored: false), false),
            (.waiting(isStored: false), .waiting(isStored: true), true),
            (.delayed(isStored: true), .waiting(isStored: true), true),
            (.delayed(isStored: true), .waiting(isStored: false), false),
            (.delayed(isStored: true), .sent, false), (.throttled, .sent, false),
            (.throttled, .waiting(isStored: true), true), (.sent, .owingReceipt, true),
            (.sent, .throttled, false), (.owingReceipt, .sent, true), (.owingReceipt, .throttled, false),
        ])
    func states(before: MailboxSlot.State, after: MailboxSlot.State, isAllowed: Bool) {
        #expect(before.mayBecome(after) == isAllowed)
    }

    @Test("A closing connection changes to no other mode, and none returns to the initial mode")
    func modes() {
        let modes: [DeviceLink.Mode] = [
            .accepting, .loading(target: SequenceNumber(1)), .queued, .paused, .live, .closing,
        ]
        #expect(modes.map { $0.mayBecome(.closing) } == [true, true, true, true, true, true])
        #expect(modes.map { $0.mayBecome(.accepting) } == [false, false, false, false, false, false])
        #expect(modes.map { $0.mayBecome(.live) } == [false, false, false, true, true, false])
        #expect(
            modes.map { DeviceLink.Mode.closing.mayBecome($0) } == [false, false, false, false, false, true])
        let sessions: [AppServerSessionState.Mode] = [.loggedIn, .ready, .draining]
        #expect(sessions.map { $0.mayBecome(.ready) } == [true, false, false])
        #expect(sessions.map { $0.mayBecome(.draining) } == [true, true, true])
    }
}

import Basics
import Delivery
import Testing

@testable import NodeProtocol

@Suite struct ForwardTableTests {
    private let session = ConnectionID(node: 1, reactor: 0, slot: 3, generation: 4)
    private let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))

    private func requester(_ id: UInt32, node: UInt16 = 1) -> Requester {
        var connection = session
        connection.node = node
        return Requester(connection: connection, requestID: id)
    }

    private func forget(_ id: UInt32, node: UInt16 = 1) -> Event {
        .forgetDevice(DeviceID(5), requester(id, node: node))
    }

    private func answer(_ id: UInt32) -> SessionCommand {
        .reply(requestID: id, .forgotten(registrations: 1, messages: 2))
    }

    private func texts(_ answers: [UnreachedAnswer]) -> [String] {
        answers.flatMap(\.parts).map { answer in
            switch answer {
            case .command(_, let command): "\(command)"
            case .event(let event): event.label
            case .none, .several: ""
            }
        }
    }

    @Test("an answer is passed on once")
    func once() {
        var table = ForwardTable(node: 1, partitions: 16)
        let isOpen = table.open(forget(7), to: 2, now: noon)
        #expect(isOpen && table.count == 1 && table.deadline == noon.advanced(milliseconds: 15_000))
        let other = table.receives(answer(8), for: session)
        let first = table.receives(answer(7), for: session)
        let second = table.receives(answer(7), for: session)
        #expect(!other && first && !second)
        #expect(table.count == 0 && table.deadline == nil)
        #expect(table.overdue(now: .distantFuture).isEmpty && table.lost(2).isEmpty)
    }

    @Test("what could not be sent is no longer waited for, and others are")
    func withdrawn() {
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(forget(1), to: 2, now: noon)
        _ = table.open(forget(2), to: 2, now: noon)
        table.withdraw(forget(1))
        let (withdrawn, other) = (
            table.receives(answer(1), for: session), table.receives(answer(2), for: session)
        )
        #expect(!withdrawn && other && table.count == 0)
    }

    @Test("what is not answered in time is refused, and a later answer is dropped")
    func overdue() {
        var table = ForwardTable(node: 1, partitions: 16, milliseconds: 100)
        _ = table.open(forget(1), to: 2, now: noon)
        _ = table.open(forget(2), to: 3, now: noon.advanced(milliseconds: 50))
        #expect(table.overdue(now: noon.advanced(milliseconds: 99)).isEmpty)
        let answers = table.overdue(now: noon.advanced(milliseconds: 100))
        #expect(
            texts(answers) == [
                "\(SessionCommand.reply(requestID: 1, .registrationRefused(.serviceNotAvailable)))"
            ])
        let isLate = table.receives(answer(1), for: session)
        let isInTime = table.receives(answer(2), for: session)
        #expect(!isLate && isInTime)
    }

    @Test("a lost node's requests are refused, those of others stay")
    func lost() {
        var table = ForwardTable(node: 1, partitions: 16)
        for id in 0..<9 as Range<UInt32> { _ = table.open(forget(id), to: UInt16(2 + id % 3), now: noon) }
        #expect(table.lost(3).count == 3 && table.count == 6)
        #expect(table.lost(3).isEmpty)
        #expect(table.lost(2).count == 3 && table.lost(4).count == 3)
        #expect(table.count == 0 && table.deadline == nil)
    }

    @Test("the loss of the node that a request is passed on to refuses it as well")
    func lostOnward() {
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(forget(1), to: 2, onward: 3, now: noon)
        _ = table.open(forget(2), to: 2, onward: 2, now: noon)
        _ = table.open(forget(3), to: 2, now: noon)
        #expect(table.lost(4).isEmpty)
        #expect(table.lost(3).count == 1 && table.count == 2)
        #expect(table.lost(2).count == 2 && table.count == 0)
    }

    @Test("a request of another node's session is not tracked, nor is an event without an answer")
    func untracked() {
        var table = ForwardTable(node: 1, partitions: 16)
        let isOpen = (
            table.open(forget(1, node: 2), to: 3, now: noon),
            table.open(.unseen(DeviceID(1)), to: 3, now: noon)
        )
        #expect(isOpen == (true, true) && table.count == 0)
        let isCommand = table.receives(.connection(.drain), for: session)
        let isEvent = table.receives(.unseen(DeviceID(1)))
        let isOther = table.receives(forget(1, node: 2))
        #expect(isCommand && isEvent && isOther)
    }

    @Test(
        "a request that comes back is answered here: neither the loss of the other node nor time refuses it")
    func comesBack() {
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(forget(1), to: 2, now: noon)
        let isTaken = table.receives(forget(1))
        #expect(isTaken && table.count == 0 && table.lost(2).isEmpty)
        _ = table.open(forget(1), to: 3, now: noon)
        #expect(table.lost(3).count == 1)
        let isTakenAgain = table.receives(forget(1))
        #expect(!isTakenAgain, "it has been refused")
    }

    @Test("a request that goes on to a third node waits for that one")
    func goesOn() {
        var table = ForwardTable(node: 1, partitions: 16, milliseconds: 100)
        _ = table.open(forget(1), to: 2, now: noon)
        _ = table.open(forget(1), to: 3, now: noon.advanced(milliseconds: 60))
        #expect(table.count == 1 && table.lost(2).isEmpty)
        #expect(table.overdue(now: noon.advanced(milliseconds: 159)).isEmpty)
        #expect(table.overdue(now: noon.advanced(milliseconds: 160)).count == 1)
    }

    @Test("a full table takes no more requests, but still events without an answer")
    func full() {
        var table = ForwardTable(node: 1, partitions: 16, limit: 2)
        let opened = (0..<3 as Range<UInt32>).map { table.open(forget($0), to: 2, now: noon) }
        #expect(opened == [true, true, false] && table.count == 2)
        let isSent = table.open(.unseen(DeviceID(1)), to: 2, now: noon)
        #expect(isSent)
        _ = table.receives(answer(0), for: session)
        let isOpen = table.open(forget(9), to: 2, now: noon)
        #expect(isOpen)
    }

    @Test("messages that are passed on to a partition again wait for the later answer")
    func copies() {
        var table = ForwardTable(node: 1, partitions: 16, milliseconds: 100)
        let published = Event.topicLog(3, .published([], from: 0))
        _ = table.open(published, to: 2, of: 3, now: noon)
        _ = table.open(.topicLog(2, .published([], from: 0)), to: 2, of: 2, now: noon)
        _ = table.open(published, to: 4, of: 3, now: noon.advanced(milliseconds: 60))
        #expect(table.count == 2 && texts(table.lost(2)) == ["topicLog.copied"] && table.count == 1)
        #expect(table.overdue(now: noon.advanced(milliseconds: 159)).isEmpty)
        let copied = Event.topicLog(0, .copied(by: 3, through: SequenceNumber(7)))
        let isTaken = [copied, copied].map { table.receives($0) }
        #expect(isTaken == [true, false] && table.count == 0)
    }

    @Test("an upstream message is answered to its session and to its partition, each once")
    func upstream() {
        let upstream = UpstreamSubmission(
            requester: requester(6), device: DeviceID(5), sender: SenderID(9), isFCMDomain: false,
            category: [], messageID: [], persistentID: [], lifetimeSeconds: 0, body: [])
        let event = Event.sender(SenderID(9), .upstreamResolved(upstream, from: TokenName(name)))
        let counted = Event.device(name.device, .upstreamAnswered(name.number, requester(6)))
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(event, to: 2, now: noon)
        #expect(table.count == 2)
        let isStored = table.receives(.device(.upstreamStored(requestID: 6)), for: session)
        #expect(isStored && texts(table.lost(2)) == ["device.upstreamAnswered"])
        let isLate = table.receives(counted)
        #expect(!isLate)
        // Of the session of another node only the partition's part is tracked here. It does not see that the second node is lost.
        var second = ForwardTable(node: 3, partitions: 16)
        _ = second.open(event, to: 2, now: noon)
        let answers = second.lost(2).flatMap(\.parts)
        #expect(texts(answers).last == "device.upstreamAnswered" && answers.count == 2)
        guard case .command(session, .device(.upstreamRefused(6, .unavailable)))? = answers.first else {
            Issue.record("\(answers)")
            return
        }
        _ = second.open(event, to: 2, now: noon)
        #expect(second.count == 1)
        let isCounted = second.receives(counted)
        #expect(isCounted && second.count == 0)
    }

    @Test("a stored receipt counts also after its failure was reported, a refused one does not")
    func receipts() {
        let due = ReceiptDue(
            message: name, sequence: SequenceNumber(8), sender: SenderID(9), messageID: [], category: [],
            deliveredAt: 0, requester: nil)
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(.sender(SenderID(9), .receiptDue(due)), to: 2, now: noon)
        #expect(texts(table.lost(2)) == ["device.receiptRefused"])
        let isRefused = table.receives(.device(DeviceID(5), .receiptRefused(SequenceNumber(8))))
        let isStored = table.receives(.device(DeviceID(5), .receiptStored(SequenceNumber(8))))
        #expect(!isRefused && isStored)
    }

    /// What the table must have.
    private struct Model {
        var waiting: [PendingKey: (target: UInt16, deadline: Instant)] = [:]

        /// Removes what fails. Returns how often each key does.
        mutating func fail(_ fails: (UInt16, Instant) -> Bool) -> [PendingKey: Int] {
            let failed = waiting.filter { fails($0.value.target, $0.value.deadline) }
            for key in failed.keys { waiting[key] = nil }
            return failed.mapValues { _ in 1 }
        }
    }

    private func counted(_ answers: [UnreachedAnswer]) -> [PendingKey: Int] {
        answers.flatMap(\.parts).compactMap(\.answeredKey).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(
        "every request is answered exactly once, in any order of answers, losses and time",
        arguments: 0..<30 as Range<UInt64>)
    func exactlyOnce(seed: UInt64) {
        var values = RandomValues(seed: seed)
        var table = ForwardTable(node: 1, partitions: 16, milliseconds: 1_000)
        var model = Model()
        var now = noon
        var (answered, failed, dropped) = (0, 0, 0)
        for _ in 0..<2_000 {
            now = now.advanced(milliseconds: Int64(values.below(20)))
            let node = UInt16(2 + values.below(3))
            let requester = requester(UInt32(values.below(40)))
            let partition = values.below(3)
            let isTopic = values.flag()
            let event =
                isTopic
                ? Event.topicLog(partition, .published([], from: 0))
                : .submitted(
                    Submission(
                        requester: requester, entitlement: .account(SenderID(9)), target: name,
                        content: MessageContent(messageID: [], body: [])))
            let key =
                isTopic
                ? PendingKey.topicCopy(from: 0, to: partition)
                : .request(session, requestID: requester.requestID)
            switch values.below(8) {
            case 0...3:
                _ = table.open(event, to: node, now: now)
                model.waiting[key] = (node, now.advanced(milliseconds: 1_000))
            case 4...6:
                let reply = SessionCommand.submission(
                    requestID: requester.requestID, .refused(.invalidToken))
                let isPassed =
                    isTopic
                    ? table.receives(.topicLog(0, .copied(by: partition, through: nil)))
                    : table.receives(reply, for: session)
                #expect(isPassed == (model.waiting.removeValue(forKey: key) != nil))
                answered += isPassed ? 1 : 0
                dropped += isPassed ? 0 : 1
            default:
                let isLost = values.below(10) == 0
                let answers = counted(isLost ? table.lost(node) : table.overdue(now: now))
                #expect(answers == model.fail { isLost ? $0 == node : $1 <= now })
                failed += answers.values.reduce(0, +)
            }
            #expect(table.count == model.waiting.count)
            #expect(table.deadline == model.waiting.values.map(\.deadline).min())
        }
        #expect(counted(table.overdue(now: .distantFuture)) == model.fail { _, _ in true })
        #expect(table.count == 0 && table.deadline == nil)
        #expect(answered > 50 && failed > 50 && dropped > 50, "\(answered), \(failed), \(dropped)")
    }

    @Test("what a session began with is not waited for when it has ended, what it asked for is")
    func ended() {
        var table = ForwardTable(node: 1, partitions: 16)
        var other = session
        other.slot = 4
        for connection in [session, other] {
            _ = table.open(.appServerKeysRequested(connection, SenderID(1)), to: 2, of: 3, now: noon)
        }
        _ = table.open(forget(1), to: 2, of: 3, now: noon)
        #expect(table.count == 3)
        table.ended(session)
        #expect(table.count == 2 && table.isWaiting(for: 3))
        table.ended(session)
        table.ended(other)
        #expect(table.count == 1)
        let isAnswered = table.receives(answer(1), for: session)
        #expect(isAnswered && !table.isWaiting(for: 3))
    }

    @Test("what waits in a partition that has left is not waited for, nor what waits in one that is not here")
    func left() {
        var table = ForwardTable(node: 1, partitions: 16)
        // Messages to topics of partitions 1 and 2, for the devices of 3.
        for source in 1...2 {
            _ = table.open(.topicLog(3, .published([], from: source)), to: 2, of: 3, now: noon)
        }
        _ = table.open(forget(1), to: 2, of: 3, now: noon)
        table.left(3)
        #expect(table.count == 3)
        table.left(1)
        #expect(table.count == 2)
        let isAnswered = [1, 2].map { table.receives(.topicLog($0, .copied(by: 3, through: nil))) }
        #expect(isAnswered == [false, true])
        let isOpen = table.open(
            .topicLog(3, .published([], from: 1)), to: 2, of: 3, now: noon, has: { $0 != 1 })
        #expect(isOpen && table.count == 1)
        #expect(texts(table.abandoned(3)).count == 1 && table.count == 0)
    }

    @Test("canary: an answer that was not asked for is dropped")
    func canary() {
        var table = ForwardTable(node: 1, partitions: 16)
        let isPassed = table.receives(answer(1), for: session)
        #expect(!isPassed)
    }

    @Test("only the partition of an open event is waited for")
    func partitions() {
        var table = ForwardTable(node: 1, partitions: 16)
        _ = table.open(forget(1), to: 2, of: 3, now: noon)
        #expect((0...4).map { table.isWaiting(for: $0) } == [false, false, false, true, false])
        #expect(table.abandoned(1).isEmpty && table.abandoned(3).count == 1)
        #expect((0...4).allSatisfy { !table.isWaiting(for: $0) })
    }
}

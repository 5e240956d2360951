import Basics
import Delivery
import Testing

/// What leaves a partition of a cluster, and when.
@Suite("the gate of a partition's output")
struct OutputGateTests {
    private let connection = ConnectionID(node: 1, reactor: 0, slot: 3, generation: 1)
    private let sender = SenderID(7)

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    private func answer(_ requestID: UInt32) -> (ConnectionID, SessionCommand) {
        (connection, .submission(requestID: requestID, .refused(.notRegistered)))
    }

    private func words(_ effects: Effects) -> [String] {
        effects.commands.map { "\($0.1)" } + effects.forwards.map { "\($0)" }
    }

    @Test("with a lease everything leaves at once; without one nothing does, until it comes again, in order")
    func order() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        effects.commands = [answer(1)]
        gate.pass(&effects, .owned(until: at(1_000)), now: at(999))
        #expect(effects.commands.count == 1 && !gate.isHolding)
        effects = Effects()
        effects.commands = [answer(2)]
        gate.pass(&effects, .owned(until: at(1_000)), now: at(1_000))
        #expect(words(effects).isEmpty && gate.isHolding)
        effects.commands = [answer(3)]
        gate.pass(&effects, .owned(until: at(1_000)), now: at(1_200))
        #expect(words(effects).isEmpty)
        effects.commands = [answer(4)]
        gate.pass(&effects, .owned(until: at(2_300)), now: at(1_300))
        let ids = effects.commands.map { command -> UInt32 in
            if case .submission(let id, _) = command.1 { id } else { 0 }
        }
        #expect(ids == [2, 3, 4] && !gate.isHolding)
    }

    @Test(
        "after five seconds an answer is that the owner cannot be reached; what concerns a session waits on"
    )
    func overdue() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        let member = GroupSendMember(send: 1, index: 0)
        effects.commands = [answer(1), (connection, .device(.reportWhenWritable))]
        effects.forwards = [
            .group(sender, .memberAnswered(member, .refused(.notRegistered))),
            .appServerClosed(connection, sender),
        ]
        gate.pass(&effects, .owned(until: at(0)), now: at(0))
        gate.pass(&effects, .owned(until: at(0)), now: at(4_999))
        #expect(words(effects).isEmpty)
        gate.pass(&effects, .owned(until: at(0)), now: at(5_000))
        #expect(
            words(effects) == [
                "\(SessionCommand.submission(requestID: 1, .refused(.unavailable)))",
                "\(Event.group(sender, .memberAnswered(member, .refused(.unavailable))))",
            ])
        effects = Effects()
        gate.pass(&effects, .owned(until: at(9_000)), now: at(8_000))
        #expect(
            words(effects) == [
                "\(SessionCommand.device(.reportWhenWritable))",
                "\(Event.appServerClosed(connection, sender))",
            ])
    }

    @Test("a partition that is lost answers that it cannot be reached, lets no login in, and drops the rest")
    func lost() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        effects.commands = [answer(1), (connection, .device(.reportWhenWritable))]
        gate.pass(&effects, .owned(until: at(0)), now: at(1))
        effects.commands = [
            answer(2), (connection, .appServer(.loginRefused(.wrongCredentials))),
            (connection, .device(.loginAccepted)),
        ]
        gate.pass(&effects, .lost, now: at(2))
        #expect(
            words(effects) == [
                "\(SessionCommand.submission(requestID: 1, .refused(.unavailable)))",
                "\(SessionCommand.submission(requestID: 2, .refused(.unavailable)))",
                "\(SessionCommand.connection(.close(.ownerChanged)))",
                "\(SessionCommand.connection(.close(.ownerChanged)))",
            ])
        #expect(!gate.isHolding)
    }

    @Test("a request to another partition is not sent after five seconds: who waits for it is answered")
    func request() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        effects.forwards = [.appServerLogin(connection, sender, key: SecretDigest(bytes: [1]))]
        gate.pass(&effects, .owned(until: at(0)), now: at(0))
        gate.pass(&effects, .owned(until: at(0)), now: at(5_000))
        #expect(
            words(effects) == [
                "\(SessionCommand.appServer(.loginRefused(.unavailable)))",
                "\(Event.appServerClosed(connection, sender))",
            ])
    }

    /// It has the logins that it got before it left; the answer to one of them would leave a session that no partition has.
    @Test("a partition that leaves decides until the end of its lease, but lets no session in")
    func leaving() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        effects.commands = [
            answer(1), (connection, .device(.loginAccepted)), (connection, .appServer(.loginKeys([]))),
        ]
        let until = gate.pass(&effects, .leaving(until: at(1_000)), now: at(999))
        #expect(until == at(1_000))
        #expect(
            words(effects) == [
                "\(answer(1).1)", "\(SessionCommand.connection(.close(.ownerChanged)))",
                "\(SessionCommand.connection(.close(.ownerChanged)))",
            ])
        effects = Effects()
        effects.commands = [answer(2)]
        let never = gate.pass(&effects, .leaving(until: at(1_000)), now: at(1_000))
        #expect(never == .distantFuture)
        #expect(words(effects) == ["\(SessionCommand.submission(requestID: 2, .refused(.unavailable)))"])
    }

    @Test("what a webhook is to do waits like any other output; a turn without output begins no wait")
    func webhooks() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        gate.pass(&effects, .owned(until: at(0)), now: at(0))
        #expect(!gate.isHolding)
        effects.webhooks = [.recall(connection)]
        gate.pass(&effects, .owned(until: at(0)), now: at(1))
        #expect(effects.webhooks.isEmpty && gate.isHolding)
        gate.pass(&effects, .owned(until: at(9_000)), now: at(5_000))
        #expect(effects.webhooks.count == 1 && !gate.isHolding)
        effects = Effects()
        effects.webhooks = [.recall(connection)]
        gate.pass(&effects, .owned(until: at(0)), now: at(5_001))
        gate.pass(&effects, .lost, now: at(5_002))
        gate.pass(&effects, .owned(until: at(9_000)), now: at(5_003))
        #expect(effects.webhooks.isEmpty, "they are of a partition that was lost meanwhile")
    }

    private func upstream(_ requestID: UInt32) -> (request: Event, answer: Event) {
        let requester = Requester(connection: connection, requestID: requestID)
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
        let upstream = UpstreamSubmission(
            requester: requester, device: name.device, sender: sender, isFCMDomain: false, category: [],
            messageID: [], persistentID: [], lifetimeSeconds: 0, body: [])
        return (
            .sender(sender, .upstreamResolved(upstream, from: TokenName(name))),
            .device(name.device, .upstreamAnswered(name.number, requester))
        )
    }

    @Test("the partition gets one answer to each of its requests, also to one that never left")
    func answers() {
        var gate = OutputGate(partition: 0, of: 1)
        var effects = Effects()
        let (left, never, unasked) = (upstream(1), upstream(2), upstream(3))
        effects.forwards = [left.request]
        gate.pass(&effects, .owned(until: at(1_000)), now: at(0))
        #expect(effects.forwards.count == 1)
        effects.forwards = [never.request]
        gate.pass(&effects, .owned(until: at(1_000)), now: at(1_000))
        gate.pass(&effects, .owned(until: at(1_000)), now: at(6_000))
        #expect(words(effects).last == "\(never.answer)")
        for answer in [left.answer, never.answer] {
            let taken = gate.lets(in: answer)
            let again = gate.lets(in: answer)
            #expect(taken && !again)
        }
        let isTaken = gate.lets(in: unasked.answer)
        #expect(!isTaken)
    }
}

import Basics
import Delivery
import Operator
import Store
import StoreSupport
import Testing

@testable import Server

/// The clock of a server for tests: what it moves, what it keeps, and where it ends.
@Suite("Test clock") struct TestClockTests {
    private static let day: Int64 = 86_400_000
    private let machine = Now(monotonic: Instant(nanoseconds: 5_000_000), wall: 1_800_000_000_000)

    @Test("an advance moves both clocks alike, and a time that was moved is not moved again")
    func bothClocks() {
        let status = ClockStatus()
        #expect(status.serverTime(machine) == machine)
        status.move(to: 2 * Self.day)
        status.move(to: Self.day)
        let time = status.serverTime(machine)
        #expect(time.wall == machine.wall + 2 * Self.day, "it never goes back")
        #expect(time.monotonic.milliseconds(since: machine.monotonic) == 2 * Self.day)
        #expect(time.machineWall == machine.wall && time.advance == 2 * Self.day)
        var session = time
        session.monotonic = machine.monotonic
        #expect(status.serverTime(session) == time)
        status.move(to: 3 * Self.day)
        #expect(status.serverTime(session).wall == machine.wall + 3 * Self.day)
    }

    @Test("an advance causes no doubt of the clock; canary: a jump of the machine's clock alone does")
    func noDoubt() {
        let status = ClockStatus()
        var core = Partition(partition: 0, of: 1, seed: 1, hashKey: (1, 2))
        core.handle(.tick, now: status.serverTime(machine))
        status.move(to: 28 * Self.day)
        core.handle(.tick, now: status.serverTime(machine))
        #expect(core.clockDoubt == nil)
        #expect(core.sessionTime(status.serverTime(machine)).expiryCutoff == machine.wall + 28 * Self.day)
        var jumped = status.serverTime(machine)
        jumped.wall += 28 * Self.day
        core.handle(.tick, now: jumped)
        #expect(core.clockDoubt == .jumped(milliseconds: 28 * Self.day))
        status.update(core.clock)
        var later = machine
        later.wall += 28 * Self.day
        later.monotonic = later.monotonic.advanced(seconds: 4)
        #expect(
            status.judged(later).wall == machine.wall + 28 * Self.day + 4_000,
            "other threads do not follow it")
        #expect(status.judgedMachine(later).wall == machine.wall + 4_000)
    }

    @Test("what was advanced is in the store before it holds, and later processes go on with it")
    func kept() throws {
        let store = GatedStore(partitions: 1)
        #expect(try TestClock.advance(in: store) == 0)
        let status = ClockStatus()
        let clock = try TestClock(store: store, status: status)
        try clock.advance(seconds: 86_400)
        try clock.advance(seconds: 86_400)
        #expect(status.advance == 2 * Self.day)
        #expect(try TestClock.advance(in: store) == 2 * Self.day)
        let next = ClockStatus()
        _ = try TestClock(store: store, status: next)
        #expect(next.advance == 2 * Self.day)
        store.failNextSetting(StoreError(.full, "write"))
        #expect(throws: OperatorProblem.self) { try clock.advance(seconds: 86_400) }
        #expect(status.advance == 2 * Self.day, "the time stays")
    }

    @Test("all advances together have a limit, and an unreadable setting is damage")
    func limits() throws {
        let store = MemoryStore(partitions: 1)
        let status = ClockStatus()
        let clock = try TestClock(store: store, status: status)
        try clock.advance(seconds: Limits.TestClock.advanceSeconds)
        let problem = #expect(throws: OperatorProblem.self) { try clock.advance(seconds: 1) }
        #expect(problem?.text.contains("the most is 315360000 s") == true)
        #expect(status.advance == Int64(Limits.TestClock.advanceSeconds) * 1_000)
        for text in ["x", "-5", "9999999999999999999999"] {
            try store.setSetting("test_clock", Array(text.utf8))
            #expect(throws: StoreError.self, "\(text)") { try TestClock.advance(in: store) }
        }
    }

    @Test("Apple gets the machine's times, and the end of a device token comes back in the server's")
    func apple() throws {
        let status = ClockStatus()
        let message = StoredMessage(
            device: DeviceID(1), sequence: SequenceNumber(1), salt: 0, registration: RegistrationNumber(1),
            sender: nil, messageID: [], acceptedAt: 10 * Self.day, expiresAt: 11 * Self.day,
            body: [])
        let name = RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))
        let app = RegisteredApp(RegisteredApp.Parts(category: []))
        var deliveries = [
            GatewayDelivery(
                message: message, registration: name, app: app, registeredAt: 9 * Self.day, isStored: true)
        ]
        let verdict = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 3 * Self.day)
        let answer = GatewayAnswer(
            registration: name, sequence: SequenceNumber(1), outcome: .tokenEnded(verdict))
        status.moveToMachine(&deliveries)
        #expect(deliveries[0].message.acceptedAt == 10 * Self.day)
        #expect(status.movedToServer(answer).outcome == answer.outcome)
        status.move(to: 7 * Self.day)
        status.moveToMachine(&deliveries)
        #expect(deliveries[0].message.acceptedAt == 3 * Self.day)
        #expect(deliveries[0].message.expiresAt == 4 * Self.day)
        #expect(deliveries[0].registeredAt == 2 * Self.day)
        var moved = verdict
        moved.invalidSince = 10 * Self.day
        #expect(status.movedToServer(answer).outcome == .tokenEnded(moved))
        let accepted = GatewayAnswer(
            registration: name, sequence: SequenceNumber(1), outcome: .accepted(.production))
        #expect(status.movedToServer(accepted).outcome == accepted.outcome)
    }
}

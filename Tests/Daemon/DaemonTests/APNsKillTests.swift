import Foundation
import Testing

/// Durability of messages to iOS apps: the daemon is killed while Apple refuses, stalls, goes away and dies (issue 19).
///
/// `CCS_APNS_KILL_MESSAGES`, `CCS_APNS_KILL_CYCLES` and `CCS_APNS_KILL_SEED` set the size and the faults of a run; the results are then
/// printed (`Scripts/kill --apns`).
@Suite(
    "Killed under load to Apple", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsKillTests {
    private static func asked(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["CCS_APNS_KILL_\(name)"].flatMap { UInt64($0) }
    }

    @Test(
        "no accepted message is lost, out of order, or sent again after an answer, when the daemon and Apple fail"
    )
    func kills() throws {
        let seed = Self.asked("SEED") ?? UInt64.random(in: 0...UInt64.max)
        let asked = Self.asked("MESSAGES").map { Int($0) }
        let plan =
            asked.map {
                AppleKillPlan.full(messages: $0, kills: Int(Self.asked("CYCLES") ?? 10), seed: seed)
            } ?? AppleKillPlan.brief(messages: 400, kills: 2, seed: seed)
        if asked != nil { print("kill: seed \(seed)") }
        let start = Date()
        let world = try AppleKillWorld(plan)
        defer { if asked != nil { Self.printResults(world, plan, since: start) } }
        try world.run()
        let record = world.record
        #expect(record.lost.isEmpty, "lost, seed \(seed)")
        #expect(record.reordered.isEmpty, "out of order, seed \(seed)")
        #expect(record.duplicated.isEmpty, "sent again after an answer, seed \(seed)")
        #expect(record.unknown.isEmpty, "never sent, seed \(seed)")
        #expect(record.refused.isEmpty, "refused, seed \(seed)")
        #expect(try world.audit("expired") == 0, "seed \(seed)")
        #expect(try world.audit("discarded") == record.refusedByApple, "seed \(seed)")
        #expect(record.sent == plan.messages && world.kills == plan.kills, "seed \(seed)")
        // Canary: Apple refused or left unanswered some requests, and failed as a whole.
        #expect(
            record.requests > record.settled + record.repeatedUnread + record.repeatedAfterKill,
            "seed \(seed)")
        #expect(record.accepted > plan.messages / 2 && !world.outages.isEmpty, "seed \(seed)")
    }

    private static func printResults(_ world: AppleKillWorld, _ plan: AppleKillPlan, since: Date) {
        let record = world.record
        let rows: [(String, String)] = [
            ("kills of ccsd", "\(world.kills)"),
            (
                "outages of Apple",
                world.outages.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", ")
            ),
            ("messages sent, accepted", "\(record.sent), \(record.accepted)"),
            ("waiting at the kills", "\(record.waitingAtKills)"),
            ("settled by Apple", "\(record.settled), of these \(record.refusedByApple) refused for good"),
            ("requests at Apple", "\(record.requests)"),
            (
                "sent again, unanswered",
                "\(record.repeatedUnread) unread, \(record.repeatedAfterKill) read just before a kill"
            ),
            ("lost", "\(record.lost.count)"),
            ("out of order", "\(record.reordered.count)"),
            ("sent again, answered", "\(record.duplicated.count)"),
            ("refused by ccsd, unknown", "\(record.refused.count), \(record.unknown.count)"),
            ("seconds", String(format: "%.0f", -since.timeIntervalSinceNow)),
        ]
        for (name, value) in rows {
            print("kill: \(name)\(String(repeating: " ", count: 26 - name.count))\(value)")
        }
    }
}

/// Canaries of the record: each kind of mistake is found, and only mistakes are.
@Suite("Record of messages to Apple")
struct AppleRecordTests {
    private static let device = AppleBench.deviceToken("00", 1)
    private var record = AppleRecord()

    init() {
        record.read(["event": "listening"])
        open(1)
        for _ in 1...3 { record.accept(record.send(to: Self.device)) }
    }

    private mutating func open(_ connection: Int) { record.read(["event": "open", "conn": connection]) }

    private mutating func proven(_ connection: Int, _ answers: Int) {
        record.read(["event": "proven", "conn": connection, "answers": answers])
    }

    /// Apple gets a message; with `answer` it answers it, as that answer of the connection.
    private mutating func request(
        _ number: Int, _ connection: Int = 1, answer: Int? = nil, status: Int = 200, device: String = device
    ) {
        record.read([
            "conn": connection, "token": device, "payload": ["n": "\(number)"],
            "status": answer == nil ? 0 : status,
            "answer": answer ?? NSNull(),
        ])
    }

    private var isFaultless: Bool {
        record.lost.isEmpty && record.reordered.isEmpty && record.duplicated.isEmpty && record.unknown.isEmpty
            && record.refused.isEmpty
    }

    @Test("messages in order, each answered once, are without fault")
    mutating func whole() {
        for number in 1...3 { request(number, answer: number) }
        #expect(isFaultless && record.settled == 3 && record.waiting == 0 && record.repeatedUnread == 0)
    }

    @Test("an accepted message that Apple has not settled is lost, whatever Apple answered before")
    mutating func lost() {
        request(1, answer: 1)
        request(2)
        request(2, answer: 2, status: 503)
        request(3, answer: 3)
        #expect(record.lost == [2] && record.waiting == 1 && record.open(of: Self.device) == 1)
    }

    @Test("a message that was not accepted need not arrive")
    mutating func unaccepted() {
        for number in 1...3 { request(number, answer: number) }
        _ = record.send(to: Self.device)
        #expect(isFaultless && record.waiting == 0)
    }

    @Test(
        "a message after a later one for its device is out of order, also if Apple has refused the later one")
    mutating func reordered() {
        request(2, answer: 1, status: 503)
        request(1, answer: 2)
        #expect(record.reordered == [1])
    }

    @Test("a second request is a duplicate if the daemon has read the first answer")
    mutating func duplicated() {
        request(1, answer: 1)
        proven(1, 1)
        open(2)
        request(1, 2, answer: 1)
        #expect(record.duplicated == [1] && record.repeatedUnread + record.repeatedAfterKill == 0)
    }

    @Test("a later message for the device shows that the daemon has read the answer")
    mutating func next() {
        request(1, answer: 1)
        request(2, answer: 2)
        open(2)
        request(1, 2, answer: 1)
        #expect(record.duplicated == [1] && record.reordered == [1])
    }

    @Test("a second request is none if the daemon may not have read the answer, or was killed")
    mutating func repeated() {
        request(1, answer: 1)
        proven(1, 0)
        open(2)
        request(1, 2, answer: 1)
        proven(2, 1)
        record.killDaemon()
        record.read(["event": "listening"])
        open(1)
        request(1, answer: 1)
        request(2, answer: 2, status: 413)
        request(3, answer: 3)
        #expect(
            isFaultless && record.repeatedUnread == 1 && record.repeatedAfterKill == 1
                && record.refusedByApple == 1)
    }

    @Test("a message is unknown that was not sent, or to another device")
    mutating func unknown() {
        request(4, answer: 1)
        request(1, answer: 2, device: AppleBench.deviceToken("00", 2))
        #expect(record.unknown.count == 2)
    }

    @Test("a refusal of the daemon is recorded unless Apple has refused the message for good")
    mutating func refused() {
        let numbers = (0..<2).map { _ in record.send(to: Self.device) }
        request(numbers[0], answer: 1, status: 413)
        for number in numbers { record.refuse(number, "Unavailable") }
        #expect(record.refused == ["5: Unavailable"])
    }
}

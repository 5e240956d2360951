import Basics
import BasicsSupport
import Glibc
import Testing
import Transport
import Wire

@testable import Operator
@testable import Server

/// The file of operator commands: it keeps what was done, across restarts, torn lines and rotations.
@Suite("Audit log") struct AuditLogTests {
    private static let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))

    private func record(
        _ operation: any OperatorCommand.Type, _ arguments: JSONValue, problem: String? = nil
    ) throws -> OperatorRecord {
        let request = try operation.init(arguments: arguments)
        return OperatorRecord(
            request, problem.map { .refused(OperatorProblem($0)) } ?? .done("ok"), seal: Self.seal)
    }

    private func append(_ log: AuditLog, _ sender: Int, user: UInt32 = 7, problem: String? = nil) throws {
        log.append(
            try record(RemoveSender.self, ["sender_id": .integer(sender)], problem: problem),
            .process(user: user, id: 9), now: UnixMilliseconds(sender) * 1_000)
    }

    private func page(_ log: AuditLog, _ command: ListAuditLog = ListAuditLog()) throws -> ListAuditLog.Answer
    {
        try log.reading { (paths) throws(TransportError) in try AuditLogReader.answer(command, in: paths) }
    }

    @Test("commands are kept with caller, arguments and result, also for the next process")
    func kept() throws {
        let folder = try ServerFolder()
        let log = AuditLog(folder: folder.path, log: .silent)
        #expect(try page(log).entries.isEmpty, "without a file there are no entries")
        try append(log, 1)
        try append(log, 2, problem: "unknown sender 2")
        let next = AuditLog(folder: folder.path, log: .silent)
        try append(next, 3)
        let entries = try page(next).entries
        #expect(entries.map(\.number) == [1, 2, 3])
        #expect(entries.map(\.arguments) == ["sender=1", "sender=2", "sender=3"])
        #expect(entries.map(\.result) == ["ok", "refused", "ok"] && entries[1].problem == "unknown sender 2")
        #expect(entries[0].user == "7" && entries[0].process == "9" && entries[0].time == 1_000)
        #expect(entries[0].command == RemoveSender.summary.name)
        var status = stat()
        #expect(stat("\(folder.path)/audit.log", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("pages go back in time, and conditions select entries")
    func conditions() throws {
        let folder = try ServerFolder()
        defer { withExtendedLifetime(folder) {} }
        let log = AuditLog(folder: folder.path, log: .silent)
        for sender in 1...9 {
            try append(log, sender, user: sender > 5 ? 0 : 7, problem: sender == 3 ? "no" : nil)
        }
        log.append(try record(ReloadConfiguration.self, [:]), .local, now: 99_000)
        func numbers(_ command: ListAuditLog) throws -> [Int] { try page(log, command).entries.map(\.number) }
        let newest = try page(log, ListAuditLog(limit: 4))
        #expect(newest.entries.map(\.number) == [7, 8, 9, 10] && newest.nextBefore == 7)
        #expect(try numbers(ListAuditLog(limit: 4, before: 7)) == [3, 4, 5, 6])
        let oldest = try page(log, ListAuditLog(limit: 4, before: 3))
        #expect(oldest.entries.map(\.number) == [1, 2] && oldest.nextBefore == nil)
        #expect(try numbers(ListAuditLog(command: "reload")) == [10])
        #expect(try numbers(ListAuditLog(command: "senders", user: "0")) == [6, 7, 8, 9])
        #expect(try numbers(ListAuditLog(command: "sender")).isEmpty, "not a whole word")
        #expect(try numbers(ListAuditLog(since: 8_000)) == [8, 9, 10])
        #expect(try numbers(ListAuditLog(isFailed: true)) == [3])
    }

    @Test("a torn line is left alone, counted, and ended before the next entry")
    func torn() throws {
        let folder = try ServerFolder()
        try append(AuditLog(folder: folder.path, log: .silent), 1)
        try folder.run("printf '{\"number\":2,\"ti' >> audit.log")
        let log = AuditLog(folder: folder.path, log: .silent)
        try append(log, 2)
        let answer = try page(log)
        #expect(answer.entries.map(\.number) == [1, 2] && answer.unreadable == 1)
    }

    @Test("the file is rotated at its limit, numbers go on, and the oldest file is removed")
    func rotation() throws {
        let folder = try ServerFolder()
        let log = AuditLog(folder: folder.path, limit: 1_000, log: .silent)
        for sender in 1...60 { try append(log, sender) }
        let numbers = try page(log).entries.map(\.number)
        #expect(numbers.last == 60 && numbers == Array((numbers.first ?? 0)...60), "\(numbers)")
        #expect(numbers.count > 20 && numbers.count < 60, "the oldest were removed: \(numbers.count)")
        for (name, exists) in [("audit.log", true), ("audit.log.4", true), ("audit.log.5", false)] {
            var status = stat()
            #expect((stat("\(folder.path)/\(name)", &status) == 0) == exists, "\(name)")
            #expect(!exists || status.st_size <= 1_000, "\(name)")
        }
        let next = AuditLog(folder: folder.path, limit: 1_000, log: .silent)
        try append(next, 61)
        #expect(try page(next).entries.last?.number == 61)
    }

    @Test("a removed or renamed file is made again, and one that cannot be opened is only reported")
    func replaced() throws {
        let folder = try ServerFolder()
        let log = AuditLog(folder: folder.path, log: .silent)
        try append(log, 1)
        try folder.run("mv audit.log audit.log.1")
        try append(log, 2)
        #expect(try page(log).entries.map(\.number) == [1, 2])
        try folder.run("rm audit.log; mkdir audit.log")
        try append(log, 3)
        try folder.run("rmdir audit.log")
        try append(log, 4)
        #expect(try page(log).entries.map(\.arguments) == ["sender=1", "sender=4"], "canary: 3 is lost")
    }

    @Test("commands that change or export data are kept, done or refused; those that only read are not")
    func selection() throws {
        #expect(try record(RemoveSender.self, ["sender_id": 5]).isKept)
        #expect(try record(RemoveSender.self, ["sender_id": 5], problem: "no").isKept)
        #expect(try record(ExportRecords.self, ["part": "senders"]).isKept, "it has the digests of all keys")
        let reading: [any OperatorCommand.Type] = [
            ListSenders.self, ListVirtualDevices.self, ListAuditLog.self, ListFaults.self,
        ]
        for operation in reading {
            #expect(try !record(operation, [:]).isKept, "\(operation)")
            #expect(try !record(operation, [:], problem: "no").isKept, "\(operation)")
            #expect(OperatorRecord(refused: operation, OperatorProblem("no")).isKept, "a role: \(operation)")
        }
    }

    @Test("refusals of one caller are recorded up to the limit of a minute, and the others as one number")
    func refusals() throws {
        let folder = try ServerFolder()
        defer { withExtendedLifetime(folder) {} }
        let log = AuditLog(folder: folder.path, log: .silent)
        let records = CommandRecords(log: .silent, auditLog: log)
        let limit = Limits.OperatorAPI.recordedRefusals
        let (victor, other) = (
            ControlCaller.operator(name: "victor", address: "::1"),
            ControlCaller.operator(name: "viola", address: "::1")
        )
        let start = Now.read()
        func time(_ seconds: Int) -> Now {
            Now(monotonic: start.monotonic.advanced(seconds: seconds), wall: start.wall)
        }
        let refused = try record(RemoveSender.self, ["sender_id": 5], problem: "no")
        for _ in 0..<(limit + 1_000) { records.record(refused, victor, now: time(0)) }
        records.record(refused, other, now: time(1))
        records.record(try record(RemoveSender.self, ["sender_id": 5]), victor, now: time(2))
        let all = ListAuditLog(limit: 1_000)
        #expect(try page(log, all).entries.count == limit + 2)
        #expect(try page(log, all).entries.last?.result == "ok", "what is done is never left out")
        records.reportLeftOut(now: time(Limits.OperatorAPI.refusalSeconds - 1))
        #expect(try page(log, all).entries.count == limit + 2)
        records.record(refused, victor, now: time(Limits.OperatorAPI.refusalSeconds))
        let last = try page(log, all).entries.suffix(2)
        #expect(last.map(\.command) == ["several", "senders remove"] && last.first?.user == "victor")
        #expect(last.first?.problem.hasPrefix("1000 more refused within 60 s") == true, "\(last)")
        // Refused commands that only read are limited in the log too, and leave the audit log alone.
        let reading = try record(ListSenders.self, [:], problem: "no")
        for _ in 0..<(2 * limit) { records.record(reading, other, now: time(200)) }
        records.reportLeftOut(now: time(300), isEnd: true)
        #expect(try page(log, all).entries.count == limit + 4)
    }
}

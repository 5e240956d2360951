import Basics
import Delivery
import Glibc
import History
import Testing
import Transport

@testable import Server

/// The files of the history: what a stop, a kill and the limits leave, and a disk that fails.
@Suite struct HistoryFilesTests {
    private static let start: UnixMilliseconds = 1_700_000_000_000

    private func batch(
        _ numbers: ClosedRange<Int>, at time: UnixMilliseconds = start, detail: String = ""
    ) -> HistoryBatch {
        var batch = HistoryBatch()
        for number in numbers {
            var step = HistoryStep(.downstream, .stored, sequence: UInt64(number), at: time)
            step.device = 7
            step.salt = 1
            batch.append(step, id: Array("m-\(number)".utf8), detail: detail)
        }
        return batch
    }

    private func isFound(_ number: Int, in files: HistoryFiles) -> Bool {
        var search = HistorySearch(files.sources())
        return search.messages(MessageName(Array("m-\(number)".utf8)), limit: 1).messages.count == 1
    }

    private func open(
        _ folder: ServerFolder, hours: Int = 24, bytes: Int = 1 << 30, after milliseconds: Int64 = 0
    ) throws -> HistoryFiles {
        try HistoryFiles(
            folder: folder.path + "/history", keeping: .init(hours: hours, bytes: bytes),
            now: Self.start + milliseconds)
    }

    private func names(_ folder: String) -> Int {
        ((try? SmallFolder.names(folder)) ?? []).count
    }

    @Test func aStopLeavesCompleteFilesAndNoGap() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5), now: Self.start)
        #expect(isFound(3, in: files))
        try files.finish()
        let next = try open(folder)
        #expect(next.missingFrom == nil)
        #expect(isFound(3, in: next))
        // Nothing was recorded: no file is left.
        try next.finish()
        #expect(names(folder.path + "/history") == 1)
    }

    @Test func aKillLeavesWhatWasWrittenAndAGap() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5, at: Self.start + 10), now: Self.start)
        let next = try open(folder, after: 60_000)
        #expect(next.missingFrom == Self.start + 10)
        #expect(isFound(5, in: next))
        // A process that was killed before its first step.
        let third = try open(folder, after: 90_000)
        #expect(third.missingFrom == Self.start + 60_000)
        #expect(isFound(5, in: third))
    }

    @Test func theEndOfATornFileIsLeftOut() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5), now: Self.start)
        try files.append(batch(6...9), now: Self.start)
        try folder.run("truncate -s -3 history/1.history")
        let next = try open(folder)
        #expect(isFound(5, in: next))
        #expect(!isFound(6, in: next))
        try next.append(batch(10...11), now: Self.start)
        #expect(isFound(11, in: next))
    }

    @Test func foreignFilesStay() throws {
        let folder = try ServerFolder()
        let path = folder.path + "/history"
        try folder.run("mkdir history && echo x > history/notes && echo y > history/5.history")
        _ = try open(folder)
        try folder.run("test -e history/notes && test ! -e history/5.history")
        HistoryFiles.removeAll(in: path)
        try folder.run("test -e history/notes && test ! -e history/6.history")
    }

    @Test func wholeFilesAreDroppedOldestFirst() throws {
        let folder = try ServerFolder()
        let files = try open(folder, hours: 8)
        let hour: UnixMilliseconds = 3_600_000
        for number in 1...30 {
            let now = Self.start + UnixMilliseconds(number) * hour
            try files.append(batch(number...number, at: now), now: now)
            try files.sweep(now)
            // A file of an hour is an eighth of the time: what is older by a file than the limit is gone.
            for old in 1...number {
                #expect(isFound(old, in: files) || old < number - 8, "\(old) at \(number)")
                #expect(!isFound(old, in: files) || old >= number - 10, "\(old) at \(number)")
            }
        }
        try files.finish()
        let bytes = files.bytes
        let next = try open(folder, hours: 800, bytes: bytes / 2, after: 31 * hour)
        try next.sweep(Self.start + 31 * hour)
        #expect(next.bytes <= bytes / 2 && isFound(30, in: next))
    }

    @Test func nothingIsTooOldWhileTheClockIsInDoubt() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5), now: Self.start)
        try files.finish()
        let month = Int64(30 * 86_400_000)
        let wrong = try open(folder, after: month)
        wrong.isClockInDoubt = true
        try wrong.sweep(Self.start + month)
        try wrong.append(batch(6...7), now: Self.start + month)
        #expect(isFound(3, in: wrong) && isFound(6, in: wrong))
        wrong.isClockInDoubt = false
        try wrong.sweep(Self.start + month)
        #expect(!isFound(3, in: wrong), "canary: it is too old")
    }

    @Test func aFullFileIsFollowedByTheNext() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        let detail = String(repeating: "x", count: 240)
        for round in 0..<5 {
            try files.append(batch(round * 9_000...round * 9_000 + 8_999, detail: detail), now: Self.start)
        }
        #expect(names(folder.path + "/history") == 2)
        for number in [0, 1, 8_999, 9_000, 44_999] { #expect(isFound(number, in: files)) }
    }

    @Test func aSmallLimitIsKept() throws {
        let folder = try ServerFolder()
        let limit = 4 * Limits.History.leastFileBytes
        let files = try open(folder, bytes: limit)
        let detail = String(repeating: "x", count: 240)
        for round in 0..<100 {
            try files.append(batch(round * 100...round * 100 + 99, detail: detail), now: Self.start)
            // The one that is being written may be as large as the least file, and a block larger.
            let most = limit + Limits.History.leastFileBytes + Limits.History.mostBlockBytes
            #expect(files.bytes <= most, "round \(round)")
        }
        #expect(isFound(9_999, in: files) && !isFound(0, in: files))
        #expect(names(folder.path + "/history") > 2, "canary: it has several files")
    }

    @Test func aFolderThatWasRemovedIsNoticed() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5), now: Self.start)
        try folder.run("rm -r history")
        #expect(throws: TransportError.self) { try files.sweep(Self.start) }
        let next = try open(folder)
        try next.append(batch(6...7), now: Self.start)
        try next.sweep(Self.start)
        #expect(isFound(7, in: next) && !isFound(5, in: next))
    }

    // MARK: The writer

    private func writer(_ folder: String, _ port: HistoryPort) throws -> Metrics {
        let metrics = MetricWriter.metrics(reactors: 1)
        nonisolated(unsafe) let writer = HistoryWriter(
            port: port, folder: folder, clock: ClockStatus(), metrics: metrics[.history],
            log: Log(level: .error) { _ in })
        try Threads.start(name: "history") { writer.run() }
        try Threads.start(name: "reader") { port.answerQuestions {} }
        return metrics
    }

    private func ask(_ port: HistoryPort, for id: String) -> (messages: Int, gaps: [HistoryGap])? {
        var filter = HistoryFilter()
        filter.name = MessageName(Array(id.utf8))
        let latch = Latch<HistoryResult?>()
        let request = HistoryRequest.list(HistoryList(filter, limit: 1), before: nil, after: nil)
        guard HistoryDesk(port: port, cluster: nil).ask(request, then: { latch.fulfil($0) }),
            let result = latch.wait() ?? nil, case .list(let records, _, _, _) = result.content
        else { return nil }
        return (records.count, result.cover.gaps)
    }

    @Test func aQuestionSeesWhatWasPostedBefore() throws {
        let folder = try ServerFolder()
        let port = HistoryPort(.init(hours: 24, bytes: 1 << 30))
        _ = try writer(folder.path + "/history", port)
        port.post(batch(1...5), at: Now.read().monotonic)
        #expect(ask(port, for: "m-4")?.messages == 1)
        port.stop()
        #expect(ask(port, for: "m-4") == nil)
    }

    /// Returns how many messages were accepted, and since when is counted.
    private func hours(_ port: HistoryPort) -> (accepted: Int, since: UnixMilliseconds?)? {
        let latch = Latch<HistoryResult?>()
        guard HistoryDesk(port: port, cluster: nil).ask(.hours(from: 0), then: { latch.fulfil($0) }),
            let result = latch.wait() ?? nil, case .sums(let sums) = result.content
        else { return nil }
        return (sums.days.reduce(0) { $0 + $1.counts[.accepted] }, sums.completeSince)
    }

    @Test func countsByHourOutliveAStopAndBeginAnewIfTheyAreDamaged() throws {
        let folder = try ServerFolder()
        let path = folder.path + "/history"
        var since: UnixMilliseconds?
        for (before, change) in [(0, ""), (5, "truncate -s -1 history/hours"), (0, "")] {
            let port = HistoryPort(.init(hours: 24, bytes: 1 << 30))
            _ = try writer(path, port)
            #expect(hours(port)?.accepted == before)
            port.post(batch(1...5), at: Now.read().monotonic)
            let found = hours(port)
            #expect(found?.accepted == before + 5)
            #expect(before == 0 || found?.since == since)
            since = found?.since
            port.stop()
            if !change.isEmpty { try folder.run(change) }
        }
        HistoryFiles.removeAll(in: path)
        #expect((try? SmallFile.read(path + "/hours")) == nil)
    }

    @Test func aFailingDiskLeavesAGapAndStopsNothing() throws {
        let folder = try ServerFolder()
        // A file in the place of the folder.
        try folder.run("touch history")
        let port = HistoryPort(.init(hours: 24, bytes: 1 << 30))
        let metrics = try writer(folder.path + "/history", port)
        port.post(batch(1...5), at: Now.read().monotonic)
        #expect(ask(port, for: "m-4") == nil, "it cannot be read")
        try folder.run("rm history")
        var found: [HistoryGap]?
        // It is tried again after some seconds.
        for _ in 0..<120 where found?.isEmpty ?? true {
            port.post(batch(6...6), at: Now.read().monotonic)
            Threads.sleep(milliseconds: 250)
            found = ask(port, for: "m-4")?.gaps
        }
        #expect(found?.first?.from == Self.start)
        port.stop()
        #expect(metrics.value(.historyLeftOut) >= 5)
        #expect(metrics.value(.historyFailures) >= 1)
    }

    @Test func stepsBeyondTheLimitAreLeftOutAndCounted() {
        let port = HistoryPort(.init(hours: 24, bytes: 1 << 30))
        let many = batch(1...16_000)
        for _ in 0..<20 { port.post(many, at: Now.read().monotonic) }
        let waiting = port.take()
        #expect(waiting.steps == 16 * 16_000)
        #expect(waiting.leftOut?.steps == 4 * 16_000)
        #expect(port.take().steps == 0)
    }

    @Test("canary: what was not appended is not found") func whatWasNotAppendedIsNotFound() throws {
        let folder = try ServerFolder()
        let files = try open(folder)
        try files.append(batch(1...5), now: Self.start)
        #expect(!isFound(6, in: files))
    }

    @Test func aFloodOfRefusalsLeavesRoomForOtherSenders() {
        let start = Instant(nanoseconds: 0)
        var allowance = RefusalAllowance()
        func allowed(_ sender: UInt64, _ tries: Int, at now: Instant) -> Int {
            (0..<tries).count { _ in allowance.allows(SenderID(sender), now) }
        }
        let limit = Limits.History.senderRefusalsPerSecond
        let flood = allowed(1, 10 * limit, at: start)
        let other = allowed(2, 1, at: start.advanced(milliseconds: 999))
        #expect(flood == limit && other == 1)
        let next = start.advanced(seconds: 1)
        let again = allowed(1, 10 * limit, at: next)
        let others = (3..<1_000 as Range<UInt64>).reduce(0) { $0 + allowed($1, 10, at: next) }
        #expect(again == limit && others == Limits.History.refusalsPerSecond - limit)
    }
}

/// The names in a folder.
private enum SmallFolder {
    static func names(_ path: String) throws -> [String] {
        let entries = try #require(opendir(path))
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

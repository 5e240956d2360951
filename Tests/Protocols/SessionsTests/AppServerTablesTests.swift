import Basics
import Testing

@testable import Sessions

@Suite struct AppServerTablesTests {
    @Test("the oldest message IDs are forgotten when the limit is reached", arguments: [1, 2, 63, 200])
    func oldestGo(limit: Int) {
        var ids = AppServerMessageIDs(key: (1, 2), limit: limit)
        let hashes = (0..<limit * 3).map { ids.hash(Array("m\($0)".utf8)) }
        for (at, hash) in hashes.enumerated() {
            #expect(!ids.contains(hash))
            let (isNew, isNewAgain) = (ids.remember(hash), ids.remember(hash))
            #expect(isNew && !isNewAgain && ids.contains(hash))
            if at >= limit { #expect(!ids.contains(hashes[at - limit])) }
            if at + 1 >= limit { #expect(ids.contains(hashes[at + 1 - limit])) }
        }
    }

    @Test("the table of message IDs agrees with a simple model", arguments: 0..<5 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limit = 40
        var ids = AppServerMessageIDs(key: (seed, 9), limit: limit)
        // Few distinct hashes with equal low bits cause long runs.
        let pool = (0..<120 as Range<UInt64>).map { ($0 % 4) << 1 | $0 << 32 | 1 }
        var model: [UInt64] = []
        for _ in 0..<1_000 {
            let hash = pool.randomElement(using: &random) ?? 1
            if Bool.random(using: &random), Bool.random(using: &random) {
                ids.forget(hash)
                if let place = model.firstIndex(of: hash) { model[place] = 0 }
            } else if model.contains(hash) {
                let isNew = ids.remember(hash)
                #expect(!isNew)
            } else {
                let isNew = ids.remember(hash)
                #expect(isNew)
                model.append(hash)
                if model.count > limit { model.removeFirst() }
            }
            let other = pool.randomElement(using: &random) ?? 1
            #expect(
                ids.contains(hash) == model.contains(hash) && ids.contains(other) == model.contains(other))
        }
    }

    @Test("the table of message IDs holds the real limit and replaces the oldest beyond it")
    func realLimit() {
        var ids = AppServerMessageIDs(key: (3, 4))
        let hashes = (0...Limits.AppServer.rememberedMessageIDs).map { ids.hash(Array("\($0)".utf8)) }
        let added = hashes.filter { ids.remember($0) }
        #expect(added == hashes)
        #expect(!ids.contains(hashes[0]))
        #expect(hashes.dropFirst().allSatisfy { ids.contains($0) })
    }

    @Test("request IDs are limited to a window, closed once, and never matched by a late answer")
    func submissions() {
        var submissions = AppServerSubmissions(window: 3)
        let open = (0..<3).map { submissions.open(messageID: [UInt8($0)], to: [], hash: 0) }
        #expect(!submissions.hasRoom && Set(open).count == 3)
        #expect(submissions.close(open[1])?.messageID == [1])
        #expect(submissions.close(open[1]) == nil)
        let next = submissions.open(messageID: [9], to: [], hash: 0)
        #expect(next != open[1])
        #expect(submissions.close(open[1]) == nil)
        #expect(submissions.close(next)?.messageID == [9])
        #expect(submissions.close(77) == nil && submissions.close(.max) == nil)
        #expect(submissions.count == 2)
    }

    private func entry(_ number: UInt64, id: String? = nil) -> AppServerOutstanding.Entry {
        AppServerOutstanding.Entry(
            sequence: SequenceNumber(number), token: [1], messageID: Array((id ?? "u\(number)").utf8))
    }

    @Test("outstanding: an answer finds a message by token and ID, a receipt by ID alone")
    func outstanding() {
        var table = AppServerOutstanding()
        for number in 1...2 as ClosedRange<UInt64> { table.add(message: entry(number)) }
        for number in 5...6 as ClosedRange<UInt64> { table.add(receipt: entry(number)) }
        #expect(table.messageCount == 2, "receipts do not count as messages")
        func answer(_ id: String, to: UInt8) -> AppServerOutstanding.Answered {
            table.removeAnswered(to: [to], messageID: Array(id.utf8))
        }
        #expect(answer("u1", to: 1) == .outstanding(SequenceNumber(1)))
        #expect(answer("u1", to: 1) == .unknown, "answered once")
        #expect(answer("u2", to: 9) == .unknown, "of another device")
        #expect(answer("dr2:u5", to: 9) == .outstanding(SequenceNumber(5)))
        #expect(answer("u6", to: 9) == .outstanding(SequenceNumber(6)))
        #expect(table.messageCount == 1)
    }

    @Test("outstanding: a late answer names the withdrawn message, not a newer one with the same ID")
    func lateAnswer() {
        var table = AppServerOutstanding()
        table.add(message: entry(1))
        table.add(receipt: entry(2, id: "r"))
        let withdrawn = [1, 2, 1].map { (number: UInt64) in table.withdraw(SequenceNumber(number)) }
        #expect(withdrawn == [true, true, false], "each once")
        table.add(message: entry(3, id: "u1"))
        func answer(_ id: String) -> AppServerOutstanding.Answered {
            table.removeAnswered(to: [1], messageID: Array(id.utf8))
        }
        #expect(answer("u1") == .withdrawn && table.messageCount == 1)
        #expect(answer("u1") == .outstanding(SequenceNumber(3)))
        #expect(answer("dr2:r") == .withdrawn && answer("r") == .unknown)
    }

    @Test("a message that is withdrawn and sent again is acknowledged by the next answer")
    func sentAgain() {
        var table = AppServerOutstanding()
        table.add(message: entry(1))
        table.add(receipt: entry(2))
        let withdrawn = [1, 2].map { (number: UInt64) in table.withdraw(SequenceNumber(number)) }
        #expect(withdrawn == [true, true])
        table.add(message: entry(1))
        table.add(receipt: entry(2))
        let answers = ["u1", "u2"].map { table.removeAnswered(to: [1], messageID: Array($0.utf8)) }
        #expect(answers == [.outstanding(SequenceNumber(1)), .outstanding(SequenceNumber(2))])
    }

    @Test("outstanding: the newest withdrawn messages and receipts are remembered, up to their limit")
    func withdrawnLimit() {
        var table = AppServerOutstanding()
        let limit = UInt64(Limits.AppServer.withdrawnRemembered)
        for number in 0...limit {
            table.add(message: entry(number))
            table.add(receipt: entry(1_000 + number))
            let found = [number, 1_000 + number].map { table.withdraw(SequenceNumber($0)) }
            #expect(found == [true, true])
        }
        let found = [0, 1, limit, 1_000, 1_001, 1_000 + limit].map {
            table.removeAnswered(to: [1], messageID: Array("u\($0)".utf8))
        }
        #expect(found == [.unknown, .withdrawn, .withdrawn, .unknown, .withdrawn, .withdrawn])
    }

    @Test("queued messages are returned in their order", arguments: 0..<4 as Range<UInt64>)
    func held(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = AppServerInboundQueue()
        var model: [(String?, [UInt8])] = []
        for step in 0..<500 {
            if model.isEmpty || Bool.random(using: &random) {
                let id = [nil, "", "id\(step)"].randomElement(using: &random) ?? nil
                let text = [UInt8](
                    repeating: UInt8(step & 255), count: Int.random(in: 0...300, using: &random))
                queue.append(text.raw, id: id)
                model.append((id, text))
            } else {
                let (id, text) = model.removeFirst()
                #expect(queue.firstID == id)
                #expect([UInt8](copying: queue.first) == text)
                queue.removeFirst()
            }
            let bytes = model.reduce(0) { $0 + ($1.0?.utf8.count ?? 0) + $1.1.count }
            let isEmpty = queue.isEmpty
            let count = queue.count
            #expect(isEmpty == model.isEmpty && count == bytes)
        }
    }

    @Test("canary: a forgotten message ID is accepted again")
    func canary() {
        var ids = AppServerMessageIDs(key: (1, 2))
        _ = ids.remember(5)
        ids.forget(5)
        #expect(!ids.contains(5))
    }
}

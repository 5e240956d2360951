import Basics
import Delivery
import Operator
import Testing
import Webhooks

@testable import Server

/// A row that cannot be imported is counted and named; only what concerns all rows ends an import.
@Suite("Results of imported rows") struct ImportRowResultTests {
    private static let group = GroupRecord(
        name: GroupName(sender: SenderID(1), number: 1), label: [0x61], members: [], createdAt: 1)

    private func group(_ answer: RequestReply, isKnown: Bool = false) throws -> ImportRowResult {
        try ImportRowResult.group(.reply(requestID: 1, answer), isKnown: isKnown)
    }

    @Test("a group is added or replaced, and each refusal concerns this row alone")
    func groups() throws {
        #expect(try group(.group(Self.group)) == .done(.added))
        #expect(try group(.group(Self.group), isKnown: true) == .done(.replaced))
        #expect(try group(.groupRefused(.labelTaken)) == .done(.differs))
        for refusal in GroupRefusal.allCases where ![.labelTaken, .registryFull].contains(refusal) {
            guard case .refused(nil, let text) = try group(.groupRefused(refusal)) else {
                Issue.record("\(refusal)")
                continue
            }
            #expect(!text.isEmpty)
        }
        #expect(throws: OperatorProblem.self) { try group(.groupRefused(.registryFull)) }
    }

    @Test("rows of a device that the store refuses are counted each, and a full registry ends the import")
    func devices() throws {
        func rows(_ answer: RequestReply) throws -> [ImportRowResult] {
            try ImportRowResult.rows(.reply(requestID: 1, answer), of: "the device", count: 2)
        }
        #expect(try rows(.imported([.added, .unchanged])) == [.done(.added), .done(.unchanged)])
        let refused = try rows(.registrationRefused(.serviceNotAvailable))
        #expect(refused == Array(repeating: .unstored("the device"), count: 2))
        #expect(throws: OperatorProblem.self) { try rows(.registrationRefused(.registryFull)) }
    }

    @Test("problems of rows are in the answer of a page with their lines and fields")
    func page() {
        var page = ImportPage(ImportRecords(rows: [], line: 5, replaces: false), reach: .init())
        page.count(.done(.added), at: 7)
        page.count(.refused(field: "webhook.secrets", "it cannot be encrypted"), at: 6)
        page.count(.done(.differs), at: 5)
        let answer = page.answer(needsRestart: false)
        #expect(answer.added == 1 && answer.problems.map(\.line) == [5, 6])
        #expect(answer.problems.map(\.field) == [nil, "webhook.secrets"])
        #expect(answer.problems.map(\.isConflict) == [true, false])
    }
}

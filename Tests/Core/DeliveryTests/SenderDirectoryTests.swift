import Basics
import Delivery
import Testing

@Suite("the directory of senders")
struct SenderDirectoryTests {
    private func record(_ number: UInt64, _ keys: [String], isSuspended: Bool = false) -> SenderRecord {
        var record = SenderRecord(sender: SenderID(number), label: "", keys: [], createdAt: 0)
        record.accounts = keys.map {
            ServiceAccount(email: "\($0)@a.example", keyID: $0, publicKey: [], createdAt: 0)
        }
        record.isSuspended = isSuspended
        return record
    }

    @Test("a service account is found by the ID of its key, unless its sender is suspended")
    func accounts() {
        let directory = SenderDirectory([
            record(1, ["a", "b"]), record(2, ["c"], isSuspended: true), record(3, ["b"]),
        ])
        let found = ["a", "b", "c", "d"].map { directory.account(withKeyID: $0) }
        #expect(found.map { $0?.sender.sender } == [SenderID(1), SenderID(1), nil, nil])
        #expect(found.map { $0?.account.email } == ["a@a.example", "b@a.example", nil, nil])
    }
}

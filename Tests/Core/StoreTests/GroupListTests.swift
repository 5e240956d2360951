import Basics
import Delivery
import Store
import Testing

/// Lists of groups, for every store.
@Suite struct GroupListTests {
    @Test("A list has groups in order of sender and number, page by page", arguments: Kind.allCases)
    func pages(_ kind: Kind) throws {
        let store = try open(kind).store
        #expect(try store.groups(after: nil, limit: 9).isEmpty)
        let names = [(1, 9), (1, 10), (2, 3), (7, 1), (7, 2)].map {
            GroupName(sender: SenderID($0.0), number: $0.1)
        }
        for name in names.reversed() {
            try store.apply(
                .putGroup(
                    GroupRecord(
                        name: name, label: Array("g\(name.sender.number)-\(name.number)".utf8),
                        members: [
                            TokenName(RegistrationName(device: DeviceID(5), number: RegistrationNumber(1)))
                        ], createdAt: 7)))
        }
        #expect(try store.groups(after: nil, limit: 9).map(\.name) == names)
        for limit in 1...6 {
            var found: [GroupName] = []
            for _ in 0..<9 {
                let page = try store.groups(after: found.last, limit: limit)
                #expect(page.count == min(limit, names.count - found.count))
                found += page.map(\.name)
            }
            #expect(found == names)
        }
        #expect(try store.groups(after: nil, limit: 0).isEmpty)
        #expect(
            try store.groups(after: GroupName(sender: SenderID(1), number: 11), limit: 1).map(\.name)
                == [names[2]])
    }
}

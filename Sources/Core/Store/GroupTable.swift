import Basics
import Delivery

/// Device groups in memory, by name and by label.
struct GroupTable: Sendable {
    private struct Label: Hashable {
        var sender: SenderID
        var text: [UInt8]
    }

    private var groups: [GroupName: GroupRecord] = [:]
    private var labels: [Label: GroupName] = [:]

    var count: Int { groups.count }

    subscript(name: GroupName) -> GroupRecord? { groups[name] }

    /// Returns up to `limit` groups after one, in order of their names.
    func list(after: GroupName?, limit: Int) -> [GroupRecord] {
        let later = groups.keys.filter { name in after.map { $0.precedes(name) } ?? true }
        return later.sorted { $0.precedes($1) }.prefix(max(0, limit)).compactMap { groups[$0] }
    }

    mutating func put(_ group: GroupRecord) {
        groups[group.name] = group
        labels[Label(sender: group.name.sender, text: group.label)] = group.name
    }

    mutating func remove(_ name: GroupName, label: [UInt8]) {
        groups[name] = nil
        labels[Label(sender: name.sender, text: label)] = nil
    }

    func group(of sender: SenderID, label: [UInt8]) -> GroupRecord? {
        labels[Label(sender: sender, text: label)].flatMap { groups[$0] }
    }
}

extension GroupName {
    /// Returns whether a group is before another one in a list.
    func precedes(_ other: GroupName) -> Bool { (sender, number) < (other.sender, other.number) }
}

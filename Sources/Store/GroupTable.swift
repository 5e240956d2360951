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

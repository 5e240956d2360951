import Basics
import Delivery
import Store

/// The rows of a sender in the column family `groups`.
enum GroupRow: UInt8 {
    /// number → group.
    case group = 0
    /// hash of the label → number.
    case label = 1
}

extension Key {
    /// Returns the key of a group.
    static func group(_ name: GroupName) -> Key {
        var key = Key(name.sender.number)
        key.append(GroupRow.group.rawValue)
        key.append(name.number)
        return key
    }

    /// Returns the key of a label. Its hash has 128 bits against collisions, and the record of the group repeats the label.
    static func groupLabel(_ sender: SenderID, _ label: [UInt8]) -> Key {
        let hash = SipHash(key: (0x6363_7364, 0x6c61_6265)).hash128(label.raw)
        var key = Key(sender.number)
        key.append(GroupRow.label.rawValue)
        key.append(hash.0)
        key.append(hash.1)
        return key
    }
}

extension GroupName {
    /// Reads the key of a group. Returns `nil` for any other key.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == 17, key.byte(at: 8) == GroupRow.group.rawValue else { return nil }
        self.init(sender: SenderID(key.bigEndian(at: 0)), number: key.bigEndian(at: 9))
    }

    /// Returns whether a key belongs to a label.
    static func isLabel(_ key: borrowing RawSpan) -> Bool {
        key.byteCount == 25 && key.byte(at: 8) == GroupRow.label.rawValue
    }
}

extension Commit {
    /// Puts a group and its label.
    mutating func put(_ group: GroupRecord) throws(StoreError) {
        try group.demandStorable()
        GroupCodec.write(group, to: &buffer)
        putRecord(.groups, Key.group(group.name).bytes)
        put(
            .groups, Key.groupLabel(group.name.sender, group.label).bytes, Key(group.name.number).bytes)
    }

    /// Removes a group and its label.
    mutating func remove(_ group: GroupName, label: [UInt8]) {
        delete(.groups, Key.group(group).bytes)
        delete(.groups, Key.groupLabel(group.sender, label).bytes)
    }
}

extension SnapshotReader {
    /// Returns a group. Throws `corrupt` if its record cannot be read: the group must not seem absent.
    func group(_ name: GroupName) throws(StoreError) -> GroupRecord? {
        let key = Key.group(name)
        let rows = snapshot.cursor(.groups, from: key)
        defer { try? rows.finish() }
        guard rows.isValid, rows.key.equals(key.bytes) else {
            try rows.finish()
            return nil
        }
        do throws(RecordFault) {
            return try GroupCodec.group(rows.value, name)
        } catch { throw RecordNames.corrupt(.groups, rows.key, error) }
    }

    /// Returns up to `limit` groups after one, in order of their names. A record that cannot be read is skipped.
    mutating func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] {
        let rows = snapshot.cursor(.groups, from: after.map { Key.group($0) })
        var found: [GroupRecord] = []
        while rows.isValid, found.count < limit {
            if let name = GroupName(key: rows.key), name != after {
                if let group = try? GroupCodec.group(rows.value, name) {
                    found.append(group)
                } else {
                    unreadable += 1
                }
            }
            rows.next()
        }
        try rows.finish()
        return found
    }

    /// Returns the group with a label. Returns `nil` if there is none.
    func group(of sender: SenderID, label: [UInt8]) throws(StoreError) -> GroupRecord? {
        let key = Key.groupLabel(sender, label)
        let rows = snapshot.cursor(.groups, from: key)
        guard rows.isValid, rows.key.equals(key.bytes), rows.value.byteCount == 8 else {
            try rows.finish()
            return nil
        }
        let number = rows.value.bigEndian(at: 0)
        try rows.finish()
        let group = try group(GroupName(sender: sender, number: number))
        return group?.label == label ? group : nil
    }
}

import Basics
import Delivery
import Store

/// The rows of the column family `contacts`: an index of the registry by partition, which a partition searches for devices and
/// installations that are no longer used.
enum ContactRow: UInt8 {
    /// device → time of the last contact, and for an unused device since when it has been unused.
    case device = 0
    /// installation → time of the last use.
    case installation = 1
    /// device → empty: it has messages for the APNs gateway.
    case gateway = 2
    /// sender, time, device, number → entry of the feedback list.
    case feedback = 3
    /// time, device, sequence → sender of a scheduled message.
    case schedule = 4
}

extension Key {
    /// Returns the start of a partition's contacts of one kind.
    static func contacts(_ row: ContactRow, of partition: Int) -> Key {
        var key = Key.partition(partition)
        key.append(row.rawValue)
        return key
    }

    /// Returns the first key after them.
    static func contactsEnd(_ row: ContactRow, of partition: Int) -> Key {
        var key = Key.partition(partition)
        key.append(row.rawValue + 1)
        return key
    }

    /// Returns the key of a device in a partition.
    static func contact(_ device: DeviceID, of partition: Int) -> Key {
        var key = Key.contacts(.device, of: partition)
        key.append(device.number)
        return key
    }

    /// Returns the key of an installation in a partition.
    static func contact(_ installation: [UInt8], of partition: Int) -> Key {
        var key = Key.contacts(.installation, of: partition)
        for byte in installation.prefix(InstallationToken.idLength) { key.append(byte) }
        return key
    }
}

extension Commit {
    /// Puts the record of a device and its contact.
    mutating func put(_ record: DeviceRecord) throws(StoreError) {
        try record.demandStorable()
        RegistryRecord.write(record, to: &buffer)
        putRecord(.registry, Key.device(record.device).bytes)
        var times = Key(UInt64(bitPattern: record.seenAt))
        if record.isUnused { times.append(UInt64(bitPattern: record.unusedSince)) }
        put(
            .contacts, Key.contact(record.device, of: partition(of: .device(record.device))).bytes,
            times.bytes)
    }

    /// Removes the record of a device, its contact and its place in the log of topic messages.
    mutating func remove(_ device: DeviceID) {
        delete(.registry, Key.device(device).bytes)
        delete(.registry, Key.position(device).bytes)
        delete(.contacts, Key.contact(device, of: partition(of: .device(device))).bytes)
    }

    /// Puts the record of an installation and its contact.
    mutating func put(_ record: InstallationRecord) throws(StoreError) {
        try record.demandStorable()
        InstallationCodec.write(record, to: &buffer)
        putRecord(.installations, Key.installation(record.id, nil).bytes)
        put(
            .contacts, Key.contact(record.id, of: partition(of: .installation(record.id))).bytes,
            Key(UInt64(bitPattern: record.usedAt)).bytes)
    }

    /// Removes the record of an installation and its contact.
    mutating func remove(installation id: [UInt8]) {
        delete(.installations, Key.installation(id, nil).bytes)
        delete(.contacts, Key.contact(id, of: partition(of: .installation(id))).bytes)
    }
}

/// The last contact of a device, from the index.
struct DeviceContact {
    let device: DeviceID
    let seenAt: UnixMilliseconds
    /// `nil` if the device has been used.
    let unusedSince: UnixMilliseconds?

    /// Reads a row. Returns `nil` if it is not a contact of this kind.
    init?(_ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        guard key.byteCount == 11, key.byte(at: 2) == ContactRow.device.rawValue,
            value.byteCount == 8 || value.byteCount == 16
        else { return nil }
        device = DeviceID(key.bigEndian(at: 3))
        seenAt = Int64(bitPattern: value.bigEndian(at: 0))
        unusedSince = value.byteCount == 16 ? Int64(bitPattern: value.bigEndian(at: 8)) : nil
    }
}

/// The last use of an installation, from the index.
struct InstallationContact {
    let id: [UInt8]
    let usedAt: UnixMilliseconds

    /// Reads a row. Returns `nil` if it is not a contact of this kind.
    init?(_ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        guard key.byteCount == 3 + InstallationToken.idLength,
            key.byte(at: 2) == ContactRow.installation.rawValue, value.byteCount == 8
        else { return nil }
        id = [UInt8](copying: key.extracting(3..<key.byteCount))
        usedAt = Int64(bitPattern: value.bigEndian(at: 0))
    }
}

extension SnapshotReader {
    /// Returns the devices of a partition that were last seen before a time, or unused since before another.
    mutating func unseen(
        before: UnixMilliseconds, unusedBefore: UnixMilliseconds, from start: DeviceID, examine: Int,
        limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let rows = snapshot.cursor(
            .contacts, from: Key.contact(start, of: partition),
            before: Key.contactsEnd(.device, of: partition))
        var found: [DeviceID] = []
        var examined = 0
        var next: DeviceID?
        while rows.isValid {
            if let contact = DeviceContact(rows.key, rows.value),
                PartitionKey.device(contact.device).partition(of: snapshot.partitions) == partition
            {
                guard examined < examine, found.count < limit else {
                    next = contact.device
                    break
                }
                let isUnused = contact.unusedSince.map { $0 < unusedBefore } ?? false
                if contact.seenAt < before || isUnused { found.append(contact.device) }
            } else {
                unreadable += 1
            }
            examined += 1
            rows.next()
        }
        try rows.finish()
        return .unseen(found, next: next)
    }

    /// Returns the installations of a partition that have not been used for too long, and where the search continues.
    mutating func unusedInstallations(
        _ before: UnixMilliseconds, _ unlinkedBefore: UnixMilliseconds, from start: [UInt8], _ examine: Int,
        _ limit: Int, of partition: Int
    ) throws(StoreError) -> ([[UInt8]], next: [UInt8]?) {
        let rows = snapshot.cursor(
            .contacts, from: Key.contact(start, of: partition),
            before: Key.contactsEnd(.installation, of: partition))
        var found: [[UInt8]] = []
        var examined = 0
        while rows.isValid {
            if let contact = InstallationContact(rows.key, rows.value),
                PartitionKey.installation(contact.id).partition(of: snapshot.partitions) == partition
            {
                guard examined < examine, found.count < limit else { return (found, contact.id) }
                if contact.usedAt < max(before, unlinkedBefore),
                    contact.usedAt < (try isLinked(contact.id) ? before : unlinkedBefore)
                {
                    found.append(contact.id)
                }
            } else {
                unreadable += 1
            }
            examined += 1
            rows.next()
        }
        try rows.finish()
        return (found, nil)
    }

    /// Returns whether an installation has registrations. Their rows follow its record.
    private func isLinked(_ id: [UInt8]) throws(StoreError) -> Bool {
        let first = RegistrationName(device: .lowest, number: RegistrationNumber(0))
        let last = RegistrationName(device: DeviceID(.max), number: RegistrationNumber(.max))
        let rows = snapshot.cursor(
            .installations, from: Key.installation(id, first), before: Key.installation(id, last))
        let isLinked = rows.isValid
        try rows.finish()
        return isLinked
    }
}

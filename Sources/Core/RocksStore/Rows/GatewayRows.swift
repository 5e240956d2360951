import Basics
import Delivery
import Store

/// The rows of the column family `contacts` that the APNs gateway needs: marked devices, and the feedback list.
extension Key {
    /// Returns the key of the mark of a device in a partition.
    static func gatewayMark(_ device: DeviceID, of partition: Int) -> Key {
        var key = Key.contacts(.gateway, of: partition)
        key.append(device.number)
        return key
    }

    /// Returns the key of an entry of a sender's feedback list in a partition. Without a name it is before all of its time.
    static func feedback(
        _ sender: SenderID, _ seenAt: UnixMilliseconds, _ name: RegistrationName?, of partition: Int
    ) -> Key {
        var key = Key.contacts(.feedback, of: partition)
        key.append(sender.number)
        // No entry is older than 1970: a negative time would be after all others.
        key.append(UInt64(max(0, seenAt)))
        if let name {
            key.append(name.device.number)
            key.append(name.number.number)
        }
        return key
    }
}

extension Commit {
    /// Marks a device that has messages for the gateway.
    mutating func markForGateway(_ device: DeviceID) { put(.contacts, mark(device).bytes, Key().bytes) }

    /// Removes the mark of a device.
    mutating func unmarkForGateway(_ device: DeviceID) { delete(.contacts, mark(device).bytes) }

    /// Adds an entry of the feedback list.
    mutating func put(_ entry: APNsFeedback) {
        APNsRecord.write(entry, to: &buffer)
        putRecord(.contacts, key(entry).bytes)
    }

    /// Removes an entry of the feedback list.
    mutating func remove(_ entry: APNsFeedback) { delete(.contacts, key(entry).bytes) }

    private func mark(_ device: DeviceID) -> Key {
        Key.gatewayMark(device, of: partition(of: .device(device)))
    }

    private func key(_ entry: APNsFeedback) -> Key {
        Key.feedback(
            entry.sender, entry.seenAt, entry.registration,
            of: partition(of: .device(entry.registration.device)))
    }
}

/// A row for the gateway.
enum GatewayRow {
    case mark(DeviceID)
    case feedback(APNsFeedback)

    /// Reads a row. Returns `nil` if it is of another kind; throws if it cannot be read.
    init?(_ key: borrowing RawSpan, _ value: borrowing RawSpan) throws(RecordFault) {
        guard key.byteCount >= 11 else { return nil }
        switch key.byte(at: 2) {
        case ContactRow.gateway.rawValue:
            guard key.byteCount == 11 else { throw .length }
            self = .mark(DeviceID(key.bigEndian(at: 3)))
        case ContactRow.feedback.rawValue:
            guard key.byteCount == 35 else { throw .length }
            let feedback = try APNsRecord.feedback(
                value, sender: SenderID(key.bigEndian(at: 3)),
                seenAt: Int64(bitPattern: key.bigEndian(at: 11)),
                RegistrationName(key: key, at: 19))
            self = .feedback(feedback)
        default: return nil
        }
    }

    /// The device whose partition owns the row.
    var device: DeviceID {
        switch self {
        case .mark(let device): device
        case .feedback(let entry): entry.registration.device
        }
    }
}

extension SnapshotReader {
    /// Returns a message for the gateway.
    mutating func gatewayMessage(
        _ device: DeviceID, _ sequence: SequenceNumber, _ recent: RecentPart
    ) throws(StoreError) -> StoreResult {
        guard sequence.number > 0,
            case .messages(_, let page, _) = try messages(
                device, after: SequenceNumber(sequence.number - 1), limit: 1, recent)
        else { return .gatewayMessage(device, sequence, nil) }
        return .gatewayMessage(device, sequence, page.first { $0.sequence == sequence })
    }

    /// Returns marked devices of a partition.
    mutating func gatewayDevices(
        from start: DeviceID, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let rows = snapshot.cursor(
            .contacts, from: Key.gatewayMark(start, of: partition),
            before: Key.contactsEnd(.gateway, of: partition))
        var found: [DeviceID] = []
        var next: DeviceID?
        while rows.isValid, next == nil {
            if case .mark(let device)? = try? GatewayRow(rows.key, rows.value),
                PartitionKey.device(device).partition(of: snapshot.partitions) == partition
            {
                if found.count < limit { found.append(device) } else { next = device }
            } else {
                unreadable += 1
            }
            rows.next()
        }
        try rows.finish()
        return .gatewayDevices(found, next: next)
    }

    /// Returns entries of a sender's feedback list after a position, from all partitions.
    mutating func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback] {
        var entries: [APNsFeedback] = []
        for partition in 0..<snapshot.partitions {
            let rows = snapshot.cursor(
                .contacts, from: Key.feedback(sender, after.seenAt, after.registration, of: partition),
                before: Key.feedback(sender, .max, nil, of: partition))
            var taken = 0
            while rows.isValid, taken < limit {
                if case .feedback(let entry)? = try? GatewayRow(rows.key, rows.value) {
                    if FeedbackPosition(entry) > after {
                        entries.append(entry)
                        taken += 1
                    }
                } else {
                    unreadable += 1
                }
                rows.next()
            }
            try rows.finish()
        }
        return Array(entries.sorted { FeedbackPosition($0) < FeedbackPosition($1) }.prefix(max(0, limit)))
    }
}

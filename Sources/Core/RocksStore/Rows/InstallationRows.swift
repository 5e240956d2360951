import Basics
import Delivery
import Store

extension SnapshotReader {
    /// Returns the record of an installation and its registrations, whose rows follow the record.
    ///
    /// Throws `corrupt` if the record cannot be read: without it anyone could claim the ID.
    func installation(
        _ id: [UInt8], limit: Int
    ) throws(StoreError) -> (InstallationRecord?, [RegistrationName]) {
        let last = RegistrationName(device: DeviceID(.max), number: RegistrationNumber(.max))
        let rows = snapshot.cursor(
            .installations, from: Key.installation(id, nil), before: Key.installation(id, last))
        var record: InstallationRecord?
        var names: [RegistrationName] = []
        while rows.isValid, names.count < limit {
            if rows.key.byteCount == id.count {
                do throws(RecordFault) {
                    record = try InstallationCodec.installation(rows.value, id)
                } catch { throw RecordNames.corrupt(.installations, rows.key, error) }
            } else if rows.key.byteCount == id.count + 16 {
                names.append(RegistrationName(key: rows.key, at: id.count))
            }
            rows.next()
        }
        try rows.finish()
        return (record, names)
    }

    /// Returns up to `limit` installations after one, each with the number of its registrations, whose rows follow the record.
    mutating func installations(
        after: [UInt8]?, limit: Int
    ) throws(StoreError) -> [ListedInstallation] {
        guard limit > 0 else { return [] }
        let rows = snapshot.cursor(.installations, from: Key.installation(after ?? [], nil))
        var found: [ListedInstallation] = []
        while rows.isValid {
            let length = rows.key.byteCount
            let id = [UInt8](copying: rows.key.extracting(0..<min(length, InstallationToken.idLength)))
            if id == after {
                rows.next()
                continue
            }
            if length == InstallationToken.idLength {
                guard found.count < limit else { return found }
                if let record = try? InstallationCodec.installation(rows.value, id) {
                    found.append(ListedInstallation(record: record, registrations: 0))
                } else {
                    unreadable += 1
                }
            } else if found.last?.record.id == id {
                found[found.count - 1].registrations += 1
            }
            rows.next()
        }
        try rows.finish()
        return found
    }

    /// Returns installations that have not been used for too long, and where the search continues.
    mutating func unusedInstallations(
        _ before: UnixMilliseconds, _ unlinkedBefore: UnixMilliseconds, from start: [UInt8], _ examine: Int,
        _ limit: Int
    ) throws(StoreError) -> ([[UInt8]], next: [UInt8]?) {
        let rows = snapshot.cursor(.installations, from: Key.installation(start, nil))
        var found: [[UInt8]] = []
        var examined = 0
        while rows.isValid {
            let isRecord = rows.key.byteCount == InstallationToken.idLength
            let id = [UInt8](
                copying: rows.key.extracting(0..<min(rows.key.byteCount, InstallationToken.idLength)))
            if examined >= examine || found.count >= limit, isRecord { return (found, id) }
            let record = isRecord ? try? InstallationCodec.installation(rows.value, id) : nil
            if isRecord, record == nil { unreadable += 1 }
            rows.next()
            examined += 1
            guard let record else { continue }
            // The rows of its registrations follow the record.
            let isLinked =
                rows.isValid && rows.key.byteCount > id.count
                && rows.key.extracting(0..<id.count).equals(id.raw)
            if record.usedAt < (isLinked ? before : unlinkedBefore) { found.append(id) }
        }
        try rows.finish()
        return (found, nil)
    }
}

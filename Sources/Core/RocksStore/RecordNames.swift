import Basics
import Delivery
import Store

/// Names of records in errors.
enum RecordNames {
    /// Returns the name of a record and what is wrong with it, such as `pending/17/1700000000000000: wrong checksum`.
    static func name(_ family: Family, _ key: borrowing RawSpan, _ fault: String) -> String {
        var text = ""
        switch family {
        case .pending, .upstream:
            if key.byteCount == 16 { text = "\(key.bigEndian(at: 0))/\(key.bigEndian(at: 8))" }
        case .registry:
            switch RegistryRow(key) {
            case .device(let device), .position(let device): text = "\(device.number)"
            case .subscription(let name, let sender, let topic):
                text =
                    "\(name.device.number)/\(name.number.number)/\(sender.number)/"
                    + String(decoding: topic.bytes, as: UTF8.self)
            case .registration(let name): text = "\(name.device.number)/\(name.number.number)"
            case nil: break
            }
        case .groups:
            if let name = GroupName(key: key) { text = "\(name.sender.number)/\(name.number)" }
        case .senders: if key.byteCount == 8 { text = "\(key.bigEndian(at: 0))" }
        case .fanouts:
            if let name = TopicMessageName(key: key) {
                text = "\(name.sender.number)/\(name.sequence.number)"
            }
            if let place = SequenceNumber(key: key) { text = "\(key.partition ?? 0)/\(place.number)" }
        case .meta: text = String(decoding: [UInt8](copying: key), as: UTF8.self)
        case .seen, .expiry, .topics, .installations, .contacts: break
        }
        if text.isEmpty {
            var hex = ByteBuffer()
            for at in 0..<key.byteCount { Hex.append(key.byte(at: at), to: &hex) }
            text = String(decoding: hex.copied(), as: UTF8.self)
        }
        return "\(family == .meta ? "meta" : "\(family.name)")/\(text): \(fault)"
    }

    /// Returns the failure of a load that needs an unreadable record.
    static func corrupt(_ family: Family, _ key: borrowing RawSpan, _ fault: RecordFault) -> StoreError {
        StoreError(.corrupt, name(family, key, fault.rawValue))
    }
}

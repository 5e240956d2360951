import Basics
import Delivery
import Store

/// What records are called when they cannot be read.
enum RecordNames {
    /// A record and what is wrong with it, such as `pending/17/1700000000000000: wrong checksum`.
    static func name(_ family: Family, _ key: borrowing RawSpan, _ fault: String) -> String {
        var place = ""
        switch family {
        case .pending, .upstream:
            if key.byteCount == 16 { place = "\(key.bigEndian(at: 0))/\(key.bigEndian(at: 8))" }
        case .registry:
            switch RegistryRow(key) {
            case .device(let device): place = "\(device.number)"
            case .subscription(let name, let sender, let topic):
                place =
                    "\(name.device.number)/\(name.number.number)/\(sender.number)/"
                    + String(decoding: topic.bytes, as: UTF8.self)
            case .registration(let name): place = "\(name.device.number)/\(name.number.number)"
            case nil: break
            }
        case .groups:
            if let name = GroupName(key: key) { place = "\(name.sender.number)/\(name.number)" }
        case .senders: if key.byteCount == 8 { place = "\(key.bigEndian(at: 0))" }
        case .fanouts:
            if key.byteCount >= 19 { place = "\(key.bigEndian(at: 3))/\(key.bigEndian(at: 11))" }
        case .meta: place = String(decoding: [UInt8](copying: key), as: UTF8.self)
        case .seen, .expiry, .topics, .installations, .contacts: break
        }
        if place.isEmpty {
            var hex = ByteBuffer()
            for at in 0..<key.byteCount { Hex.append(key.byte(at: at), to: &hex) }
            place = String(decoding: hex.copied(), as: UTF8.self)
        }
        return "\(family == .meta ? "meta" : "\(family.name)")/\(place): \(fault)"
    }

    /// The failure of a load that met such a record.
    static func corrupt(_ family: Family, _ key: borrowing RawSpan, _ fault: RecordFault) -> StoreError {
        StoreError(.corrupt, name(family, key, fault.rawValue))
    }
}

import Basics
import Wire

/// The members of a JSON object; of equal keys only the last counts (ccs-xmpp 2.4). Up to 16 members need no allocation.
struct LastMembers: ~Copyable {
    /// A member. Not copyable, since a look into an array of copyable values copies all of it.
    private struct Place: ~Copyable {
        var member = JSONMember.absent
    }

    private(set) var count = 0
    private var few = InlineArray<16, Place> { _ in Place() }
    private var many: [JSONMember] = []

    init(of object: JSONSlice, in reader: borrowing JSONReader) {
        var cursor = reader.begin(object)
        while let member = reader.nextMember(&cursor) {
            if let place = place(of: member, in: reader) {
                few[place].member.value = member.value
            } else if count < few.count {
                few[count].member = member
                count += 1
            } else {
                // A dictionary, since comparing all pairs would let an unauthenticated peer burn CPU time.
                fillMany(object, in: reader)
                return
            }
        }
    }

    @inline(__always)
    subscript(at: Int) -> JSONMember { many.isEmpty ? few[at].member : many[at] }

    /// Returns whether there is a member of that name that is not null.
    func contains(_ name: StaticString, in reader: borrowing JSONReader) -> Bool {
        for at in 0..<count where reader.string(self[at].key, equals: name) {
            return reader.kind(self[at].value) != .null
        }
        return false
    }

    private func place(of member: JSONMember, in reader: borrowing JSONReader) -> Int? {
        let length = member.key.end - member.key.start
        let isPlain = reader.isPlain(member.key)
        for at in 0..<count {
            let other = few[at].member.key
            if isPlain, reader.isPlain(other) {
                guard other.end - other.start == length else { continue }
                if reader.raw(other).equals(reader.raw(member.key)) { return at }
            } else if reader.string(other) == reader.string(member.key) {
                return at
            }
        }
        return nil
    }

    private mutating func fillMany(_ object: JSONSlice, in reader: borrowing JSONReader) {
        var places: [[UInt8]: Int] = [:]
        var cursor = reader.begin(object)
        while let member = reader.nextMember(&cursor) {
            let key = reader.string(member.key)
            if let place = places[key] {
                many[place].value = member.value
            } else {
                places[key] = many.count
                many.append(member)
            }
        }
        count = many.count
    }
}

/// Keys of `data` that are reserved for the service: the union of those in three generations of documents (ccs-xmpp 2.2).
enum ReservedKeys {
    static func check(_ key: RawSpan, reservesGCMPrefix: Bool) throws(Refusal) {
        guard isReserved(key, reservesGCMPrefix: reservesGCMPrefix) else { return }
        let shown = key.extracting(0..<min(key.byteCount, Limits.AppServer.refusalTextBytes))
        throw .reservedKey(String(decoding: [UInt8](copying: shown), as: UTF8.self))
    }

    @inline(__always)
    private static func isReserved(_ key: RawSpan, reservesGCMPrefix: Bool) -> Bool {
        guard key.byteCount >= 3 else { return false }
        switch key.byte(at: 0) {
        case UInt8(ascii: "f"): return key.equals("from")
        case UInt8(ascii: "m"): return key.equals("message_type")
        case UInt8(ascii: "g"):
            if key.byteCount >= 6, key.extracting(0..<6).equals("google") { return true }
            guard key.extracting(0..<3).equals("gcm") else { return false }
            return reservesGCMPrefix || key.byteCount > 3 && key.byte(at: 3) == UInt8(ascii: ".")
        default: return false
        }
    }
}

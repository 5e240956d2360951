import Basics

/// Reads the JSON mapping of protocol buffers (http 8.1): names in snake or camel case, null as absent, enumerations by word
/// in any case or by number, numbers also as strings. An unknown field is an error.
enum ProtoJSON {
    /// Checks a value against the schema of a message.
    static func check(
        _ value: JSONSlice, as message: ProtoMessage, in reader: borrowing JSONReader
    ) throws(ProtoFault) {
        guard reader.kind(value) == .object else {
            throw ProtoFault(
                .value(type: ProtoFieldType.message(message).typeName, found: shown(value, in: reader)))
        }
        var chosen: [Int] = []
        var cursor = reader.begin(value)
        while let member = reader.nextMember(&cursor) {
            guard let place = place(of: member.key, in: message, reader) else {
                throw ProtoFault(.unknown(cut(text(member.key, in: reader))))
            }
            guard reader.kind(member.value) != .null else { continue }
            let field = message.fields[place]
            if let group = field.group {
                let isTaken = chosen.contains {
                    $0 != place && message.fields[$0].group?.description == group.description
                }
                guard !isTaken else {
                    throw ProtoFault(.group("\(group)", member: "\(field.name)"))
                }
                if !chosen.contains(place) { chosen.append(place) }
            }
            do throws(ProtoFault) {
                try check(member.value, as: field.form, in: reader)
            } catch { throw error.inside("\(field.name)") }
        }
    }

    private static func check(
        _ value: JSONSlice, as form: ProtoFieldType, in reader: borrowing JSONReader
    ) throws(ProtoFault) {
        let isRight: Bool
        switch form {
        case .message(let message): return try check(value, as: message, in: reader)
        case .repeated(let element) where reader.kind(value) == .array:
            return try checkElements(value, as: element, in: reader)
        case .map where reader.kind(value) == .object: return try checkMap(value, in: reader)
        case .repeated, .map: isRight = false
        case .string: isRight = reader.kind(value) == .string && !reader.holdsNUL(value)
        case .boolean: isRight = reader.kind(value) == .boolean
        case .int32: isRight = int32(value, in: reader) != nil
        case .float: isRight = number(value, in: reader) != nil
        case .duration: isRight = ProtoDuration(value, in: reader) != nil
        case .timestamp:
            isRight = reader.kind(value) == .string && Timestamp.parsed(reader.string(value)) != nil
        case .enumeration(let enumeration): isRight = number(of: value, in: enumeration, reader) != nil
        case .free: isRight = reader.kind(value) == .object
        }
        guard isRight else {
            throw ProtoFault(.value(type: form.typeName, found: shown(value, in: reader)))
        }
    }

    private static func checkElements(
        _ value: JSONSlice, as form: ProtoFieldType, in reader: borrowing JSONReader
    ) throws(ProtoFault) {
        var cursor = reader.begin(value)
        var at = 0
        while let element = reader.nextElement(&cursor) {
            do throws(ProtoFault) {
                try check(element, as: form, in: reader)
            } catch { throw error.inside("[\(at)]") }
            at += 1
        }
    }

    private static func checkMap(
        _ value: JSONSlice, in reader: borrowing JSONReader
    ) throws(ProtoFault) {
        var cursor = reader.begin(value)
        var at = 0
        while let member = reader.nextMember(&cursor) {
            let part = reader.holdsNUL(member.key) ? "key" : "value"
            let isRight =
                part == "value" && reader.kind(member.value) == .string
                && !reader.holdsNUL(member.value)
            guard isRight else {
                let found = part == "key" ? member.key : member.value
                throw ProtoFault(
                    .value(type: ProtoFieldType.string.typeName, found: shown(found, in: reader))
                )
                .inside(part).inside("[\(at)]")
            }
            at += 1
        }
    }

    // MARK: Members

    /// Returns the value of a field of a checked message, or `nil` if it is absent or null. The last of several equal names counts.
    static func member(
        _ name: StaticString, of object: JSONSlice?, in reader: borrowing JSONReader
    ) -> JSONSlice? {
        guard let object else { return nil }
        var found: JSONSlice?
        var cursor = reader.begin(object)
        while let member = reader.nextMember(&cursor) {
            guard matches(member.key, name, in: reader) else { continue }
            found = reader.kind(member.value) == .null ? nil : member.value
        }
        return found
    }

    /// Returns the content of a string field, or `nil` if it is absent or null.
    static func string(
        _ name: StaticString, of object: JSONSlice?, in reader: borrowing JSONReader
    ) -> [UInt8]? {
        member(name, of: object, in: reader).map { reader.string($0) }
    }

    private static func place(
        of key: JSONSlice, in message: ProtoMessage, _ reader: borrowing JSONReader
    ) -> Int? {
        for at in message.fields.indices where matches(key, message.fields[at].name, in: reader) {
            return at
        }
        return nil
    }

    private static func matches(
        _ key: JSONSlice, _ name: StaticString, in reader: borrowing JSONReader
    ) -> Bool {
        if reader.isPlain(key) { return isName(reader.inside(key), name) }
        let key = reader.string(key)
        return isName(key.raw, name)
    }

    /// Whether a key is the name in snake or camel case.
    private static func isName(_ key: borrowing RawSpan, _ name: StaticString) -> Bool {
        if key.equals(name) { return true }
        var at = 0
        var isUpper = false
        for place in 0..<name.utf8CodeUnitCount {
            let letter = name.byte(at: place)
            if letter == UInt8(ascii: "_") {
                isUpper = true
                continue
            }
            guard at < key.byteCount, key.byte(at: at) == (isUpper ? letter & ~0x20 : letter) else {
                return false
            }
            isUpper = false
            at += 1
        }
        return at == key.byteCount
    }

    // MARK: Values

    /// Returns a 32-bit integer; a zero fraction and an exponent are allowed. Returns `nil` for any other value.
    static func int32(_ value: JSONSlice, in reader: borrowing JSONReader) -> Int? {
        guard let number = number(value, in: reader), number == number.rounded(),
            abs(number) <= 2_147_483_648, let whole = Int32(exactly: number)
        else { return nil }
        return Int(whole)
    }

    /// Returns any number, written as a number or as a string, or `nil`.
    static func number(_ value: JSONSlice, in reader: borrowing JSONReader) -> Double? {
        switch reader.kind(value) {
        case .number: Double(String(decoding: [UInt8](copying: reader.raw(value)), as: UTF8.self))
        case .string where value.end - value.start <= 64: number(ofText: reader.string(value))
        default: nil
        }
    }

    /// Parses decimal text. Returns `nil` for words such as `inf` and for hexadecimal digits.
    private static func number(ofText text: [UInt8]) -> Double? {
        let isDecimal = text.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isDecimal, let number = Double(String(decoding: text, as: UTF8.self)) else { return nil }
        return number.isFinite ? number : nil
    }

    /// Returns the number of an enumeration value given as a word or as a number, or `nil` if there is no such value.
    static func number(
        of value: JSONSlice, in enumeration: ProtoEnumeration, _ reader: borrowing JSONReader
    ) -> Int? {
        if reader.kind(value) == .number {
            return reader.integer(value).flatMap { enumeration.words.indices.contains($0) ? $0 : nil }
        }
        guard reader.kind(value) == .string else { return nil }
        let word = reader.string(value).map(ASCII.lowered)
        return enumeration.words.firstIndex { known in
            known.utf8CodeUnitCount == word.count
                && word.indices.allSatisfy { ASCII.lowered(known.byte(at: $0)) == word[$0] }
        }
    }

    private static func text(_ value: JSONSlice, in reader: borrowing JSONReader) -> String {
        String(decoding: reader.string(value), as: UTF8.self)
    }

    /// Returns a value as errors print it: JSON without whitespace, cut to `Limits.AppServer.refusalTextBytes`.
    private static func shown(_ value: JSONSlice, in reader: borrowing JSONReader) -> String {
        var buffer = ByteBuffer()
        reader.append(compact: value, to: &buffer)
        return cut(String(decoding: buffer.copied(), as: UTF8.self))
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > Limits.AppServer.refusalTextBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: Limits.AppServer.refusalTextBytes)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end]) + "…"
    }
}

/// A protocol buffers `Duration` in its JSON mapping: `3.5s`, with up to nine decimals.
struct ProtoDuration: Equatable {
    /// Whole seconds, rounded towards zero.
    var seconds: Int
    /// The fraction, 0 … 999,999,999.
    var nanoseconds: Int
    var isNegative: Bool

    init?(_ value: JSONSlice, in reader: borrowing JSONReader) {
        guard reader.kind(value) == .string else { return nil }
        self.init(reader.string(value))
    }

    init?(_ text: [UInt8]) {
        guard text.last == UInt8(ascii: "s"), text.count <= 32 else { return nil }
        isNegative = text.first == UInt8(ascii: "-")
        let digits = text.dropLast().dropFirst(isNegative ? 1 : 0)
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty, parts[0].count <= 12,
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.count == 1 || (1...9).contains(parts[1].count)
        else { return nil }
        func number(_ digits: some Collection<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        seconds = number(parts[0])
        nanoseconds = 0
        if parts.count == 2 {
            nanoseconds = number(parts[1] + [UInt8](repeating: 0x30, count: 9 - parts[1].count))
        }
    }

    /// The duration in milliseconds, rounded towards zero.
    var milliseconds: Int { (seconds * 1_000 + nanoseconds / 1_000_000) * (isNegative ? -1 : 1) }
}

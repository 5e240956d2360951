/// Reads the elements of a DER encoding one after the other; malformed bytes end the reading.
struct DERReader {
    /// The tags that credentials contain.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let objectIdentifier: UInt8 = 0x06
        static let text: UInt8 = 0x0C
        static let sequence: UInt8 = 0x30
    }

    private var rest: ArraySlice<UInt8>

    /// Whether everything has been read; false after malformed bytes.
    var isAtEnd: Bool { rest.isEmpty }

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    /// Reads the next element. Returns `nil` at the end and if the rest is malformed.
    ///
    /// A length that is not definite (BER), which some archives have, counts as the whole rest.
    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard rest.count >= 2 else { return nil }
        let start = rest
        let (tag, first) = (rest.removeFirst(), rest.removeFirst())
        var length = Int(first)
        if first == 0x80 {
            length = rest.count
        } else if first > 0x80 {
            let digits = Int(first & 0x7F)
            guard digits <= 3, rest.count >= digits else {
                rest = start
                return nil
            }
            length = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            rest.removeFirst(digits)
        }
        guard length <= rest.count else {
            rest = start
            return nil
        }
        defer { rest.removeFirst(length) }
        return (tag, rest.prefix(length))
    }

    /// Reads the next element and returns its content if it has this tag. Returns `nil` otherwise.
    mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard let element = next(), element.tag == tag else { return nil }
        return element.content
    }
}

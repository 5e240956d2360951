import Basics

/// The two characters that UTF-8 and JSON allow, and XML 1.0 does not (XML 1.0, 2.2). Named by the last byte of their sequence.
enum NonCharacter: UInt8 {
    /// U+FFFE.
    case fffe = 0xBE
    /// U+FFFF.
    case ffff = 0xBF

    /// The length of its sequence in bytes.
    static let length = 3

    /// Returns the one at an offset; `nil` if something else is there.
    @inline(__always)
    init?(in text: borrowing RawSpan, at offset: Int) {
        guard text.byteCount &- offset >= Self.length, text.byte(at: offset) == 0xEF,
            text.byte(at: offset &+ 1) == 0xBF
        else { return nil }
        self.init(rawValue: text.byte(at: offset &+ 2))
    }

    /// Returns the one with a scalar value; `nil` for any other value.
    init?(scalar: Int) {
        switch scalar {
        case 0xFFFE: self = .fffe
        case 0xFFFF: self = .ffff
        default: return nil
        }
    }

    /// Its escape in a JSON text, which XML can carry.
    var escape: StaticString {
        switch self {
        case .fffe: "\\ufffe"
        case .ffff: "\\uffff"
        }
    }
}

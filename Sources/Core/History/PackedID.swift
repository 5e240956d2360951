import Basics

/// A message ID that is a UUID in lower case, as many app servers make them: 16 bytes instead of 36.
enum PackedID {
    static let bytes = 36

    private static func isDash(_ at: Int) -> Bool { at == 8 || at == 13 || at == 18 || at == 23 }

    /// Returns the two halves of the number. Returns `nil` for any other text.
    static func packed(_ id: borrowing RawSpan) -> (UInt64, UInt64)? {
        guard id.byteCount == bytes, id.byte(at: 8) == UInt8(ascii: "-") else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for at in 0..<bytes {
            let byte = id.byte(at: at)
            if isDash(at) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte &- UInt8(ascii: "a") &+ 10
            default: return nil
            }
            high = high &<< 4 | low &>> 60
            low = low &<< 4 | UInt64(digit)
        }
        return (high, low)
    }

    /// Returns the text of a number.
    static func text(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        var (high, low) = (high, low)
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: bytes)
        for at in text.indices where !isDash(at) {
            let digit = UInt8(high >> 60)
            text[at] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            high = high &<< 4 | low &>> 60
            low = low &<< 4
        }
        return text
    }
}

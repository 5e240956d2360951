extension Timestamp {
    /// Parses RFC 3339 text, with `Z` or an offset and up to nine decimals, of which those after the third are dropped.
    ///
    /// Returns `nil` for anything else, and for days and hours that do not exist. A leap second counts as the second before it.
    public static func parsed(_ text: [UInt8]) -> UnixMilliseconds? {
        guard text.count >= 20, text.count <= 35, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] | 0x20 == UInt8(ascii: "t"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"),
            let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]),
            let second = number(text[17..<19]), (1...12).contains(month), year > 0,
            (1...days(in: month, of: year)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var at = 19
        var milliseconds: Int64 = 0
        if text[at] == UInt8(ascii: ".") {
            let digits = text[(at + 1)...].prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            at = digits.endIndex
            milliseconds = number((digits + [0x30, 0x30]).prefix(3)) ?? 0
        }
        guard at < text.count, let offset = offset(text[at...]) else { return nil }
        let inDay = hour * 3_600 + minute * 60 + min(second, 59) - offset
        return (dayNumber(year, month, day) * 86_400 + inDay) * 1_000 + milliseconds
    }

    /// Returns the seconds by which a zone is ahead of UTC.
    private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
        let zone = Array(zone)
        if zone.count == 1 { return zone[0] | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard zone.count == 6, zone[3] == UInt8(ascii: ":"), let hours = number(zone[1..<3]), hours < 24,
            let minutes = number(zone[4..<6]), minutes < 60
        else { return nil }
        switch zone[0] {
        case UInt8(ascii: "+"): return hours * 3_600 + minutes * 60
        case UInt8(ascii: "-"): return -(hours * 3_600 + minutes * 60)
        default: return nil
        }
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - 0x30)
        }
        return number
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01, by eras of 400 years that start in March.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// RFC 3339 text of wall-clock times, always UTC with milliseconds: `2026-11-20T06:45:12.345Z`.
public enum Timestamp {
    /// Formats a time; a year outside 0 … 9999 is clamped.
    public static func text(_ time: UnixMilliseconds) -> String {
        var buffer = ByteBuffer()
        append(time, to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    /// Appends the text of a time.
    public static func append(_ time: UnixMilliseconds, to buffer: inout ByteBuffer) {
        let time = min(max(time, -62_167_219_200_000), 253_402_300_799_999)
        let day = time >= 0 ? time / 86_400_000 : -((86_399_999 - time) / 86_400_000)
        let inDay = time - day * 86_400_000
        let (year, month, dayOfMonth) = civil(day)
        append(year, digits: 4, to: &buffer)
        buffer.append("-")
        append(month, digits: 2, to: &buffer)
        buffer.append("-")
        append(dayOfMonth, digits: 2, to: &buffer)
        buffer.append("T")
        append(inDay / 3_600_000, digits: 2, to: &buffer)
        buffer.append(":")
        append(inDay / 60_000 % 60, digits: 2, to: &buffer)
        buffer.append(":")
        append(inDay / 1_000 % 60, digits: 2, to: &buffer)
        buffer.append(".")
        append(inDay % 1_000, digits: 3, to: &buffer)
        buffer.append("Z")
    }

    /// Returns the civil date of a day counted from 1970-01-01, by eras of 400 years that start in March.
    private static func civil(_ day: Int64) -> (Int64, Int64, Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func append(_ value: Int64, digits: Int, to buffer: inout ByteBuffer) {
        var power: Int64 = 1
        for _ in 1..<digits { power *= 10 }
        while power > 0 {
            buffer.append(byte: UInt8(ascii: "0") + UInt8(value / power % 10))
            power /= 10
        }
    }
}

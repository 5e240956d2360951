public import Basics

/// Writes the date format of HTTP headers: `Fri, 20 Nov 2026 06:42:46 GMT` (RFC 9110, 5.6.7).
public enum HTTPDate {
    private static let days: [StaticString] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Appends a time, truncated to seconds.
    public static func append(_ time: UnixMilliseconds, to buffer: inout ByteBuffer) {
        let seconds = max(0, time / 1_000)
        let day = Int(seconds / 86_400)
        let (year, month, dayOfMonth) = civil(day)
        buffer.append(days[day % 7])
        buffer.append(", ")
        append(two: dayOfMonth, to: &buffer)
        buffer.append(" ")
        buffer.append(months[month - 1])
        buffer.append(" ")
        buffer.append(decimal: year)
        buffer.append(" ")
        append(two: Int(seconds / 3_600 % 24), to: &buffer)
        buffer.append(":")
        append(two: Int(seconds / 60 % 60), to: &buffer)
        buffer.append(":")
        append(two: Int(seconds % 60), to: &buffer)
        buffer.append(" GMT")
    }

    private static func append(two number: Int, to buffer: inout ByteBuffer) {
        if number < 10 { buffer.append("0") }
        buffer.append(decimal: number)
    }

    /// Converts a day counted from 1970-01-01 to the Gregorian calendar, whose cycle is 400 years.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months counted from March, so that the leap day is the last of the year.
        let fromMarch = (5 * ofYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            ofYear - (153 * fromMarch + 2) / 5 + 1
        )
    }
}

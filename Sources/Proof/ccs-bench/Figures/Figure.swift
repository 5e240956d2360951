/// Numbers as text, without Foundation.
enum Figure {
    /// Formats a number with a fixed number of decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value >= 0 else { return "-" + fixed(-value, decimals) }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((value * scale).rounded())
        guard decimals > 0 else { return String(scaled) }
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        return "\(whole)." + padLeft(String(rest), decimals, "0")
    }

    /// Formats a number rounded, with commas between thousands.
    static func whole(_ value: Double) -> String {
        guard value >= 0 else { return "-" + whole(-value) }
        let digits = Array(String(Int(value.rounded())))
        var text = ""
        for (at, digit) in digits.enumerated() {
            if at > 0, (digits.count - at).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Formats a count with commas between thousands.
    static func whole(_ value: Int) -> String { whole(Double(value)) }

    /// Formats microseconds in a suitable unit.
    static func duration(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<1_000: "\(whole(microseconds)) us"
        case ..<10_000_000: "\(fixed(microseconds / 1_000, 1)) ms"
        default: "\(fixed(microseconds / 1_000_000, 1)) s"
        }
    }

    /// Pads a text on the right to a width.
    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Pads a text on the left to a width.
    static func padLeft(_ text: String, _ width: Int, _ filler: Character = " ") -> String {
        String(repeating: filler, count: max(0, width - text.count)) + text
    }

    /// Returns the median; 0 if there are no values.
    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

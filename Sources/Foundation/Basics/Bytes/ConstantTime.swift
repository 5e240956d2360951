/// Comparisons whose duration does not reveal where two secrets differ.
public enum ConstantTime {
    /// Whether two byte strings are equal; the duration depends on their lengths only.
    public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for at in a.indices { difference |= a[at] ^ b[at] }
        return difference == 0
    }
}

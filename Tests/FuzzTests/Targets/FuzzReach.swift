import Synchronization

/// What inputs have reached: events, reasons of closes, errors and readings, by name. Counted only while a test asks for it.
public enum FuzzReach {
    private final class Counts: Sendable {
        let names = Mutex<[String: Int]>([:])
    }

    /// Counts of whoever asks; other tests run at the same time.
    @TaskLocal private static var counts: Counts?

    /// Runs a body and returns what it has reached.
    public static func counting(_ body: () throws -> Void) throws -> [String: Int] {
        let counts = Counts()
        try $counts.withValue(counts) { try body() }
        return counts.names.withLock { $0 }
    }

    static func note(_ name: @autoclosure () -> String) {
        guard let counts else { return }
        let name = name()
        counts.names.withLock { $0[name, default: 0] += 1 }
    }

    /// Notes what a reader has made of an input; `nil`: it was refused.
    static func read<Value>(_ name: StaticString, _ value: Value?) -> Value? {
        note("\(name) \(value == nil ? "refused" : "taken")")
        return value
    }
}

extension String {
    /// The name of a case, without what it carries.
    var caseName: String { String(prefix { $0 != "(" }) }
}

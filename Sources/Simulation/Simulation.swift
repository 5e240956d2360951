/// Runs worlds.
public enum Simulation {
    /// What makes a world again, as a line of `Fixtures/seeds.txt` has it: `17`.
    public struct Seed: Sendable, Hashable, CustomStringConvertible {
        /// What kind of world.
        public let kind: WorldSettings.Kind
        /// Where its random numbers begin.
        public let number: UInt64
        /// Whether it was kept when each number made a world of either kind: `sessions 17`. It goes on to make what it made then.
        public let isEarly: Bool

        /// One world: of the kinds in turn, so that a range of numbers has as many of each.
        public init(_ number: UInt64) {
            let kinds = WorldSettings.Kind.allCases
            self.init(kind: kinds[Int(number % UInt64(kinds.count))], number: number, isEarly: false)
        }

        private init(kind: WorldSettings.Kind, number: UInt64, isEarly: Bool) {
            self.kind = kind
            self.number = number
            self.isEarly = isEarly
        }

        /// The n-th seed of a kind, from 0.
        public init(_ kind: WorldSettings.Kind, at place: UInt64) {
            let kinds = WorldSettings.Kind.allCases
            let own = UInt64(kinds.firstIndex(of: kind) ?? 0)
            self.init(place * UInt64(kinds.count) + own)
        }

        /// Reads a line; nil for an empty one and for what follows `#`.
        public init?(line: some StringProtocol) {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            guard let last = words.last, let number = UInt64(last), words.count <= 2 else { return nil }
            guard words.count == 2 else {
                self.init(number)
                return
            }
            guard let kind = WorldSettings.Kind(rawValue: String(words[0])) else { return nil }
            self.init(kind: kind, number: number, isEarly: true)
        }

        /// The line.
        public var description: String { isEarly ? "\(kind.rawValue) \(number)" : "\(number)" }
    }

    /// A world in which something was wrong.
    public struct Failure: Sendable, CustomStringConvertible {
        /// What makes it again.
        public var seed: Seed
        /// What was wrong.
        public var violations: [String]
        /// What happened before, oldest first.
        public var trace: [String]

        /// The seed, what was wrong, and the end of the trace.
        public var description: String {
            let end = trace.filter { !$0.hasSuffix("tick") && !$0.hasSuffix("expired 0") }.suffix(40)
            return "seed '\(seed)': \(violations.joined(separator: "; "))\n" + end.joined(separator: "\n")
        }
    }

    /// Runs the world of a seed; nil if nothing was wrong.
    public static func run(_ seed: Seed, canary: WorldSettings.Canary? = nil) -> Failure? {
        var tally = RuleTally()
        return run(seed, canary: canary, counting: &tally)
    }

    /// Runs the world of a seed, and adds how often it reached each rule; nil if nothing was wrong.
    public static func run(
        _ seed: Seed, canary: WorldSettings.Canary? = nil, counting tally: inout RuleTally
    ) -> Failure? {
        func world(isTraced: Bool) -> World {
            World(seed, canary: canary, isTraced: isTraced)
        }
        let first = world(isTraced: false)
        let violations = first.run()
        tally.add(first.tally)
        guard !violations.isEmpty else { return nil }
        // Once more, with words.
        let second = world(isTraced: true)
        let again = second.run()
        let isSame = again == violations
        return Failure(
            seed: seed, violations: isSame ? violations : violations + ["not the same again: \(again)"],
            trace: second.trace)
    }

    /// Runs the worlds of many seeds; those in which something was wrong.
    public static func run(seeds: some Swift.Sequence<Seed>) -> [Failure] { seeds.compactMap { run($0) } }
}

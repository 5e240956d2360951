/// Runs worlds.
package enum Simulation {
    /// What makes a world again, as a line of `Fixtures/seeds.txt` has it: `sessions 17`.
    package struct Seed: Sendable, Hashable, CustomStringConvertible {
        /// What kind of world.
        package var kind: WorldSettings.Kind
        /// Where its random numbers begin.
        package var number: UInt64

        /// A seed; both parts are the caller's.
        package init(_ kind: WorldSettings.Kind, _ number: UInt64) {
            self.kind = kind
            self.number = number
        }

        /// Reads a line; nil for an empty one and for what follows `#`.
        package init?(line: some StringProtocol) {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            guard words.count == 2, let kind = WorldSettings.Kind(rawValue: String(words[0])),
                let number = UInt64(words[1])
            else { return nil }
            self.init(kind, number)
        }

        /// The line.
        package var description: String { "\(kind.rawValue) \(number)" }
    }

    /// A world in which something was wrong.
    package struct Failure: Sendable, CustomStringConvertible {
        /// What makes it again.
        package var seed: Seed
        /// What was wrong.
        package var violations: [String]
        /// What happened before, oldest first.
        package var trace: [String]

        /// The seed, what was wrong, and the end of the trace.
        package var description: String {
            let end = trace.filter { !$0.hasSuffix("tick") && !$0.hasSuffix("expired 0") }.suffix(40)
            return "seed '\(seed)': \(violations.joined(separator: "; "))\n" + end.joined(separator: "\n")
        }
    }

    /// Runs the world of a seed; nil if nothing was wrong.
    package static func run(_ seed: Seed, canary: WorldSettings.Canary? = nil) -> Failure? {
        var tally = RuleTally()
        return run(seed, canary: canary, counting: &tally)
    }

    /// Runs the world of a seed, and adds how often it reached each rule; nil if nothing was wrong.
    package static func run(
        _ seed: Seed, canary: WorldSettings.Canary? = nil, counting tally: inout RuleTally
    ) -> Failure? {
        func world(isTraced: Bool) -> World {
            World(kind: seed.kind, seed: seed.number, canary: canary, isTraced: isTraced)
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
    package static func run(seeds: some Swift.Sequence<Seed>) -> [Failure] { seeds.compactMap { run($0) } }
}

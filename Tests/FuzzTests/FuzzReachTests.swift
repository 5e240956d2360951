import FuzzTargets
import Testing

extension FuzzTests {
    /// What the inputs of each target must reach, a name a row: events, readings, refusals and reasons of closes.
    @Test("the inputs of each target reach every event, reading and error that is listed for it")
    func reach() throws {
        for target in FuzzTarget.real {
            let reached = try FuzzReach.counting {
                for (_, octets) in FuzzFiles.inputs(target) where octets.count <= 8_192 {
                    try target.run(octets)
                }
            }
            let expected = try #require(
                FuzzFiles.reach[target.rawValue], "Fixtures/corpus/reach.txt has no '\(target)'")
            let missing = expected.filter { reached[$0] == nil }
            #expect(missing.isEmpty, "\(target): \(reached.sorted { $0.key < $1.key })")
        }
    }
}

extension FuzzFiles {
    /// The lists of `Fixtures/corpus/reach.txt`: `== TARGET`, then a name a line.
    static let reach: [String: [String]] = {
        let file = contents(of: "Fixtures/corpus").first { $0.name == "reach.txt" }
        var lists: [String: [String]] = [:]
        var target = ""
        for line in String(decoding: file?.octets ?? [], as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("== ") {
                target = String(line.dropFirst(3))
                lists[target] = []
            } else if !line.hasPrefix("#") {
                lists[target, default: []].append(String(line))
            }
        }
        return lists
    }()
}

import FuzzTargets
import Testing

extension FuzzTests {
    /// The inputs of each target must reach these names, one per line: events, readings, refusals and close reasons.
    @Test("the inputs of each target reach every event, reading and error in its list")
    func reach() throws {
        for target in FuzzTarget.real {
            let reached = try FuzzReach.counting {
                for (_, bytes) in FuzzFiles.inputs(target) where bytes.count <= 8_192 {
                    try target.run(bytes)
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
    /// The lists in `Fixtures/corpus/reach.txt`: `== TARGET`, then one name per line.
    static let reach: [String: [String]] = {
        let file = contents(of: "Fixtures/corpus").first { $0.name == "reach.txt" }
        var lists: [String: [String]] = [:]
        var target = ""
        for line in String(decoding: file?.bytes ?? [], as: UTF8.self).split(separator: "\n") {
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

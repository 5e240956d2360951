import Foundation
import Testing

/// Programs that a test runs with a deadline.
@Suite("Programs run by tests") struct ToolTests {
    private let shell = URL(fileURLWithPath: "/bin/sh")

    @Test(
        "a program is killed and reported with its output when it hangs",
        arguments: [
            "exec sleep 3600", "exec sleep 3600 >&- 2>&-", "trap '' TERM; exec sleep 3600",
        ])
    func hangs(_ words: String) throws {
        let error = #expect(throws: HarnessFailure.self) {
            try Tool.run(shell, ["-c", "echo $$; echo so far >&2; \(words)"], seconds: 5)
        }
        let description = try #require(error?.description)
        #expect(
            description.contains("/bin/sh -c") && description.contains(words)
                && description.contains("so far"), "\(description)")
        let pid = try #require(description.firstMatch(of: /output (\d+)/).flatMap { Int32($0.1) })
        #expect(kill(pid, 0) == -1 && errno == ESRCH, "\(description)")
    }

    @Test("a program is reported when another process keeps its output open")
    func held() throws {
        let error = #expect(throws: HarnessFailure.self) {
            try Tool.run(shell, ["-c", "sleep 20 & echo gone"], seconds: 5)
        }
        #expect(error?.description.contains("kept its output open: /bin/sh -c") == true)
    }

    @Test("canary: a program's exit code and complete output are returned when it ends in time")
    func ends() throws {
        let tool = try Tool.run(
            shell, ["-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; cat; exit 3"],
            input: "fed", seconds: 60)
        #expect(tool.code == 3 && tool.errors.utf8.count == 300_000 && tool.output.utf8.count == 300_003)
        #expect(tool.output.hasSuffix("fed"))
    }
}

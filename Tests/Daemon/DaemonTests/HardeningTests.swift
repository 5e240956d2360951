import Foundation
import Testing

/// The programs as they are built, and the daemon as it runs, whatever starts it.
@Suite("Hardening") struct HardeningTests {
    /// Returns the output of readelf for a program.
    private func readelf(_ option: String, _ program: String) throws -> String {
        let file = TestPaths.programs.appendingPathComponent(program).path
        let tool = try Tool.run(URL(fileURLWithPath: "/usr/bin/readelf"), ["-W", option, file])
        guard tool.code == 0 else { throw HarnessFailure("\(tool)") }
        return tool.output
    }

    @Test(
        "every program resolves its libraries at the start, read-only, and its C code checks its stack",
        arguments: ["ccsd", "ccsctl", "ccs-device", "ccs-bench"])
    func programs(name: String) throws {
        let dynamic = try readelf("--dynamic", name)
        #expect(dynamic.contains("BIND_NOW") || dynamic.contains("FLAGS_1) Flags: NOW"), "\(dynamic)")
        #expect(try readelf("--program-headers", name).contains("GNU_RELRO"))
        #expect(try readelf("--dyn-syms", name).contains("__stack_chk_fail"))
    }

    @Test("a daemon writes no core file, although its shell allows that")
    func core() throws {
        let daemon = try RunningDaemon(launcher: ["/bin/sh", "-c", "ulimit -c unlimited; exec \"$0\" \"$@\""])
        let pid = try #require(try daemon.ctl("status")["pid"] as? Int)
        let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(line?.split(separator: " ").filter { $0 == "0" }.count == 2, "\(line ?? "")")
    }
}

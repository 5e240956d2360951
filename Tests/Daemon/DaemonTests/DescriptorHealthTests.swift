import Foundation
import Testing

/// What `ccsctl health` reports of connections that have no descriptor.
@Suite("Health without descriptors")
struct DescriptorHealthTests {
    private func health(_ daemon: RunningDaemon) throws -> Tool {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "health"])
    }

    @Test(
        "a daemon is not healthy when connections have most of their descriptors, nor when they are refused")
    func refused() throws {
        // Half of them are for connections.
        let daemon = try RunningDaemon(launcher: ["/bin/bash", "-c", #"ulimit -n 300; exec "$0" "$@""#])
        let idle = try health(daemon)
        #expect(idle.code == 0, "\(idle)")
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        func connect(_ count: Int) throws {
            for _ in 0..<count { open.append(try PlainHTTP.connected(port: UInt16(daemon.port("device")))) }
        }
        try connect(130)
        try eventually("ccsd has accepted the connections") { try health(daemon).code == 14 }
        let most = try health(daemon)
        #expect(most.output.contains("connections that the descriptors allow"), "\(most)")
        #expect(!most.output.contains("are refused"), "\(most)")
        try connect(40)
        try eventually("connections are refused") {
            try health(daemon).output.contains("connections are refused for lack of file descriptors")
        }
        #expect(try health(daemon).code == 14)
    }

    @Test("a daemon does not start with fewer descriptors than it needs to serve clients")
    func tooFew() throws {
        let scratch = try Scratch()
        func start(_ descriptors: Int) throws -> Tool {
            let program = TestPaths.programs.appendingPathComponent("ccsd").path
            return try Tool.run(
                URL(fileURLWithPath: "/bin/bash"),
                [
                    "-c", #"ulimit -n "$1"; exec "$0" --data-directory "$2""#, program,
                    "\(descriptors)", scratch.url.appendingPathComponent("none/data").path,
                ])
        }
        let few = try start(255)
        #expect(few.code == 74 && few.errors.contains("the limit on open files is 255: "), "\(few)")
        #expect(few.errors.contains("at least 256") && few.errors.contains("LimitNOFILE"), "\(few)")
        let enough = try start(256)
        #expect(enough.code == 74 && enough.errors.contains("data directory"), "canary: \(enough)")
    }
}

import Foundation

/// HAProxy in TCP mode in front of a daemon's ports; it connects to them from `address`.
final class RunningProxy {
    /// The source address of its connections to the daemon.
    static let address = "127.0.0.9"
    private let process = ChildProcess()
    private let scratch: Scratch
    /// The proxy's port for each listener of the daemon.
    let ports: [String: Int]

    /// Starts HAProxy with `send-proxy` (version 1) or `send-proxy-v2`, also for its health checks.
    init(before daemon: RunningDaemon, sends word: String) throws {
        scratch = try Scratch()
        var ports: [String: Int] = [:]
        var text = """
            defaults
              mode tcp
              timeout connect 20s
              timeout client 120s
              timeout server 120s

            """
        for name in ["app_server", "device", "https"] {
            let port = try Self.freePort()
            ports[name] = port
            text += """
                listen \(name)
                  bind 127.0.0.1:\(port)
                  server ccsd 127.0.0.1:\(try daemon.port(name)) source \(Self.address) \(word) check inter 100ms

                """
        }
        self.ports = ports
        let file = scratch.url.appendingPathComponent("haproxy.cfg")
        try text.write(to: file, atomically: true, encoding: .utf8)
        process.executableURL = TestPaths.haproxy
        process.arguments = ["-db", "-f", file.path]
        let log = scratch.url.appendingPathComponent("log.txt")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        for port in ports.values {
            try eventually("HAProxy listens on \(port)") { PlainHTTP.canConnect(port: UInt16(port)) }
        }
        daemon.outerPorts = ports
    }

    deinit { process.end() }

    /// Returns a port that was free a moment ago, since HAProxy does not accept port 0.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw HarnessFailure("no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

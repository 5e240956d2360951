import BasicsSupport
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
        let names = ["app_server", "device", "https"]
        let free = try FreePorts.take(names.count)
        for (name, port) in zip(names, free.map(Int.init)) {
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
}

import Basics
import Catalogue
import Delivery
import Glibc
import Transport

/// The greeting after a start without a configuration file.
struct StartupGreeting {
    /// The sender created at this start, with its key; `nil` if there were senders before.
    var sender: (SenderID, key: String)?

    /// Prints the listeners and the next steps, and stores the key of a first sender in a file with mode 0600.
    func show(_ daemon: Daemon) {
        let configuration = daemon.configuration
        let keyPath = "\(configuration.dataDirectory)/first-sender.key"
        var lines = ["ccsd \(Program.version) is ready."]
        for listener in daemon.listeners {
            lines.append("  \(Self.padded(Self.meaning(listener.name))) \(listener.place)")
        }
        if let authority = daemon.certificates.authorityPath {
            lines.append("  \(Self.padded("CA to trust")) \(authority)")
        }
        if let (sender, key) = sender {
            let isSaved = Self.saveKey(key, at: keyPath)
            lines.append("")
            lines.append(
                "A first sender was created. Its key is shown only now\(isSaved ? " and stored in \(keyPath)" : ""):"
            )
            lines.append("  \(Self.padded("sender ID")) \(sender.number)")
            lines.append("  \(Self.padded("server key")) \(key)")
        }
        lines.append("")
        lines.append("Next:")
        lines += nextSteps(daemon)
        // Without a reader or space for it the daemon serves all the same, and the key is in its file.
        DescriptorOutput.write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }

    private func nextSteps(_ daemon: Daemon) -> [String] {
        let configuration = daemon.configuration
        let sender = sender?.0 ?? daemon.senders.directory.all.first?.sender
        let name = sender.map { String($0.number) } ?? "SENDER_ID"
        func port(_ kind: Link.Kind) -> Int { daemon.listeners.first { $0.name == kind.rawValue }?.port ?? 0 }
        let authority = daemon.certificates.authorityPath.map { " --ca \($0)" } ?? ""
        return [
            "  ccs-device listen --sender \(name) --https-port \(port(.https)) --device-port \(port(.device))\(authority)",
            "  ccsctl --socket \(configuration.controlSocket) send \(name) TOKEN hello=world",
            "To use this server, an app server changes the host name, the port to \(port(.appServer)), and trusts the CA above.",
        ]
    }

    private static func saveKey(_ key: String, at path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array((key + "\n").utf8)
        return unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            == bytes.count
    }

    private static func meaning(_ listener: String) -> String {
        switch Link.Kind(rawValue: listener) {
        case .appServer: "app servers (XMPP)"
        case .appServerPreproduction: "… pre-production"
        case .device: "devices (MCS)"
        case .https: "check-in, register"
        case .admin: "health and metrics"
        case .control, nil: "control socket"
        }
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(0, 20 - text.count))
    }
}

public import Catalogue
import Glibc
import Transport

/// What `ccsd check` found outside the configuration itself: files, directories and their permissions.
public struct ConfigFinding: Sendable, Equatable, CustomStringConvertible {
    /// Whether the daemon would refuse to start.
    public var isError: Bool
    /// The key that it is about.
    public var key: ConfigKey
    /// What was found.
    public var problem: String
    /// What to do about it.
    public var hint: String

    /// `key: problem (hint)`.
    public var description: String { "\(key.rawValue): \(problem)" + (hint.isEmpty ? "" : " (\(hint))") }
}

extension Configuration {
    /// Looks at the files and directories that the configuration names; changes nothing.
    public func check() -> [ConfigFinding] {
        var findings = checkDirectory()
        for (key, path) in [(ConfigKey.certificateFile, certificateFile), (.keyFile, keyFile)] {
            guard let path else { continue }
            findings += Self.checkFile(key, path)
        }
        if controlSocket.utf8.count > 107 {
            findings.append(
                ConfigFinding(
                    isError: true, key: .controlSocket, problem: "\(controlSocket) is longer than 107 bytes",
                    hint: "the kernel takes no longer path for a socket"))
        }
        if tlsMinimum.isDeprecated {
            findings.append(
                ConfigFinding(
                    isError: false, key: .tlsMinimum,
                    problem: "\(tlsMinimum.rawValue) lets clients in with TLS that RFC 8996 deprecates",
                    hint: "go back to 1.2 when the last old client is gone"))
        }
        if shutdownSeconds < drainGraceSeconds {
            findings.append(
                ConfigFinding(
                    isError: false, key: .shutdownSeconds,
                    problem:
                        "\(shutdownSeconds) is shorter than drain_grace_seconds, so a stop cuts the drain short",
                    hint: "give the stop at least \(drainGraceSeconds) seconds"))
        }
        return findings
    }

    private static func checkFile(_ key: ConfigKey, _ path: String) -> [ConfigFinding] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            return [
                ConfigFinding(
                    isError: true, key: key, problem: "\(path): \(reason)",
                    hint: "give the path of a PEM file")
            ]
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return [
                ConfigFinding(
                    isError: true, key: key, problem: "\(path) is not a file",
                    hint: "give the path of a PEM file")
            ]
        }
        guard unsafe access(path, R_OK) == 0 else {
            return [
                ConfigFinding(
                    isError: true, key: key, problem: "\(path) may not be read by this user",
                    hint: "let the user that runs ccsd read it")
            ]
        }
        guard key == .keyFile, status.st_mode & 0o077 != 0 else { return [] }
        return [
            ConfigFinding(
                isError: false, key: key, problem: "\(path) is open to other users",
                hint: "chmod 600 \(path)")
        ]
    }

    private func checkDirectory() -> [ConfigFinding] {
        var status = stat()
        let path = dataDirectory
        func finding(_ isError: Bool, _ problem: String, _ hint: String) -> [ConfigFinding] {
            [ConfigFinding(isError: isError, key: .dataDirectory, problem: problem, hint: hint)]
        }
        guard unsafe stat(path, &status) == 0 else {
            if errno == ENOENT {
                let parent = Self.parent(of: path)
                if unsafe access(parent, W_OK) == 0 { return [] }
                return finding(
                    true, "\(path) is missing and cannot be made in \(parent)",
                    "make it, owned by ccsd's user")
            }
            return unsafe finding(true, "\(path): \(String(cString: strerror(errno)))", "")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return finding(true, "\(path) is not a directory", "give the path of a directory")
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return finding(
                true, "\(path) may not be written by this user", "give it to the user that runs ccsd")
        }
        guard status.st_mode & 0o077 != 0 else { return [] }
        return finding(false, "\(path) is open to other users", "chmod 700 \(path)")
    }

    private static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}

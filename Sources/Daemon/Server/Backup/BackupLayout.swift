import Basics
import Glibc
import Operator
import Wire

/// The files of a backup, which has the layout of a data directory.
enum BackupLayout {
    /// The end of the name of a folder whose backup is not complete.
    static let partial = ".partial"
    static let manifest = "backup.json"
    /// The digests of all files, for `sha256sum --check`.
    static let sums = "SHA256SUMS"
    static let store = "store"
    static let apns = "apns"
    /// The files of ccsd's own certificate authority.
    static let authority = ["ca.key", "ca.pem", "server.key", "server.pem"]
    /// Those of them that are no secrets: a data directory has them with mode 0644, since clients are given them.
    static let certificates = ["ca.pem", "server.pem"]

    /// Returns whether a path may be in a manifest: nothing else may be written by a restore.
    static func isValid(_ path: String) -> Bool {
        if authority.contains(path) { return true }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == store || parts[0] == apns, !parts[1].isEmpty,
            parts[1].utf8.first != UInt8(ascii: ".")
        else { return false }
        return parts[1].utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "+"):
                true
            default: false
            }
        }
    }

    /// Returns the content of `SHA256SUMS`.
    static func sums(_ files: [BackupManifest.File], manifest content: [UInt8], digest: [UInt8]) -> [UInt8] {
        var text = files.map { "\($0.sha256)  \($0.path)\n" }.joined()
        text += "\(Hex.text(digest))  \(manifest)\n"
        return Array(text.utf8)
    }

    /// Returns the digest of the manifest in `SHA256SUMS`. Returns `nil` if it has none.
    static func manifestDigest(in sums: [UInt8]) -> String? {
        let end = "  \(manifest)"
        return String(decoding: sums, as: UTF8.self).split(separator: "\n").last
            .flatMap { $0.hasSuffix(end) ? String($0.dropLast(end.count)) : nil }
    }
}

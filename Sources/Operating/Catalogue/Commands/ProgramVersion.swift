internal import CCommit

extension Program {
    /// The version of all programs; the only place where it is written.
    public static let version = "0.1.0"

    /// The commit that the programs were built from. `nil` if the build did not define it, as only `Scripts/package` does.
    public static let commit: String? = {
        let text = unsafe String(cString: ccommit())
        return text.isEmpty ? nil : text
    }()

    /// The version and the commit, as `--version` prints them after the name: `0.1.0 (commit 11992ea7a4e0)`.
    public static let versionAndCommit = describe(version, commit)

    /// Returns a version and its commit in one line.
    static func describe(_ version: String, _ commit: String?) -> String {
        "\(version) (\(commit.map { "commit \($0)" } ?? "unknown commit"))"
    }
}

/// The folder that contains Package.swift, for tests that read files of the package.
public enum PackageRoot {
    /// Its path, without a slash at the end.
    public static let path: String = {
        var parts = #filePath.split(separator: "/")
        while let last = parts.popLast(), last != "Tests" {}
        return "/" + parts.joined(separator: "/")
    }()
}

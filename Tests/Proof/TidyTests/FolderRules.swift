/// Rules about the layout of the tree.
enum FolderRules {
    /// The largest number of Swift files in one folder of the product.
    static let swiftFiles = 25

    /// Returns the folders of the product with too many Swift files; files in their subfolders do not count.
    static func violations(_ paths: [String]) -> [String] {
        let files = paths.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
        let folders = Dictionary(grouping: files) { path in
            path.split(separator: "/").dropLast().joined(separator: "/")
        }
        return folders.filter { $0.value.count > swiftFiles }.sorted { $0.key < $1.key }.map {
            "\($0.key): \($0.value.count) Swift files, at most \(swiftFiles) allowed: move some to subfolders"
        }
    }
}

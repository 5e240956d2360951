import Foundation

/// Folders of files as values.
enum Folder {
    /// Replaces a folder by one with exactly these files.
    static func write(_ files: [String: [UInt8]], to path: String) throws {
        let manager = FileManager.default
        try? manager.removeItem(atPath: path)
        try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        }
    }
}

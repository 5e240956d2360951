import Foundation

/// A temporary folder of one test, removed when its last reference is released.
///
/// A store takes 40 MB, so the folders of hundreds of tests would fill a disk. All folders of a run are below one that is
/// named by the process ID, so that the next run can remove the folders of a killed one.
final class Scratch: Sendable {
    let url: URL

    init() throws {
        url = try Self.ofThisRun.get().appendingPathComponent(String(UInt32.random(in: 0...UInt32.max)))
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    private static let prefix = "ccs-tests-"
    private static let place = FileManager.default.temporaryDirectory

    /// The folder of this process; its path is short because socket paths are limited.
    private static let run = place.appendingPathComponent(prefix + String(getpid()))

    /// Creates the folder of this process once, after removing the folders of ended processes.
    private static let ofThisRun = Result {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: place.path) where isLeft(name) {
            try? files.removeItem(at: place.appendingPathComponent(name))
        }
        try files.createDirectory(at: run, withIntermediateDirectories: true)
        // Objects in static variables are never released.
        atexit { try? FileManager.default.removeItem(at: Scratch.run) }
        return run
    }

    /// Returns whether a folder name belongs to a process that has ended.
    static func isLeft(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), let pid = Int32(name.dropFirst(prefix.count)) else { return false }
        return kill(pid, 0) != 0 && errno == ESRCH
    }
}

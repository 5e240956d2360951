import Foundation

/// A fresh folder for one test, removed when nothing holds it any more.
///
/// A store takes 40 MB: hundreds of tests that left theirs behind would fill a disk. All folders of a run
/// stand below one that names its process, so that the next run can remove what a killed one left.
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

    /// The folder of this process: short, for the paths of sockets below it.
    private static let run = place.appendingPathComponent(prefix + String(getpid()))

    /// Makes that folder, once, after what processes that ended left has been removed.
    private static let ofThisRun = Result {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: place.path) where isLeft(name) {
            try? files.removeItem(at: place.appendingPathComponent(name))
        }
        try files.createDirectory(at: run, withIntermediateDirectories: true)
        // What static variables hold is never let go of.
        atexit { try? FileManager.default.removeItem(at: Scratch.run) }
        return run
    }

    /// Whether this is the name of a folder whose process runs no more.
    static func isLeft(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), let pid = Int32(name.dropFirst(prefix.count)) else { return false }
        return kill(pid, 0) != 0 && errno == ESRCH
    }
}

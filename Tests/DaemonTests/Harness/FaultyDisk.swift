import Foundation

/// A library that stands between a program and its disk (Fixtures/disk/faulty_disk.c), compiled here.
enum DiskLibrary {
    /// Whether the compiler is installed.
    static var canBeBuilt: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/gcc") }

    private static let folder = Result { try Scratch() }
    private static let library = Result { try compile(into: folder.get().url) }

    /// The path of the library.
    static var path: String { get throws { try library.get().path } }

    /// What LD_PRELOAD must be for it: before what is preloaded already, which a sanitizer may need.
    static var preload: String {
        get throws {
            [try path, ProcessInfo.processInfo.environment["LD_PRELOAD"] ?? ""].joined(separator: ":")
        }
    }

    private static func compile(into folder: URL) throws -> URL {
        let target = folder.appendingPathComponent("faulty_disk.so")
        let compiler = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/gcc"),
            [
                "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", target.path,
                Places.root.appendingPathComponent("Fixtures/disk/faulty_disk.c").path, "-ldl",
            ])
        guard compiler.code == 0 else { throw HarnessFailure("gcc: \(compiler)") }
        return target
    }
}

/// A disk that fails for one daemon when it is told to, and is well again when it is told so.
final class FaultyDisk {
    /// The folder of the daemon.
    let scratch: Scratch
    private let control: URL

    init() throws {
        scratch = try Scratch()
        control = scratch.url.appendingPathComponent("disk")
    }

    /// What the daemon's environment must hold.
    var environment: [String: String] {
        get throws {
            [
                "LD_PRELOAD": try DiskLibrary.preload, "FAULTY_DISK_CONTROL": control.path,
                "FAULTY_DISK_ROOT": scratch.url.appendingPathComponent("data/store").path,
            ]
        }
    }

    /// From now on calls fail as these words say (see the library).
    func fail(_ words: String) throws { try words.write(to: control, atomically: true, encoding: .utf8) }

    /// The disk is well.
    func heal() throws { try FileManager.default.removeItem(at: control) }
}

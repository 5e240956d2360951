import Foundation

/// A preloaded library that intercepts a program's file system calls (Fixtures/disk/faulty_disk.c).
enum DiskLibrary {
    /// Whether the compiler is installed.
    static var canBeBuilt: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/gcc") }

    private static let folder = Result { try Scratch() }
    private static let library = Result { try compile(into: folder.get().url) }

    /// The path of the library.
    static var path: String { get throws { try library.get().path } }

    /// The value of LD_PRELOAD: the library, then the libraries that are preloaded already, as a sanitizer may need.
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
                TestPaths.root.appendingPathComponent("Fixtures/disk/faulty_disk.c").path, "-ldl",
            ])
        guard compiler.code == 0 else { throw HarnessFailure("gcc: \(compiler)") }
        return target
    }
}

/// A disk of one daemon whose failures a test switches on and off.
final class FaultyDisk {
    /// The folder of the daemon.
    let scratch: Scratch
    private let control: URL

    init() throws {
        scratch = try Scratch()
        control = scratch.url.appendingPathComponent("disk")
    }

    /// Variables for the daemon's environment.
    var environment: [String: String] {
        get throws {
            [
                "LD_PRELOAD": try DiskLibrary.preload, "FAULTY_DISK_CONTROL": control.path,
                "FAULTY_DISK_ROOT": scratch.url.appendingPathComponent("data/store").path,
            ]
        }
    }

    /// Makes calls fail as `words` specify (see faulty_disk.c).
    func fail(_ words: String) throws { try words.write(to: control, atomically: true, encoding: .utf8) }

    /// Ends the failures.
    func heal() throws { try FileManager.default.removeItem(at: control) }
}

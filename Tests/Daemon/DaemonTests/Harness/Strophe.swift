import Foundation

/// The app server with libstrophe: a C program that is compiled on first use.
enum Strophe {
    /// Whether libstrophe and the compiler are installed.
    static var isInstalled: Bool {
        FileManager.default.fileExists(atPath: "/usr/include/strophe.h")
            && FileManager.default.isExecutableFile(atPath: "/usr/bin/gcc")
    }

    private static let folder = Result { try Scratch() }
    private static let program = Result { try compile(into: folder.get().url) }

    private static func compile(into folder: URL) throws -> URL {
        let target = folder.appendingPathComponent("strophe_app_server")
        let compiler = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/gcc"),
            [
                "-O1", "-Wall", "-Wextra", "-Werror", "-o", target.path,
                TestPaths.root.appendingPathComponent("Fixtures/interop/strophe_app_server.c").path,
                "-lstrophe",
            ])
        guard compiler.code == 0 else { throw HarnessFailure("gcc: \(compiler)") }
        return target
    }

    /// Starts the app server, which logs in as a sender.
    static func driver(_ daemon: RunningDaemon, sender: String, key: String) throws -> Driver {
        let driver = try Driver(
            program: try program.get(), [String(daemon.port("app_server")), sender], secret: key)
        driver.acceptsPayloads = true
        return driver
    }
}

import Foundation

/// The packages under test, made once per run.
///
/// They contain the programs of this build, whose objects are linked again with the static runtime: seconds, where a build for
/// release takes minutes. `CCS_PACKAGE` names a package made by `Scripts/package` to be tested in their place.
struct TestPackages: Sendable {
    /// The package of this version.
    var package: URL
    /// The archive beside the package.
    var archive: URL
    /// The same programs in a package with a lower version, and its archive.
    var older: URL
    var olderArchive: URL

    /// The commit in packages of this build.
    static let commit = "0123456789ab"
    static let olderVersion = "0.0.1"
    /// The time of the commit in packages of this build.
    static let time = 1_790_000_000

    static let made = Result { try make(in: folder.get().url) }

    /// Why packages cannot be made on this machine, or `nil` if they can.
    static let obstacle: String? = {
        let environment = ProcessInfo.processInfo.environment
        if environment["CCS_SANITIZER"] != nil { return "A sanitizer's programs cannot be linked again." }
        for program in ["dpkg-deb", "dpkg-shlibdeps", "strip", "readelf"]
        where access("/usr/bin/\(program)", X_OK) != 0 {
            return "\(program) is missing: run Scripts/bootstrap --tests."
        }
        return BootedSystem.swiftLibraries == nil ? "No swiftc is on the PATH." : nil
    }()

    /// Why a system with a package cannot be booted, or `nil` if it can.
    static let bootObstacle = obstacle ?? BootedSystem.obstacle

    private static let folder = Result { try Scratch() }

    /// Runs Scripts/package. Throws `HarnessFailure` if it fails.
    static func run(_ arguments: [String], time: Int = time) throws -> [URL] {
        let script = TestPaths.root.appendingPathComponent("Scripts/package")
        let environment = ["CCS_COMMIT": commit, "SOURCE_DATE_EPOCH": String(time)]
        let tool = try Tool.run(script, arguments + ["--quick"], environment: environment)
        guard tool.code == 0 else { throw HarnessFailure("Scripts/package \(arguments): \(tool)") }
        return tool.output.split(separator: "\n").map { URL(fileURLWithPath: String($0)) }
    }

    private static func make(in folder: URL) throws -> TestPackages {
        var (made, programs): ([URL], String)
        if let path = ProcessInfo.processInfo.environment["CCS_PACKAGE"] {
            made = [URL(fileURLWithPath: path)]
            let root = folder.appendingPathComponent("extracted").path
            let tool = try Tool.run(URL(fileURLWithPath: "/usr/bin/dpkg-deb"), ["-x", path, root])
            guard tool.code == 0 else { throw HarnessFailure("dpkg-deb -x \(path): \(tool)") }
            programs = root + "/usr/bin"
            made.append(try run(["--programs", programs, "--out", folder.path])[1])
        } else {
            made = try run(["--relink", TestPaths.built.path, "--out", folder.path])
            programs = folder.path + "/programs"
        }
        let older = try runOlder(programs, out: folder)
        return TestPackages(package: made[0], archive: made[1], older: older[0], olderArchive: older[1])
    }

    /// Packages programs with the lower version. Returns the package and its archive.
    static func runOlder(_ programs: String, out folder: URL, time: Int = time) throws -> [URL] {
        try run(["--programs", programs, "--out", folder.path, "--version", olderVersion], time: time)
    }

    /// The folder of the programs in the packages.
    static func programs() throws -> URL {
        let folder = try folder.get().url
        _ = try made.get()
        let extracted = folder.appendingPathComponent("extracted/usr/bin")
        return FileManager.default.fileExists(atPath: extracted.path)
            ? extracted : folder.appendingPathComponent("programs")
    }

    /// Boots a system without Swift and with the packages in `/opt/ccsd-tests`; nothing is installed.
    static func boot() throws -> BootedSystem {
        let packages = try made.get()
        let system = try BootedSystem(
            .files([packages.package, packages.older, TestPaths.built.appendingPathComponent("ccsctl")]))
        // An image for containers forbids to start services, and lets apt ask.
        try system.output("rm", "-f", "/usr/sbin/policy-rc.d")
        try system.write("/etc/apt/apt.conf.d/99ccsd-tests", "APT::Get::Assume-Yes \"true\";\n")
        return system
    }

    /// Boots a system without Swift, installs a package, and enables the units: where other tests of an installed server begin.
    static func installed(_ package: URL) throws -> BootedSystem {
        let system = try boot()
        try system.output("apt-get", "install", "/opt/ccsd-tests/\(package.lastPathComponent)")
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        return system
    }
}

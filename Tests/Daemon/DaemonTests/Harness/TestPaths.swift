import BasicsSupport
import Foundation

/// Paths of the programs and clients that these tests run.
enum TestPaths {
    /// The folder of the programs under test: `CCS_PROGRAMS`, or the folder of the test program.
    static let programs =
        ProcessInfo.processInfo.environment["CCS_PROGRAMS"].map { URL(fileURLWithPath: $0) } ?? built

    /// The folder of the test program.
    static let built = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The root of the package.
    static let root = URL(fileURLWithPath: PackageRoot.path)

    /// The folder of the drivers.
    static let clients = root.appendingPathComponent("Tests/Daemon/DaemonTests/Clients")

    /// The plugin of pytest, with the map of Google's host names.
    static let pytestPlugin = root.appendingPathComponent("docs/examples/pytest-ccsd")

    /// Python packages for environments that a test makes, downloaded by Scripts/bootstrap --tests.
    static let wheels = root.appendingPathComponent(".wheels")

    static var hasWheels: Bool {
        FileManager.default.fileExists(atPath: wheels.appendingPathComponent("downloaded.txt").path)
    }

    /// Python with the pinned clients, installed by Scripts/bootstrap --tests.
    static let python = root.appendingPathComponent(".venv/bin/python")

    /// Python with the releases that conflict with those.
    static let pythonV1 = root.appendingPathComponent(".venv-v1/bin/python")

    /// openapi-python-client, which generates a client from /openapi.json.
    static let clientGenerator = root.appendingPathComponent(".venv-openapi/bin/openapi-python-client")

    static var hasClientGenerator: Bool {
        FileManager.default.isExecutableFile(atPath: clientGenerator.path)
    }

    /// Whether the Python clients are installed.
    static var hasPython: Bool { FileManager.default.isExecutableFile(atPath: python.path) }
    static var hasPythonV1: Bool { FileManager.default.isExecutableFile(atPath: pythonV1.path) }

    static var hasSchemathesis: Bool {
        FileManager.default.isExecutableFile(
            atPath: root.appendingPathComponent(".venv/bin/schemathesis").path)
    }

    /// Whether Chromium is installed, and certutil, which adds a trusted CA to it.
    static var hasChromium: Bool {
        ["/usr/bin/chromium", "/usr/bin/certutil"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Debian's libfaketime. It is preloaded without its wrapper, which would wait for the child.
    static let fakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

    static var hasFakeTime: Bool { FileManager.default.fileExists(atPath: fakeTime) }

    /// HAProxy, from Debian.
    static let haproxy = URL(fileURLWithPath: "/usr/sbin/haproxy")

    static var hasHAProxy: Bool { FileManager.default.isExecutableFile(atPath: haproxy.path) }

    /// Ruby and Perl, from Debian.
    static let ruby = URL(fileURLWithPath: "/usr/bin/ruby")
    static let perl = URL(fileURLWithPath: "/usr/bin/perl")

    /// Whether Ruby, Perl and their XMPP libraries are installed.
    static var hasDebianClients: Bool {
        [
            ruby.path, perl.path, "/usr/share/perl5/Net/XMPP.pm",
            "/usr/share/rubygems-integration/all/gems/xmpp4r-0.5.6/lib/xmpp4r.rb",
        ].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }
}

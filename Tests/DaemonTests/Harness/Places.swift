import Foundation

/// Where the programs and the clients of these tests are.
enum Places {
    /// The folder of the built programs: that of the test program itself, or the one that `CCS_PROGRAMS` names.
    static let programs =
        ProcessInfo.processInfo.environment["CCS_PROGRAMS"].map { URL(fileURLWithPath: $0) } ?? built

    /// The folder of the test program itself.
    static let built = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The root of the package.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the Python drivers.
    static let clients = root.appendingPathComponent("Tests/DaemonTests/Clients")

    /// Python with the pinned clients, from Scripts/bootstrap --tests.
    static let python = root.appendingPathComponent(".venv/bin/python")

    /// Python with the releases that cannot share a folder with those.
    static let pythonV1 = root.appendingPathComponent(".venv-v1/bin/python")

    /// The generator of clients from /openapi.json.
    static let clientGenerator = root.appendingPathComponent(".venv-openapi/bin/openapi-python-client")

    /// Whether it is installed.
    static var hasClientGenerator: Bool {
        FileManager.default.isExecutableFile(atPath: clientGenerator.path)
    }

    /// Whether the Python clients are installed.
    static var hasPython: Bool { FileManager.default.isExecutableFile(atPath: python.path) }
    static var hasPythonV1: Bool { FileManager.default.isExecutableFile(atPath: pythonV1.path) }

    /// Whether schemathesis is among them.
    static var hasSchemathesis: Bool {
        FileManager.default.isExecutableFile(
            atPath: root.appendingPathComponent(".venv/bin/schemathesis").path)
    }

    /// Whether Chromium is installed, and the tool by which it is given an authority to trust.
    static var hasChromium: Bool {
        ["/usr/bin/chromium", "/usr/bin/certutil"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// The library that shows a program another time, from Debian. It is preloaded by itself: its wrapper would wait for its child.
    static let fakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

    /// Whether that is installed.
    static var hasFakeTime: Bool { FileManager.default.fileExists(atPath: fakeTime) }

    /// HAProxy, from Debian.
    static let haproxy = URL(fileURLWithPath: "/usr/sbin/haproxy")

    /// Whether HAProxy is installed.
    static var hasHAProxy: Bool { FileManager.default.isExecutableFile(atPath: haproxy.path) }

    /// Ruby and Perl, from Debian.
    static let ruby = URL(fileURLWithPath: "/usr/bin/ruby")
    static let perl = URL(fileURLWithPath: "/usr/bin/perl")

    /// Whether the clients of these languages are installed.
    static var hasDebianClients: Bool {
        [
            ruby.path, perl.path, "/usr/share/perl5/Net/XMPP.pm",
            "/usr/share/rubygems-integration/all/gems/xmpp4r-0.5.6/lib/xmpp4r.rb",
        ].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }
}

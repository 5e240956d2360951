import Basics
import Catalogue
import Glibc
import Operator
import Testing
import Transport
import Wire

@testable import Server

/// `ccsd check` reports all mistakes in one run, each with the place of its key.
@Suite struct ConfigCheckTests {
    /// A folder for one test.
    private final class Folder {
        let path: String

        init() throws {
            var template = Array("/tmp/ccsd-check-XXXXXX".utf8CString)
            path = try #require(mkdtemp(&template).map { String(cString: $0) })
        }

        deinit { system("rm -rf '\(path)'") }

        func run(_ command: String) throws {
            try #require(system("cd '\(path)' && { \(command); } >/dev/null 2>&1") == 0, "\(command)")
        }

        /// Returns the findings of a check of a file with these lines, with `FILE` for its path.
        func check(_ lines: String, running: DetectedDaemon? = nil) throws -> [String] {
            let text = "format: 1\n" + lines
            let file = "\(path)/ccsd.yaml"
            try SmallFile.replace(file, with: Array(text.utf8), mode: 0o600)
            let report = ConfigurationSource(file: file).check(running: running)
            return report.lines.map { line in
                line.split(separator: "\(path)/ccsd.yaml", omittingEmptySubsequences: false).joined(
                    separator: "FILE")
            }
        }

        /// Settings without mistakes.
        var sound: String {
            "data_directory: \(path)/data\napp_server_port: 0\napp_server_preproduction_port: 0\ndevice_port: 0\nhttps_port: 0\n"
        }

        /// The list of all files in the folder.
        func content() throws -> String {
            try run("find . -not -name list -not -name ccsd.yaml | sort > list")
            return String(decoding: try SmallFile.read("\(path)/list"), as: UTF8.self)
        }
    }

    @Test("a check of a valid configuration has no findings and leaves no files")
    func sound() throws {
        let folder = try Folder()
        let before = try folder.content()
        #expect(try folder.check(folder.sound) == [])
        #expect(try folder.content() == before)
    }

    @Test("a check reports mistakes in the file together with those of certificate, folder, socket and ports")
    func everything() throws {
        let folder = try Folder()
        try folder.run(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout a.key -out a.pem -subj /CN=a -days 365")
        try folder.run("openssl genpkey -algorithm RSA -out b.key; chmod 600 *.key")
        let taken = try ListeningSocket(tcp: .loopback(port: 0))
        let port = taken.address.port
        let found = try folder.check(
            """
            keepalive_second: 5
            data_directory: \(folder.path)/missing/data
            certificate_file: \(folder.path)/a.pem
            key_file: \(folder.path)/b.key
            control_socket: \(folder.path)/\(String(repeating: "x", count: 100)).sock
            app_server_port: \(port)
            app_server_preproduction_port: 0
            device_port: 0
            https_port: 0

            """)
        #expect(
            found.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
                "error: FILE:2:1: keepalive_second:", "error: FILE:3:17: data_directory:",
                "error: FILE:5:11: key_file:", "error: FILE:6:17: control_socket:",
                "error: FILE:7:18: app_server_port:",
            ], "\(found)")
        extendLifetime(taken)
    }

    @Test(
        "a data directory that is a file or has no parent, and a socket path in use, are errors"
    )
    func folders() throws {
        let folder = try Folder()
        try folder.run(": > file; mkdir data; chmod 755 data")
        func first(_ lines: String) throws -> String {
            try folder.check(lines + Self.noPorts).joined(separator: "\n")
        }
        #expect(
            try first("data_directory: \(folder.path)/file\n").contains(
                "error: FILE:2:17: data_directory: \(folder.path)/file is not a folder"))
        #expect(
            try first("data_directory: \(folder.path)/a/b\n").contains(
                "is missing, and so is its parent folder \(folder.path)/a"))
        #expect(
            try first("data_directory: \(folder.path)/data\n").contains(
                "warning: FILE:2:17: data_directory: \(folder.path)/data is accessible to other users (chmod 700"
            ))
        #expect(
            try first("data_directory: \(folder.path)/new\ncontrol_socket: \(folder.path)/file\n").contains(
                "error: FILE:3:17: control_socket: \(folder.path)/file exists and is not a socket"))
        #expect(
            try first("data_directory: \(folder.path)/new\ncontrol_socket: \(folder.path)/no/s\n").contains(
                "error: FILE:3:17: control_socket: the folder \(folder.path)/no of the control socket is missing"
            ))
    }

    private static let noPorts =
        "app_server_port: 0\napp_server_preproduction_port: 0\ndevice_port: 0\nhttps_port: 0\n"

    @Test("a port in use by the running ccsd is a note, and one in use by another process is an error")
    func running() throws {
        let folder = try Folder()
        let taken = try ListeningSocket(tcp: .loopback(port: 0))
        let port = Int(taken.address.port)
        let lines =
            folder.sound.split(separator: "\n").filter { !$0.hasPrefix("device_port") }.joined(
                separator: "\n")
            + "\ndevice_port: \(port)\n"
        let status: JSONValue = [
            "pid": 42, "store": ["kind": "rocksdb", "path": "/d", "healthy": true, "partitions": 16],
            "listeners": [
                ["name": "device", "address": "::1", "port": .integer(port)],
                ["name": "control", "address": "/s", "port": 0],
            ],
        ]
        let older = try DetectedDaemon(status, controlSocket: "/s")
        #expect(
            older
                == DetectedDaemon(
                    process: 42, store: "/d", controlSocket: "/s", ports: [port], partitions: 16),
            "the status of another version is decoded")
        #expect(throws: FieldProblem.self) { try DetectedDaemon(["pid": 42], controlSocket: "/s") }
        let living = DetectedDaemon(
            process: 42, store: "\(folder.path)/data/store",
            controlSocket: "\(folder.path)/data/control.sock",
            ports: [port])
        #expect(
            try folder.check(lines, running: living) == [
                "note: FILE:6:14: device_port: port \(port) is in use by the running ccsd (process 42)"
            ])
        let other = try folder.check(lines)
        #expect(
            other.count == 1 && other[0].hasPrefix("error: FILE:6:14: device_port: port \(port) is "),
            "\(other)")
        extendLifetime(taken)
    }

    @Test("an address of another machine is one finding, at listen_address")
    func address() throws {
        let folder = try Folder()
        let found = try folder.check(
            "data_directory: \(folder.path)/data\nlisten_address: 192.0.2.1\n")
        #expect(
            found.count == 1
                && found[0].hasPrefix("error: FILE:3:17: listen_address: 192.0.2.1 is not an address"),
            "\(found)")
    }

    @Test("the address of the admin port has its own finding")
    func adminAddress() throws {
        let folder = try Folder()
        let lines = "data_directory: \(folder.path)/data\nadmin_port: 9\n"
        let found = try folder.check(lines + "admin_address: 192.0.2.1\nadmin_plain_http: true\n")
        #expect(
            found.count == 1
                && found[0].hasPrefix("error: FILE:4:16: admin_address: 192.0.2.1 is not an address"),
            "\(found)")
        let plain = try folder.check(lines + "admin_address: 192.0.2.1\n")
        #expect(
            plain.count == 1 && plain[0].hasPrefix("error: FILE:4:16: admin_address: 192.0.2.1 is outside"),
            "\(plain)")
    }

    @Test("a finding about a flag or variable has its name")
    func places() throws {
        let folder = try Folder()
        let source = ConfigurationSource(
            environment: [("CCSD_KEY_FILE", "\(folder.path)/none.key")],
            flags: [(.certificateFile, "\(folder.path)/none.pem"), (.dataDirectory, "\(folder.path)/data")]
                + [ConfigKey.appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort].map {
                    ($0, "0")
                })
        #expect(
            source.check().lines == [
                "error: --certificate-file: \(folder.path)/none.pem: No such file or directory (give the path of a PEM file)",
                "error: CCSD_KEY_FILE: \(folder.path)/none.key: No such file or directory (give the path of a PEM file)",
            ])
        let report = source.check()
        #expect(!report.isSound && report.answer.json["ok"]?.boolean == false)
        #expect(report.answer.json["findings"]?.elements?.first?["flag"]?.text == "--certificate-file")
    }

    @Test("an unreadable file is a single finding")
    func unreadable() throws {
        let report = ConfigurationSource(file: "/nonexistent/ccsd.yaml").check()
        #expect(
            report.lines.count == 1
                && report.lines[0].hasPrefix("error: /nonexistent/ccsd.yaml: cannot be read"))
    }

    @Test("our own authority is checked if it exists, and not created by a check")
    func authority() throws {
        let folder = try Folder()
        try folder.run(
            "mkdir -m 700 data; openssl req -x509 -newkey rsa:2048 -nodes -keyout data/other -out data/ca.pem -subj /CN=a -days 3650; openssl genpkey -algorithm RSA -out data/ca.key"
        )
        let found = try folder.check(folder.sound)
        #expect(found.count == 1 && found[0].contains("do not belong together"), "\(found)")
    }
}

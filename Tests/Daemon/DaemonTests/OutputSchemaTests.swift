import Basics
import Catalogue
import ClientProtocol
import Foundation
import Operator
import Testing
import Wire
import WireSupport

/// What ccsctl prints with --json fits the schema that it prints itself.
@Suite("Printed schemas", .serialized)
struct OutputSchemaTests {
    private static let schema = OutputSchema.document(SchemaPrinter.offline)

    private static func definition(_ name: String) -> JSONValue? { schema["$defs"]?[name] }

    /// Returns the violations of each printed line: lines of the command first, then its answer or an error.
    private static func violations(_ command: String, _ tool: Tool) -> [String] {
        let lines = tool.output.split(separator: "\n").compactMap {
            try? JSONValue(parsing: Array($0.utf8).raw)
        }
        guard let last = lines.last else { return ["nothing was printed: \(tool)"] }
        var found: [String] = []
        for line in lines.dropLast() {
            let name = "\(command): \(line.members?.first?.key ?? "")"
            guard let schema = definition(name) else { return ["no schema for \(name)"] }
            found += SchemaCheck.violations(of: schema, in: line)
        }
        let name = last["exit_code"] == nil ? command : "error"
        guard let schema = definition(name) else { return ["no schema for \(name)"] }
        if let code = last["exit_code"]?.integer, code != Int(tool.code) { found.append("\(tool)") }
        return found + SchemaCheck.violations(of: schema, in: last, allowsOthers: command == "schema")
    }

    @Test("every command of ccsctl has a schema, and prints what fits it, on success and on failure")
    func everyCommand() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        _ = try daemon.ctl("send", sender.id, device.token, "text=hello")
        device.stop()
        _ = try daemon.ctl("send", sender.id, device.token, "text=hello", "--message-id", "m-1")
        let number = String(device.identity.androidID)
        var succeeded: Set<String> = []
        for command in Program.ccsctl.commands {
            #expect(Self.definition(command.name) != nil, "\(command.name)")
            for words in Self.words(command, sender.id, number, device.token, scratch: daemon.directory) {
                let tool = try Tool.run("ccsctl", ["--json", "--socket", daemon.controlSocket] + words)
                let violations = Self.violations(command.name, tool)
                #expect(violations == [], "\(words): \(tool)")
                if tool.code == 0 { succeeded.insert(command.name) }
            }
        }
        // Commands for Apple's credentials need a key of Apple, an installation needs an app with Firebase, and this daemon is no node.
        let failing = Set(Program.ccsctl.commands.map(\.name)).subtracting(succeeded)
        #expect(
            failing.isSubset(of: [
                "apns show", "apns test", "apns remove", "installations show", "installations revoke",
                "cluster found", "cluster add", "cluster status", "cluster handover", "cluster remove",
                "cluster admit",
                // The test bench of this daemon is off: VirtualDeviceTests, RecorderTests and FaultTests have one.
                "virtual-devices add", "virtual-devices list", "virtual-devices change",
                "virtual-devices messages", "virtual-devices send", "virtual-devices sent",
                "virtual-devices settle", "virtual-devices reinstall", "virtual-devices unregister",
                "virtual-devices remove",
                "faults add", "faults list", "faults remove", "faults clear", "test-bench reset",
                "recorders add",
                "recorders list", "recorders messages", "recorders clear",
                "recorders remove",
                // And its test clock: TestClockTests has one.
                "clock advance",
            ]),
            "\(failing)")
    }

    @Test("canary: an output of another command, and one with a further field, do not fit")
    func canary() {
        let status = Tool(code: 0, output: #"{"sessions":3}"# + "\n", errors: "")
        #expect(Self.violations("drain", status) == [])
        #expect(Self.violations("status", status) != [])
        let more = Tool(code: 0, output: #"{"sessions":3,"x":1}"# + "\n", errors: "")
        #expect(Self.violations("drain", more) != [])
        let error = Tool(code: 1, output: #"{"error":"e","hint":"","exit_code":64}"# + "\n", errors: "")
        #expect(Self.violations("drain", error) != [], "the exit code is another one")
    }

    @Test("the printed document is the one that is checked, and each definition is a document of its own")
    func printed() throws {
        let whole = try Tool.run("ccsctl", ["schema"])
        #expect(try JSONValue(parsing: Array(whole.output.utf8).raw) == Self.schema)
        for name in ["senders list", "devices trace: trace", "error"] {
            let one = try Tool.run("ccsctl", ["schema"] + name.split(separator: " ").map(String.init))
            #expect(one.code == 0 && one.object?["version"] as? Int == OutputSchema.version, "\(one)")
        }
        let unknown = try Tool.run("ccsctl", ["schema", "senders", "lst"])
        #expect(unknown.code == 1 && unknown.errors.contains("senders list"), "\(unknown)")
    }

    /// Returns invocations of a command: valid ones, in an order in which they can succeed, and for some an invalid one.
    private static func words(
        _ command: Command, _ sender: String, _ device: String, _ token: String, scratch: URL
    ) -> [[String]] {
        let name = command.words
        let yes = command.options.contains { $0.name == "--yes" } ? ["--yes"] : []
        let key = scratch.appendingPathComponent("key-\(UInt32.random(in: 0...(.max))).json").path
        switch command.name {
        case "send": return [name + [sender, token, "a=b"], name + [sender, "malformed", "a=b"]]
        case "senders add": return [name + ["--sender-id", "4711"], name + ["--sender-id", "4711"]]
        case "senders suspend", "senders resume": return [name + ["4711"], name + ["5"]]
        case "senders rotate-key": return [name + ["4711"], name + ["4711", "--overlap-seconds", "0"]]
        case "senders remove": return [name + ["4711"] + yes, name + ["4711"] + yes, name + ["4711"]]
        case "senders webhook set":
            return [name + [sender, "https://a.example/"], name + [sender, "http://a"]]
        case "senders webhook rotate", "senders webhook clear":
            return [name + [sender] + yes, name + ["5"] + yes]
        case "senders webhook show", "senders webhook pause", "senders webhook resume":
            return [name + [sender], name + ["5"]]
        case "service-accounts add": return [name + [sender, "--out", key], name + [sender, "--out", key]]
        case "service-accounts remove":
            let listed =
                (try? Tool.run(
                    "ccsctl",
                    ["--json", "--socket", scratch.path + "/data/control.sock", "service-accounts", "list"]))?
                .object?["accounts"] as? [[String: Any]]
            return [name + [sender, listed?.first?["key_id"] as? String ?? "none"] + yes]
        case "operators add", "operators remove": return [name + ["alice"] + yes]
        case "messages list": return [name + [token], name + ["--sender", sender], name]
        case "messages find": return [name + ["m-1"], name + ["--sender", sender]]
        case "messages totals": return [name, name + ["--sender", sender]]
        case "messages hours": return [name, name + ["--hours", "2", "--days", "1"]]
        case "messages history": return [name + [device], name + [token]]
        case "messages cancel": return [name + [token, "m-1"]]
        case "devices trace": return [name + [device, "--seconds", "1"]]
        case "devices show", "devices forget": return [name + [device] + yes, name + ["5"] + yes]
        case "apns add":
            let file = TestPaths.root.appendingPathComponent("Fixtures/apns/aes.p12").path
            let password = scratch.appendingPathComponent("password")
            try? "secret\n".write(to: password, atomically: true, encoding: .utf8)
            return [name + [file, "--password-file", password.path]]
        case "apns show", "apns test", "apns remove": return [name + ["none"] + yes]
        case "apns feedback": return [name + [sender], name + ["5"]]
        case "installations show", "installations revoke": return [name + ["cGFzc3dvcmQ_aGVsbG8tdw"] + yes]
        case "backup":
            // The second one finds the folder in use.
            let folder = scratch.appendingPathComponent("backup").path
            return [name + [folder], name + [folder]]
        case "export", "import": return [name + [scratch.appendingPathComponent("registry.jsonl").path]]
        case "explain": return [name, name + ["nonsense"]]
        case "man", "completion": return [name + [command.arguments[0].choices[0]]]
        case "ca": return [name, name + ["--out", scratch.appendingPathComponent("authority.pem").path]]
        default: return [name + yes]
        }
    }
}

import Basics
import Catalogue
import Glibc
import Transport

/// Creates devices by an import (`ccsctl import`), each with one registration that subscribes to a topic: many more than could enrol in the
/// time, which never connect.
struct Importation {
    /// Android IDs of the devices: check-ins never return so low ones.
    private static let firstDevice = 1_000_000_000_000
    /// Bytes that are written to the file at once.
    private static let bufferBytes = 4_194_304

    let bench: Bench
    let target: DaemonTarget
    let topic: String

    /// Creates `count` devices.
    func run(_ count: Int) throws(BenchError) {
        let path = "\(bench.scratch)/subscribers.jsonl"
        try write(count, to: path)
        bench.progress.show("subscribers imported", 0, of: count)
        let child = try bench.start(
            "ccsctl", ["--socket", target.controlPath, "import", "--yes", path], log: "import.log")
        // The output is shorter than what a pipe takes.
        while child.isRunning { _ = usleep(50_000) }
        bench.progress.clear()
        guard child.exitCode == 0 else {
            throw BenchError(
                "ccsctl import ended with \(child.exitCode ?? -1); see \(bench.scratch)/import.log")
        }
        _ = unsafe unlink(path)
    }

    private func write(_ count: Int, to path: String) throws(BenchError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw BenchError("cannot create \(path)", code: .inputOutput) }
        defer { _ = close(file) }
        let (sender, time) = (target.sender.number, Timestamp.text(Now.read().wall))
        var text = "{\"kind\":\"header\",\"format\":1,\"ccsd\":\"0.1.0\",\"created_at\":\"\(time)\"}\n"
        text.reserveCapacity(Self.bufferBytes + 1_024)
        for number in 0..<count {
            let device = Self.firstDevice + number
            text +=
                "{\"kind\":\"device\",\"device\":\"\(device)\",\"sha256\":\"iDkkIPwLCOkacig948OPe9R0Vul/aRfVe2OvsxUV81M=\",\"created_at\":\"\(time)\",\"seen_at\":\"\(time)\",\"next_registration\":2,\"logged_in\":true}\n"
            text +=
                "{\"kind\":\"registration\",\"device\":\"\(device)\",\"number\":1,\"app\":\"\(DaemonTarget.category)\",\"sender\":\"\(sender)\",\"sender_id\":\"\(sender)\",\"instance\":\"bench\",\"scope\":\"unnamed\",\"created_at\":\"\(time)\"}\n"
            text +=
                "{\"kind\":\"subscription\",\"device\":\"\(device)\",\"number\":1,\"sender_id\":\"\(sender)\",\"topic\":\"\(topic)\",\"created_at\":\"\(time)\"}\n"
            if text.utf8.count >= Self.bufferBytes { try flush(&text, file, path) }
        }
        text += "{\"kind\":\"end\",\"rows\":\(count * 3)}\n"
        try flush(&text, file, path)
    }

    private func flush(_ text: inout String, _ file: Int32, _ path: String) throws(BenchError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            guard written > 0 else { throw BenchError("cannot write to \(path)", code: .inputOutput) }
            bytes = bytes.dropFirst(written)
        }
        text.removeAll(keepingCapacity: true)
    }
}

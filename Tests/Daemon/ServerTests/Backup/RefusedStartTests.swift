import Basics
import Catalogue
import Foundation
import Store
import Testing

@testable import RocksStore
@testable import Server

/// Data directories that a start refuses by name, and leaves as they are.
@Suite("Refused data directories", .serialized) struct RefusedStartTests {
    /// Returns the files of a data directory with their content, without those that every start writes.
    private func content(_ folder: ServerFolder) throws -> [String: Data] {
        let data = "\(folder.path)/data"
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: data) {
            var isFolder: ObjCBool = false
            let path = "\(data)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            files[name] = try Data(contentsOf: URL(fileURLWithPath: path))
        }
        return files
    }

    /// Gives a store another layout.
    private func change(layoutOf folder: ServerFolder, to layout: Int) throws {
        let engine = try Engine(path: "\(folder.path)/data/store", memory: SeenFilter())
        let batch = EngineBatch(engine)
        let (key, value) = (MetaKey.format, Array("\(layout)".utf8))
        batch.put(.meta, key.raw, value.raw)
        try engine.write(batch)
        try engine.flush(waits: true)
    }

    @Test(
        "a store of an older or a newer version is refused with both layouts, what to do, and exit code 74",
        arguments: [
            (RocksStore.layout - 1, "an older version", "ccsctl export there, and import"),
            (RocksStore.layout + 1, "a newer version", "install that version, or restore a backup"),
        ])
    func layouts(_ layout: Int, _ age: String, _ advice: String) throws {
        let folder = try ServerFolder()
        #expect(try InProcessServer(in: folder).stop() == .success)
        try change(layoutOf: folder, to: layout)
        let before = try content(folder)
        #expect(before.keys.contains("store/CURRENT"))
        for _ in 1...2 {
            let failure = #expect(throws: StartupFailure.self) { try InProcessServer(in: folder) }
            #expect(
                failure?.text.hasSuffix("has layout \(layout), expected layout \(RocksStore.layout)") == true,
                "\(failure?.text ?? "")")
            #expect(failure?.hint.contains(age) == true && failure?.hint.contains(advice) == true)
            #expect(failure?.exitCode == .inputOutput)
        }
        #expect(try content(folder) == before)
        try change(layoutOf: folder, to: RocksStore.layout)
        #expect(try InProcessServer(in: folder).stop() == .success, "canary: the layout alone was the reason")
    }

    @Test(
        "a data directory whose restore was interrupted without its store is refused, and starts once it is there"
    )
    func interrupted() throws {
        let folder = try ServerFolder()
        #expect(try InProcessServer(in: folder).stop() == .success)
        try folder.run("mkdir data/.restore.partial && mv data/store data/.restore.partial/")
        let failure = #expect(throws: StartupFailure.self) { try InProcessServer(in: folder) }
        #expect(failure?.text.contains("was interrupted, and its store is not there") == true)
        #expect(failure?.hint.contains("ccsd restore --replace again") == true)
        #expect(failure?.exitCode == .inputOutput)
        try folder.run("mv data/.restore.partial/store data/ && rmdir data/.restore.partial")
        #expect(try InProcessServer(in: folder).stop() == .success)
    }
}

import Basics
import Catalogue
import Glibc

/// The folder that a backup is written to: checked, and created under its name only when it is complete.
struct BackupTarget {
    /// Where the service unit lets ccsd write backups.
    static let serviceFolder = "/var/lib/ccsd-backup"

    let path: String
    /// The name until the backup is complete.
    var partial: String { path + BackupLayout.partial }
    /// The folder that contains it.
    let parent: String

    /// The folder for backups that a service manager has given to this process. `nil` if there is none.
    static var folderOfService: String? {
        guard let value = unsafe getenv("STATE_DIRECTORY") else { return nil }
        return folder(inStateDirectories: unsafe String(cString: value))
    }

    /// Returns the folder for backups in systemd's list of state folders: the one besides the data directory.
    static func folder(inStateDirectories list: String) -> String? {
        list.split(separator: ":").first { $0.hasPrefix("/") && $0.hasSuffix("-backup") }.map { String($0) }
    }

    /// Returns the path of a folder that an operator gave: a name is in the folder of the service, or else in that of the caller.
    static func path(_ given: String, service: String?, caller: String?) -> String {
        guard !given.contains("/"), ![".", ".."].contains(given), let folder = service ?? caller else {
            return given
        }
        return "\(folder)/\(given)"
    }

    private static let forbidden =
        "ccsd writes the backup itself: give a folder that the user of ccsd may create. Under the service unit use a folder in \(serviceFolder), or allow another one with ReadWritePaths= (systemctl edit ccsd)"

    /// Checks a path that an operator gave.
    init(_ given: String, dataDirectory: String) throws(BackupFailure) {
        guard given.hasPrefix("/"), !given.utf8.contains(0) else {
            throw BackupFailure(
                "invalid folder \"\(Printable.text(given))\": expected an absolute path",
                hint: "ccsd has another working folder than you", .usage)
        }
        let parts = given.split(separator: "/").filter { $0 != "." }
        guard let name = parts.last, !parts.contains("..") else {
            throw BackupFailure(
                "invalid folder \"\(Printable.text(given))\": expected the path of a new folder, without ..",
                hint: "give a path such as \(Self.serviceFolder)/monday", .usage)
        }
        guard !name.hasSuffix(BackupLayout.partial) else {
            throw BackupFailure(
                "invalid folder \"\(Printable.text(given))\": \(BackupLayout.partial) is the end of an interrupted backup's name",
                hint: "give another name", .usage)
        }
        try Self.demandOwnLinks(parts.dropLast())
        guard let parent = BackupFiles.real("/" + parts.dropLast().joined(separator: "/")) else {
            throw .system(
                "use", "/" + parts.dropLast().joined(separator: "/"),
                hint: errno == ENOENT ? "create this folder first, for the user of ccsd" : Self.forbidden)
        }
        self.parent = parent
        path = parent == "/" ? "/\(name)" : "\(parent)/\(name)"
        try demandOutside(of: dataDirectory)
        try demandFree()
    }

    /// Throws if a link on the way belongs to a user who is neither root nor that of ccsd: it would decide where the backup is written.
    private static func demandOwnLinks(_ folders: ArraySlice<Substring>) throws(BackupFailure) {
        var path = ""
        for folder in folders {
            path += "/\(folder)"
            if let user = BackupFiles.linkOwner(path), user != 0, user != geteuid() {
                throw HeldFolder.foreign(path, user)
            }
        }
    }

    private func demandOutside(of dataDirectory: String) throws(BackupFailure) {
        guard let data = BackupFiles.real(dataDirectory), BackupFiles.isWithin(path, data) else { return }
        throw BackupFailure(
            "\(path) is inside the data directory \(data)",
            hint: "a backup there would be lost with the data directory: give a folder outside of it", .usage)
    }

    private func demandFree() throws(BackupFailure) {
        guard let kind = BackupFiles.kind(path) else { return }
        guard kind == S_IFDIR else {
            throw BackupFailure(
                "\(path) exists and is not a folder", hint: "give the path of a new folder", .failure)
        }
        guard try BackupFiles.names(in: path).isEmpty else {
            throw BackupFailure(
                "\(path) is not empty", hint: "give a new folder for each backup, such as \(path)/monday",
                .failure)
        }
    }

    /// The last name of the path, and the temporary one.
    private var name: String { String(path.split(separator: "/").last ?? "") }
    private var partialName: String { name + BackupLayout.partial }

    /// The folder of a backup that is being written, and the one that contains it. Others may write to the latter.
    struct Draft {
        let parent: HeldFolder
        let folder: HeldFolder
    }

    /// Creates the folder under its temporary name. What an interrupted backup of this user has left there is removed.
    func begin() throws(BackupFailure) -> Draft {
        let parent = try HeldFolder(parent)
        try parent.demandOwn(orOf: 0)
        try parent.remove(partialName)
        do throws(BackupFailure) {
            return Draft(parent: parent, folder: try parent.makeFolder(partialName))
        } catch {
            guard error.exitCode == .noPermission else { throw error }
            throw BackupFailure(error.text, hint: Self.forbidden, error.exitCode)
        }
    }

    /// Gives the complete folder its name.
    func complete(_ draft: Draft) throws(BackupFailure) {
        try draft.parent.rename(
            draft.folder, from: partialName, to: name,
            hint: "a file system is mounted there: give a new folder in it")
        try draft.parent.sync()
    }

    /// Removes what has been written.
    func abandon(_ draft: Draft) { try? draft.parent.remove(partialName) }
}

import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// Converts command lines to requests.
enum CommandArguments {
    /// Returns the request of an invocation, with the content of files filled in, except for service accounts
    /// (see `ServiceAccountFile`).
    static func request(
        _ operation: any OperatorCommand.Type, for invocation: Invocation
    ) throws(Failure) -> any OperatorCommand {
        var given = object(operation, for: invocation)
        if operation is SendMessage.Type, let path = invocation.text("--message") {
            let text = try TextFile.read(path, limit: Limits.Operator.requestBytes).revealed
            given = .object(
                (given.members ?? []) + [.init("message", .object(try members(of: text, path)))])
        }
        if operation is AddAPNsCredential.Type {
            given = .object((given.members ?? []) + (try CredentialFiles.members(invocation)))
        }
        let command: any OperatorCommand
        do throws(FieldProblem) { command = try operation.init(arguments: given) } catch {
            throw Failure(.usage, error.text, hint: error.hint)
        }
        switch command {
        case var command as SendMessage:
            try complete(&command, invocation)
            return command
        case var command as SendFromVirtualDevice:
            command.data = try pairs(operation, invocation)
            return command
        case var command as AddSender:
            command.key = try KeyInput.key(invocation)
            return command
        case var command as RotateKey:
            command.key = try KeyInput.key(invocation)
            return command
        case var command as SetWebhook:
            command.secret = try KeyInput.secret(invocation)
            return command
        case var command as RotateWebhookSecret:
            command.secret = try KeyInput.secret(invocation)
            return command
        case var command as MakeBackup:
            // A name belongs into the folder that the service has for backups: ccsd finds it.
            if command.path.contains("/") || [".", ".."].contains(command.path) {
                command.path = try absolute(command.path)
            } else {
                command.folder = try absolute(".")
            }
            return command
        case is ReloadConfiguration: return try reload(invocation)
        default: return command
        }
    }

    /// Returns the arguments and options of an invocation that are fields of its operation.
    static func object(_ operation: any OperatorCommand.Type, for invocation: Invocation) -> JSONValue {
        let form = OperationForm.of(operation)
        var members: [JSONValue.Member] = []
        for (field, text) in zip(form.positions, invocation.arguments) {
            members.append(.init(field, .string(text)))
        }
        for (field, flag) in form.flags {
            if let text = invocation.text(flag) { members.append(.init(field, .string(text))) }
        }
        return .object(members)
    }

    /// Adds the payload of a message from the arguments and options.
    private static func complete(_ command: inout SendMessage, _ invocation: Invocation) throws(Failure) {
        let pairs = try pairs(SendMessage.self, invocation)
        if let text = invocation.text("--notification") {
            command.notification = try members(of: text, "--notification")
        }
        // With both raw_data and pairs the server reports the conflict; with raw_data or a notification alone data is omitted.
        let isOther = command.rawData != nil || command.notification != nil || command.message != nil
        if !isOther || !pairs.isEmpty { command.data = pairs }
    }

    /// Returns the members of an object that an option or a file holds.
    private static func members(of text: String, _ source: String) throws(Failure) -> [JSONValue.Member] {
        guard let json = try? JSONValue(parsing: Array(text.utf8).raw), let members = json.members else {
            throw Failure(
                .usage, "\(source) is not a JSON object", hint: "expected {\"title\": \"Hello\"} or similar")
        }
        return members
    }

    /// Returns the reload request, with a certificate and key if their files are given.
    private static func reload(_ invocation: Invocation) throws(Failure) -> ReloadConfiguration {
        let paths = (invocation.text("--certificate"), invocation.text("--private-key"))
        guard paths.0 != nil || paths.1 != nil else { return ReloadConfiguration() }
        guard let certificate = paths.0, let key = paths.1 else {
            throw Failure(
                .usage, "--certificate and --private-key must be given together",
                hint: "give both, or neither")
        }
        return ReloadConfiguration(
            certificate: try TextFile.read(certificate, limit: Limits.Operator.fileBytes).revealed,
            privateKey: try TextFile.read(key, limit: Limits.Operator.fileBytes),
            // Only for error messages: the daemon may be unable to read the files.
            certificateFile: certificate, privateKeyFile: key)
    }

    /// Returns a path for the daemon, whose current folder is another one.
    private static func absolute(_ path: String) throws(Failure) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = unsafe getcwd(nil, 0) else {
            throw Failure(.inputOutput, "the current folder has no path", hint: "give an absolute path")
        }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Returns the payload of a message: the arguments after those that are fields.
    private static func pairs(
        _ operation: any OperatorCommand.Type, _ invocation: Invocation
    ) throws(Failure) -> [JSONValue.Member] {
        var pairs: [JSONValue.Member] = []
        for argument in invocation.arguments.dropFirst(OperationForm.of(operation).positions.count) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "invalid pair \"\(argument)\"",
                    hint: "expected KEY=VALUE, in quotes if it has spaces")
            }
            guard !pairs.contains(where: { $0.key == parts[0] }) else {
                throw Failure(.usage, "duplicate key \"\(parts[0])\"", hint: "give each key once")
            }
            pairs.append(.init(String(parts[0]), .string(String(parts[1]))))
        }
        return pairs
    }
}

import Catalogue

/// Where the configuration comes from, so that SIGHUP can read it again.
public struct ConfigurationSource: Sendable {
    /// The file of `--config`; nil: none.
    var file: String?
    /// Variables of the environment.
    var environment: [(name: String, value: String)] = []
    /// Flags of the command line.
    var flags: [(key: ConfigKey, value: String)] = []

    /// Reads it, now, and keeps what is right beside what is wrong.
    func inspect() -> LoadedConfiguration {
        ConfigLoader.inspect(file: file, environment: environment, flags: flags)
    }

    /// Reads it, now.
    func load() throws(ConfigProblems) -> Configuration {
        try ConfigLoader.load(file: file, environment: environment, flags: flags)
    }
}

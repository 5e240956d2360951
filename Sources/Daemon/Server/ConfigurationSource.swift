import Catalogue

/// The sources of the configuration, from which SIGHUP reloads it.
public struct ConfigurationSource: Sendable {
    /// The file given by `--config`, if any.
    var file: String?
    var environment: [(name: String, value: String)] = []
    var flags: [(key: ConfigKey, value: String)] = []

    /// Loads the configuration with its valid values and all mistakes.
    func inspect() -> LoadedConfiguration {
        ConfigLoader.inspect(file: file, environment: environment, flags: flags)
    }

    /// Loads the configuration, and where its values were given. Throws all mistakes if there are any.
    func load() throws(ConfigProblems) -> LocatedConfiguration {
        let loaded = inspect()
        guard loaded.problems.list.isEmpty else { throw loaded.problems }
        return LocatedConfiguration(values: loaded.configuration, locations: loaded.locations)
    }
}

/// How each peer is started: for maximum performance, with its default guarantees.
///
/// All have one certificate with a key on P-256, TLS 1.2 and 1.3, no rate limits, and log only errors.
enum PeerServers {
    /// The password of all accounts.
    static let password = "bench"

    /// Returns the name of an account.
    static func user(_ number: Int) -> String {
        "u" + Figure.padLeft(String(number), 6, "0")
    }

    /// Starts mosquitto: messages of QoS 1 are kept in memory and saved periodically, up to 100 may be pending for a client.
    static func mosquitto(_ bench: Bench) throws(BenchError) -> PeerProcess {
        try PeerProcess(bench, "mosquitto", .mosquitto) { (place) throws(BenchError) in
            try place.makeFolder("store")
            try place.write(
                "mosquitto.conf",
                """
                listener \(place.port) 127.0.0.1
                certfile \(place.certificate)
                keyfile \(place.key)
                allow_anonymous true
                persistence true
                persistence_location \(place.folder)/store/
                max_inflight_messages 100
                max_queued_messages 0
                set_tcp_nodelay true
                connection_messages false
                log_dest stderr
                log_type error

                """)
            return PeerCommand(arguments: ["-c", place.folder + "/mosquitto.conf"])
        }
    }

    /// Starts NATS without JetStream: nothing is stored or acknowledged. It has one processor.
    static func nats(_ bench: Bench) throws(BenchError) -> PeerProcess {
        try PeerProcess(bench, "nats", .nats) { (place) throws(BenchError) in
            try place.write(
                "nats.conf",
                """
                listen: "127.0.0.1:\(place.port)"
                tls { cert_file: "\(place.certificate)", key_file: "\(place.key)", timeout: 10 }
                ping_interval: "1h"

                """)
            return PeerCommand(
                arguments: ["-c", place.folder + "/nats.conf"], environment: [("GOMAXPROCS", "1")])
        }
    }

    /// Starts Prosody on epoll, with its own file store and `accounts` accounts. With a thousand connections the generational
    /// collector needs a third of the CPU of the default one.
    static func prosody(_ bench: Bench, accounts: Int) throws(BenchError) -> PeerProcess {
        try PeerProcess(bench, "prosody", .prosody) { (place) throws(BenchError) in
            for folder in ["data", "data/localhost", "data/localhost/accounts"] {
                try place.makeFolder(folder)
            }
            for number in 0..<accounts {
                try place.write(
                    "data/localhost/accounts/\(user(number)).dat",
                    "return { [\"password\"] = \"\(password)\"; };\n")
            }
            try place.write(
                "prosody.cfg.lua",
                """
                data_path = "\(place.folder)/data"
                network_backend = "epoll"
                network_settings = { tcp_backlog = 1000 }
                modules_enabled = { "saslauth", "smacks" }
                modules_disabled = { "s2s" }
                authentication = "internal_plain"
                storage = "internal"
                gc = { mode = "generational" }
                interfaces = { "127.0.0.1" }
                c2s_ports = {}
                s2s_ports = {}
                c2s_direct_tls_ports = { \(place.port) }
                c2s_direct_tls_ssl = { certificate = "\(place.certificate)", key = "\(place.key)" }
                log = { { levels = { min = "error" }, to = "console" } }
                VirtualHost "localhost"

                """)
            return PeerCommand(arguments: ["-F", "--config", place.folder + "/prosody.cfg.lua"])
        }
    }

    /// Starts ejabberd with Mnesia and `accounts` accounts, created before it counts as ready.
    ///
    /// It is a node without a name: nothing but its port listens, and no epmd is started. It has one scheduler, which does not
    /// spin while it is idle, since it has one processor.
    static func ejabberd(_ bench: Bench, accounts: Int) throws(BenchError) -> PeerProcess {
        try PeerProcess(bench, "ejabberd", .ejabberd, readyFile: "ready") { (place) throws(BenchError) in
            try place.write(
                "ejabberd.yml",
                """
                loglevel: error
                hosts: [localhost]
                certfiles: ["\(place.both)"]
                auth_method: internal
                auth_password_format: plain
                acme: {auto: false}
                listen:
                  -
                    port: \(place.port)
                    ip: "127.0.0.1"
                    module: ejabberd_c2s
                    backlog: 1000
                    shaper: none
                    access: all
                    tls: true
                    protocol_options: [no_tlsv1, no_tlsv1_1]
                modules:
                  mod_offline: {}
                  mod_stream_mgmt:
                    max_ack_queue: infinity
                    resume_timeout: 0

                """)
            let make =
                "[ok = ejabberd_auth:try_register(list_to_binary(io_lib:format(\"u~6..0b\", [N])), <<\"localhost\">>, "
                + "<<\"\(password)\">>) || N <- lists:seq(0, \(accounts - 1))], ok = file:write_file(\"ready\", <<>>)."
            return PeerCommand(
                arguments: [
                    "-noinput", "+P", "250000", "+K", "true", "+S", "1:1", "+sbwt", "none", "-mnesia", "dir",
                    "\"\(place.folder)/mnesia\"", "-s", "ejabberd", "-eval", make,
                ],
                environment: [
                    ("ERL_LIBS", "/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"),
                    ("ERL_MAX_PORTS", "32000"), ("HOME", place.folder),
                    ("ERL_CRASH_DUMP", place.folder + "/crash.dump"),
                    ("EJABBERD_CONFIG_PATH", place.folder + "/ejabberd.yml"),
                    ("EJABBERD_LOG_PATH", place.folder + "/ejabberd.log"),
                ])
        }
    }
}

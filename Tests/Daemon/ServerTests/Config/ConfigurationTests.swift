import Basics
import Catalogue
import Delivery
import Testing
import Transport
import Wire

@testable import Server

@Suite struct ConfigurationTests {
    @Test("without any setting the configuration has the defaults of the table")
    func defaults() throws {
        let configuration = try ConfigLoader.load()
        #expect(configuration == Configuration())
        #expect(configuration.appServerPort == 5_235)
        #expect(configuration.devicePort == 5_228)
        #expect(configuration.httpsPort == 8_443)
        #expect(configuration.adminPort == nil)
        #expect(configuration.certificateFile == nil)
        #expect(configuration.controlSocket == "./ccs-data/control.sock")
        #expect(configuration.logLevel == .info)
        #expect(configuration.logFormat == .text)
        #expect(configuration.tlsMinimum == .tls12)
        #expect(configuration.pendingWindow == Limits.AppServer.pendingWindow)
    }

    @Test("admin_port takes 0 for a free port like the others, and off, and reports anything else")
    func adminPort() throws {
        #expect(try ConfigKey.adminPort.value(of: "0") == .integer(0))
        #expect(try ConfigKey.adminPort.value(of: "off") == .text("off"))
        var configuration = Configuration()
        configuration[.adminPort] = .integer(0)
        #expect(configuration.adminPort == 0)
        configuration[.adminPort] = .text("off")
        #expect(configuration.adminPort == nil)
        for bad in ["none", "65536", "-1", ""] {
            let mistake = #expect(throws: ConfigMistake.self) { try ConfigKey.adminPort.value(of: bad) }
            #expect(mistake?.hint == "write off, or a port from 0 to 65535", "\(bad)")
        }
    }

    @Test("a typed property has the default and follows its key")
    func fieldsFollowKeys() {
        var configuration = Configuration()
        configuration[.keepaliveSeconds] = .integer(61)
        configuration[.strictAcks] = .boolean(true)
        configuration[.logLevel] = .text("debug")
        configuration[.adminPort] = .integer(9)
        #expect(configuration.keepaliveSeconds == 61)
        #expect(configuration.strictAcks)
        #expect(!configuration.controlMessageID)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.adminPort == 9)
        #expect(configuration != Configuration())
        #expect(configuration.changes(from: Configuration()).count == 4)
    }

    @Test(
        "default rates are those of FCM per minute or hour, 0 disables a rate, and collapsible throttling is off"
    )
    func rates() {
        var configuration = Configuration()
        let rates = configuration.rates
        #expect(rates.deviceShort == Rate(240, perSeconds: 60))
        #expect(rates.deviceLong == Rate(5_000, perSeconds: 3_600))
        #expect(rates.deviceUpstream == Rate(1_000, perSeconds: 60))
        #expect(rates.senderUpstream == Rate(1_500_000, perSeconds: 60))
        #expect(!rates.sender.isLimited && !rates.collapsible.isLimited)
        configuration[.collapsibleBurst] = .integer(20)
        configuration[.deviceMessagesPerHour] = .integer(0)
        configuration[.senderMessagesPerMinute] = .integer(600)
        #expect(configuration.rates.collapsible == Rate(20, perSeconds: 3_600), "one every three minutes")
        #expect(!configuration.rates.deviceLong.isLimited)
        #expect(configuration.rates.sender == Rate(600, perSeconds: 60))
    }

    @Test(
        "check-in settings for browsers have the advertised host and ports, with the digest that browsers compute"
    )
    func advertised() {
        var configuration = Configuration()
        func settings() -> CheckInSettings? { configuration.checkInSettings }
        #expect(settings() == nil)
        configuration[.advertisedHost] = .text("push.example.com")
        configuration[.advertisedDevicePort] = .integer(5_229)
        #expect(
            settings()?.pairs.map(\.name) == [
                "checkin_interval", "gcm_hostname", "gcm_registration_url", "gcm_secure_port",
            ])
        #expect(
            settings()?.pairs.map(\.value) == [
                "172800", "push.example.com", "https://push.example.com:443/c2dm/register3", "5229",
            ])
        // By another implementation of SHA-1.
        #expect(settings()?.digest == "1-209c8b6b5a5dec8bf752140ab305ae712c34bbb8")
        configuration[.advertisedHTTPSPort] = .integer(8_443)
        #expect(settings()?.digest != "1-209c8b6b5a5dec8bf752140ab305ae712c34bbb8")
    }

    @Test("flags override the environment, which overrides the file, which overrides the defaults")
    func precedence() throws {
        let text = "format: 1\ndevice_port: 1001\nhttps_port: 1001\napp_server_port: 1001\n"
        let path = try TemporaryFile(text)
        let environment = [
            (name: "CCSD_HTTPS_PORT", value: "1002"), (name: "CCSD_APP_SERVER_PORT", value: "1003"),
            (name: "HOME", value: "/nowhere"), (name: "CCSD_CONFIG", value: "x"),
        ]
        let configuration = try ConfigLoader.load(
            file: path.path, environment: environment, flags: [(key: .appServerPort, value: "1004")])
        #expect(configuration.devicePort == 1_001)
        #expect(configuration.httpsPort == 1_002)
        #expect(configuration.appServerPort == 1_004)
        #expect(configuration.appServerPreproductionPort == 5_236)
    }

    @Test("a mistake in a flag or variable is reported with its name")
    func mistakesOutsideFiles() {
        let problems = #expect(throws: ConfigProblems.self) {
            try ConfigLoader.load(
                environment: [
                    (name: "CCSD_DEVICE_PROT", value: "1"), (name: "CCSD_STRICT_ACKS", value: "yes"),
                ],
                flags: [(key: .devicePort, value: "70000")])
        }
        #expect(
            problems?.lines == [
                "CCSD_DEVICE_PROT: is not a known setting (did you mean CCSD_DEVICE_PORT?)",
                "CCSD_STRICT_ACKS: \"yes\" is neither true nor false (write true or false)",
                "--device-port: 70000 is out of range (write a port from 0 to 65535)",
            ])
    }

    @Test("variables that Kubernetes makes for a Service are no settings; those that only look alike are")
    func serviceLinks() throws {
        let links = [
            ("CCSD_SERVICE_HOST", "10.0.0.1"), ("CCSD_SERVICE_PORT", "5235"),
            ("CCSD_SERVICE_PORT_HTTPS", "8443"), ("CCSD_PORT", "tcp://10.0.0.1:5235"),
            ("CCSD_ADMIN_PORT", "tcp://10.0.0.2:9100"), ("CCSD_PORT_5235_TCP", "tcp://10.0.0.1:5235"),
            ("CCSD_PORT_5235_TCP_PROTO", "tcp"), ("CCSD_PORT_5235_TCP_PORT", "5235"),
            ("CCSD_PORT_5235_TCP_ADDR", "10.0.0.1"), ("CCSD_PUSH_PORT_53_UDP_ADDR", "10.0.0.3"),
        ].map { (name: $0.0, value: $0.1) }
        let configuration = try ConfigLoader.load(environment: links)
        #expect(configuration == Configuration())
        for (name, value) in [
            ("CCSD_PORT", "5235"), ("CCSD_PORT_X_TCP", "1"), ("CCSD_PORT_5235_ICMP", "1"),
            ("CCSD_PORT_70000_TCP", "1"), ("CCSD_ADMIN_PORT", "http://a"),
        ] {
            let problems = #expect(throws: ConfigProblems.self) {
                try ConfigLoader.load(environment: [(name: name, value: value)])
            }
            #expect(problems?.lines.first?.hasPrefix("\(name): ") == true, "\(name)")
        }
    }

    @Test(
        "the admin port serves other machines only if that is set explicitly",
        arguments: [
            ("127.0.0.1", true), ("127.8.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false), ("::", false), ("192.0.2.1", false), ("::ffff:192.0.2.1", false),
            ("128.0.0.1", false), ("::2", false),
        ])
    func adminAddress(_ address: String, isLoopback: Bool) throws {
        let flags: [(key: ConfigKey, value: String)] = [(.adminAddress, address), (.adminPort, "9100")]
        func lines(_ flags: [(key: ConfigKey, value: String)]) -> [String] {
            do throws(ConfigProblems) {
                _ = try ConfigLoader.load(flags: flags)
                return []
            } catch { return error.lines }
        }
        let expected =
            "--admin-address: \(address) is outside of loopback, but admin_port has neither TLS nor authentication (set admin_plain_http: true if a firewall lets in the monitoring alone, or use 127.0.0.1)"
        #expect(lines(flags) == (isLoopback ? [] : [expected]))
        #expect(lines(flags + [(.adminPlainHTTP, "true")]) == [])
        #expect(lines([(.adminAddress, address)]) == [], "without a port nothing listens")
        #expect(
            lines([(.adminAddress, "localhost")]) == [
                "--admin-address: \"localhost\" is not an address (write an IPv4 or IPv6 address, not a name)"
            ])
    }

    @Test("virtual devices, which send no PROXY header, may not be in proxy_protocol_from")
    func testBenchBehindProxy() throws {
        for (listen, proxies, isRefused) in [
            ("127.0.0.1", "127.0.0.1", true), ("0.0.0.0", "127.0.0.0/8", true), ("::", "::1", true),
            ("0.0.0.0", "127.0.0.2", false), ("10.0.0.1", "10.0.0.0/24", true),
            ("10.0.0.1", "127.0.0.1", false),
        ] {
            var flags: [(key: ConfigKey, value: String)] = [
                (.testBench, "true"), (.listenAddress, listen), (.proxyProtocolFrom, proxies),
            ]
            let load = { try ConfigLoader.load(flags: flags) }
            if isRefused {
                let problems = #expect(throws: ConfigProblems.self) { try load() }
                #expect(problems?.lines.first?.contains("--test-bench: virtual devices") == true)
                flags[0].value = "false"
            }
            #expect(throws: Never.self) { try load() }
        }
    }

    @Test("the test clock needs all listeners on loopback, and no cluster")
    func testClock() throws {
        func lines(_ flags: [(key: ConfigKey, value: String)]) -> [String] {
            do throws(ConfigProblems) {
                _ = try ConfigLoader.load(flags: flags + [(.testClock, "true")])
                return []
            } catch { return error.lines }
        }
        #expect(lines([]) == [])
        #expect(lines([(.listenAddress, "::1"), (.adminAddress, "127.0.0.2"), (.adminPort, "9100")]) == [])
        #expect(
            lines([(.listenAddress, "0.0.0.0")]) == [
                "--test-clock: needs all listeners on loopback, but listen_address is 0.0.0.0 (set listen_address to 127.0.0.1, or test_clock to false)"
            ])
        let admin: [(key: ConfigKey, value: String)] = [
            (.adminAddress, "192.0.2.1"), (.adminPlainHTTP, "true"),
        ]
        #expect(lines(admin) == [], "without a port nothing listens")
        #expect(lines(admin + [(.adminPort, "9100")]).first?.contains("admin_address is 192.0.2.1") == true)
        #expect(lines([(.clusterDirectory, "/c")]).first?.contains("cannot be used in a cluster") == true)
    }

    @Test("a reload applies reloadable keys and keeps the others")
    func reload() {
        var newer = Configuration()
        newer[.logLevel] = .text("debug")
        newer[.devicePort] = .integer(1)
        let reloaded = Configuration().reloaded(from: newer)
        #expect(reloaded.logLevel == .debug)
        #expect(reloaded.devicePort == 5_228)
    }

    @Test("a check reports missing files, bad permissions and a socket path that is too long")
    func check() throws {
        var configuration = Configuration()
        configuration[.certificateFile] = .text("/nonexistent/certificate.pem")
        let key = try TemporaryFile("key", mode: 0o644)
        configuration[.keyFile] = .text(key.path)
        configuration[.dataDirectory] = .text(key.path)
        configuration[.controlSocket] = .text("/" + String(repeating: "x", count: 107))
        for port in [ConfigKey.appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort] {
            configuration[port] = .integer(0)
        }
        let findings = configuration.check()
        #expect(findings.map(\.key) == [.dataDirectory, .certificateFile, .keyFile, .controlSocket])
        #expect(findings.map(\.isError) == [true, true, false, true])
    }

    @Test(
        "every allowed tls_minimum is a TLS version of the listeners, and a check warns of deprecated ones")
    func tlsVersions() throws {
        guard case .choice(let words) = ConfigKey.tlsMinimum.entry.type else {
            Issue.record("tls_minimum is not a choice")
            return
        }
        #expect(words == TLSVersion.allCases.map(\.rawValue))
        let warned = words.filter { word in
            var configuration = Configuration()
            configuration[.tlsMinimum] = .text(word)
            #expect(configuration.tlsMinimum.rawValue == word)
            return configuration.check().contains { $0.key == .tlsMinimum && !$0.isError }
        }
        #expect(warned == ["1.0", "1.1"])
    }

    @Test("canary: configurations that differ in one key are not equal")
    func canary() {
        var changed = Configuration()
        changed[.reserveGCMPrefix] = .boolean(true)
        #expect(changed != Configuration())
    }
}

extension Configuration {
    /// Checks the configuration without the locations of its values.
    fileprivate func check() -> [ConfigFinding] {
        var check = ConfigCheck(
            LoadedConfiguration(configuration: self), running: nil, now: Now.read().wall)
        return check.run()
    }
}

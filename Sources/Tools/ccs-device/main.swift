import Catalogue
import Client
import Glibc

StandardOutput.begin()
exit(StandardOutput.end(Tool.main(Array(CommandLine.arguments.dropFirst())).rawValue, of: "ccs-device"))

import Catalogue
import Glibc

exit(Tool.main(Array(CommandLine.arguments.dropFirst())).rawValue)

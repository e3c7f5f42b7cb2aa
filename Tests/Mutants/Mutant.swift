#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Says which of the mutants in this copy acts: the one that the environment named when the process started, or none.
/// `Tools/mutants` puts this file into each module of its copy that has mutants; the modules themselves have no such thing.
package enum Mutant {
  private static let active = unsafe getenv("CAIRN_MUTANT").map { unsafe Array(String(cString: $0).utf8) } ?? []

  package static func isActive(_ name: StaticString) -> Bool {
    guard !active.isEmpty else { return false }
    return name.withUTF8Buffer { unsafe $0.elementsEqual(active) }
  }
}

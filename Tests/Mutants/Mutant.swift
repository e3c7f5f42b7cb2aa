#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells which mutant is active in this copy: the one that the environment named when the process started, or none.
/// `Tools/mutants` puts this file into each module of its copy that has mutants; the original modules do not contain
/// it.
package enum Mutant {
  private static let active = unsafe getenv("CAIRN_MUTANT").map { unsafe Array(String(cString: $0).utf8) } ?? []

  package static func isActive(_ name: StaticString) -> Bool {
    guard !active.isEmpty else { return false }
    return name.withUTF8Buffer { unsafe $0.elementsEqual(active) }
  }
}

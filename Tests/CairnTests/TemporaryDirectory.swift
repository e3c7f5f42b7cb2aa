import Cairn
import CairnSimulation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
  let directory = try makeTemporaryDirectory()
  defer { removeDirectory(directory) }
  try body(directory)
}

func makeTemporaryDirectory() throws -> String {
  var template = Array("/tmp/cairn-XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { throw FileError(.system(errno), "mkdtemp", "/tmp") }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a directory with all that is in it.
func removeDirectory(_ path: String) {
  for name in (try? SystemFileLayer().list(path)) ?? [] { removeDirectory("\(path)/\(name)") }
  try? SystemFileLayer().remove(path)
}

import Foundation
import Testing

@testable import catalogue

@Suite("Package files")
struct PackageFileTests {
  private static let sample = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../../Tools/catalogue/Sample").standardizedFileURL
  private static let text = sample.appending(path: "debian_bookworm_main_binary-amd64_Packages").path
  private static let frame = text + ".lz4"

  private func contents(_ path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try PackageFile(path).read { text, _ in
      for index in text.indices { bytes.append(text[index]) }
    }
    return bytes
  }

  /// Runs `body` with a file that holds `bytes`.
  private func withFile(
    _ bytes: [UInt8], named name: String = "x_Packages", _ body: (_ path: String) throws -> Void
  ) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "catalogue-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: name)
    try Data(bytes).write(to: file)
    try body(file.path)
  }

  @Test("The sample reads the same as text and as an LZ4 frame.")
  func sample() throws {
    let text = try contents(Self.text)
    #expect(text == Array(try Data(contentsOf: URL(filePath: Self.text))))
    #expect(try contents(Self.frame) == text)

    var packages: [DebianPackage] = []
    var parser = StanzaParser(file: Self.text)
    func take(_ stanza: Stanza) throws { packages.append(try DebianPackage(stanza, file: Self.text)) }
    try parser.parse(text.span, take)
    try parser.finish(take)
    #expect(packages.count == 150)
    #expect(packages.contains { $0.name == "libc6" })
    let dependents = packages.count { package in package.dependencies.contains { $0.target == "libc6" } }
    #expect(dependents > 50)
  }

  @Test("A file may consist of several frames.")
  func manyFrames() throws {
    let frame = Array(try Data(contentsOf: URL(filePath: Self.frame)))
    let text = try contents(Self.text)
    try withFile(frame + frame) { path in
      let twice = try contents(path)
      #expect(twice == text + text)
    }
  }

  @Test("A frame that is cut off anywhere is an error.", arguments: [0, 3, 4, 7, 11, 500, -4, -1])
  func truncated(length: Int) throws {
    let frame = Array(try Data(contentsOf: URL(filePath: Self.frame)))
    let cut = Array(frame.prefix(length < 0 ? frame.count + length : length))
    try withFile(cut, named: "x_Packages.lz4") { path in
      #expect(throws: PackageFileError.truncatedFrame(path)) { try contents(path) }
    }
  }

  @Test("A frame with a wrong byte is an error.")
  func damaged() throws {
    var frame = Array(try Data(contentsOf: URL(filePath: Self.frame)))
    frame[frame.count - 1] ^= 1
    try withFile(frame) { path in
      #expect(throws: PackageFileError.self) { try contents(path) }
    }
    try withFile(Array("Package: a\n".utf8), named: "x_Packages.lz4") { path in
      #expect(throws: PackageFileError.badFrame(path, reason: "ERROR_frameType_unknown")) { try contents(path) }
    }
  }

  @Test("A file that cannot be read is an error that says why.")
  func unreadable() throws {
    #expect(throws: PackageFileError.unreadable("/nowhere/x", errno: ENOENT)) { try PackageFile("/nowhere/x") }
    #expect(throws: PackageFileError.notAFile("/")) { try PackageFile("/") }
    try withFile([0x1F, 0x8B, 8, 0]) { path in
      #expect(throws: PackageFileError.unsupported(path, format: "gzip")) { try contents(path) }
    }
    let error = PackageFileError.noCatalogue(directory: "/nowhere")
    #expect(throws: error) { try PackageFile.ofThisMachine(in: "/nowhere") }
    #expect(error.description.contains("apt-get update"))
  }

  @Test("If a catalogue exists as text and as a frame, the text is read.")
  func machine() throws {
    try withFile([], named: "a_Packages") { path in
      let directory = URL(filePath: path).deletingLastPathComponent().path
      for name in ["a_Packages.lz4", "b_Packages.lz4", "c_Packages.gz", "InRelease"] {
        try Data().write(to: URL(filePath: "\(directory)/\(name)"))
      }
      let names = try PackageFile.ofThisMachine(in: directory).map { URL(filePath: $0.path).lastPathComponent }
      #expect(names == ["a_Packages", "b_Packages.lz4"])
    }
  }
}

import Foundation
import OpenCoreData
import Testing

@Suite("Folders of model files")
struct FolderTests {
  private func write(_ text: String, to path: String, in folder: URL) throws {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func model(_ entity: String) -> String { "<model><entity name=\"\(entity)\"/></model>" }

  private func note(_ name: String) -> String {
    "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
  }

  private func entity(_ url: URL) throws -> String? {
    try NSManagedObjectModel(modelFileAt: url).entities.first?.name
  }

  @Test("The version that is marked as current is read, and any other by its own path.")
  func versions() throws {
    try Fixtures.withFolder { folder in
      let models = folder.appending(path: "M.xcdatamodeld")
      try write(model("One"), to: "M.xcdatamodel/contents", in: models)
      try write(model("Two"), to: "M 2.xcdatamodel/contents", in: models)
      #expect(try entity(models) == "One")
      try write(note("M 2.xcdatamodel"), to: ".xccurrentversion", in: models)
      #expect(try entity(models) == "Two")
      #expect(try entity(models.appending(path: "M.xcdatamodel")) == "One")
      #expect(try entity(models.appending(path: "M.xcdatamodel/contents")) == "One")
    }
  }

  @Test("A single version needs no mark as current, and several with other names do.")
  func withoutNote() throws {
    try Fixtures.withFolder { folder in
      let models = folder.appending(path: "M.xcdatamodeld")
      try write(model("One"), to: "A.xcdatamodel/contents", in: models)
      #expect(try entity(models) == "One")
      try write(model("Two"), to: "B.xcdatamodel/contents", in: models)
      let error = try #require(throws: ModelFileError.self) { try entity(models) }
      #expect(error.reason == "nothing says which of the 2 versions is the current one")
      #expect(error.line == nil && error.description == "\(error.file): \(error.reason)")
    }
  }

  @Test("A mark that names no version is ignored with a warning.")
  func emptyNote() throws {
    try Fixtures.withFolder { folder in
      let models = folder.appending(path: "M.xcdatamodeld")
      let note = models.appending(path: ".xccurrentversion")
      try write(model("Two"), to: "M 2.xcdatamodel/contents", in: models)
      try write("<plist version=\"1.0\"><dict/></plist>", to: ".xccurrentversion", in: models)
      #expect(try entity(models) == "Two")
      try write(model("Three"), to: "M 3.xcdatamodel/contents", in: models)
      let error = try #require(throws: ModelFileError.self) { try entity(models) }
      #expect(error.reason == "nothing says which of the 2 versions is the current one")
      try write(model("One"), to: "M.xcdatamodel/contents", in: models)
      let read = try NSManagedObjectModel(modelFileAt: models)
      #expect(read.entities.first?.name == "One")
      let warning = try #require(read.fileWarnings.first)
      #expect(read.fileWarnings.count == 1 && warning.file == note.path && warning.line == nil)
      #expect(warning.reason == "there is no _XCCurrentVersionName; \"M.xcdatamodel\" is assumed")
      #expect(warning.description == "\(note.path): warning: \(warning.reason)")
    }
  }

  @Test("A mark that cannot be read is refused, although the version could be guessed.")
  func unreadableNote() throws {
    try Fixtures.withFolder { folder in
      let models = folder.appending(path: "M.xcdatamodeld")
      try write(model("One"), to: "M.xcdatamodel/contents", in: models)
      let note = models.appending(path: ".xccurrentversion")
      try FileManager.default.createDirectory(at: note, withIntermediateDirectories: false)
      let error = try #require(throws: ModelFileError.self) { try entity(models) }
      #expect(error.file == note.path && error.reason == "this file cannot be read")
    }
  }

  @Test("Missing and unsuitable files are refused with a reason.")
  func unsuitable() throws {
    try Fixtures.withFolder { folder in
      func reason(_ path: String) throws -> String {
        try #require(throws: ModelFileError.self) { try entity(folder.appending(path: path)) }.reason
      }
      #expect(try reason("none.xcdatamodeld") == "there is no model that can be read")
      try write("", to: "Empty.xcdatamodeld/readme", in: folder)
      #expect(try reason("Empty.xcdatamodeld").hasPrefix("there is no version of a model"))
      try write("", to: "Old.xcdatamodel/elements", in: folder)
      #expect(try reason("Old.xcdatamodel").contains("binary format of Xcode 3"))
      try write("", to: "Odd.xcdatamodel/readme", in: folder)
      #expect(try reason("Odd.xcdatamodel").hasPrefix("there is no file named contents"))
      try write(model("One"), to: "M.xcdatamodeld/M.xcdatamodel/contents", in: folder)
      try write(note("M 3.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion", in: folder)
      #expect(try reason("M.xcdatamodeld") == "there is no version \"M 3.xcdatamodel\"")
      try write("current: M", to: "M.xcdatamodeld/.xccurrentversion", in: folder)
      #expect(try reason("M.xcdatamodeld").hasPrefix("this is no property list"))
      #expect(NSManagedObjectModel(contentsOf: folder.appending(path: "M.xcdatamodeld")) == nil)
    }
  }

  @Test("The models of bundles are merged, and all versions are searched for a store's model.")
  func bundles() throws {
    try Fixtures.withFolder { folder in
      try write(model("One"), to: "M.xcdatamodeld/M.xcdatamodel/contents", in: folder)
      try write(
        "<model><entity name=\"One\" versionHashModifier=\"2\"/></model>",
        to: "M.xcdatamodeld/M 2.xcdatamodel/contents",
        in: folder)
      try write(note("M 2.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion", in: folder)
      try write(model("Other"), to: "N.xcdatamodel/contents", in: folder)
      let bundle = try #require(Bundle(path: folder.path))
      let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
      #expect(merged.entitiesByName.keys.sorted() == ["One", "Other"])
      #expect(merged.entitiesByName["One"]?.versionHashModifier == "2")

      let old = try NSManagedObjectModel(modelFileAt: folder.appending(path: "M.xcdatamodeld/M.xcdatamodel"))
      let metadata = ["NSStoreModelVersionHashes": old.entityVersionHashesByName]
      #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata) == old)

      try write("<model>", to: "N.xcdatamodel/contents", in: folder)
      #expect(NSManagedObjectModel.mergedModel(from: [bundle]) == nil)
      try write("", to: "M.xcdatamodeld/M 0.xcdatamodel/elements", in: folder)
      #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata) == old)
    }
  }

  @Test("A model reference finds its version by name, by hashes, by file, or as the model itself.")
  func references() throws {
    try Fixtures.withFolder { folder in
      try write(model("One"), to: "M.xcdatamodeld/M.xcdatamodel/contents", in: folder)
      try write(model("Two"), to: "M.xcdatamodeld/M 2.xcdatamodel/contents", in: folder)
      let bundle = try #require(Bundle(path: folder.path))
      let file = folder.appending(path: "M.xcdatamodeld/M 2.xcdatamodel")
      let two = try NSManagedObjectModel(modelFileAt: file)
      let checksum = two.versionChecksum
      let references = [
        NSManagedObjectModelReference(model: two, versionChecksum: checksum),
        NSManagedObjectModelReference(fileURL: file, versionChecksum: checksum),
        NSManagedObjectModelReference(name: "M 2", in: bundle, versionChecksum: checksum),
        NSManagedObjectModelReference(
          entityVersionHashes: two.entityVersionHashesByName, in: bundle, versionChecksum: checksum),
      ]
      for reference in references { #expect(reference.resolvedModel == two) }
    }
  }

  @Test("Following a reference to another version than was meant ends the program.")
  func wrongReference() async {
    await #expect(processExitsWith: .failure) {
      _ = NSManagedObjectModelReference(model: NSManagedObjectModel(), versionChecksum: "other").resolvedModel
    }
  }
}

import ArgumentParser
import Foundation
import OpenCoreData
import Testing

@testable import modelgen

@Suite("modelgen")
struct ModelgenTests {
  private static let generated = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Generated").standardizedFileURL

  private func run(_ arguments: String...) throws {
    var command = try Modelgen.parseAsRoot(arguments)
    try command.run()
  }

  private func names(in folder: URL) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
  }

  @Test("modelgen writes the classes that are compiled into these tests.")
  func golden() throws {
    try Fixtures.withFolder { folder in
      for name in ["Diary.xcdatamodeld", "Fleet.xcdatamodel", "Library.xcdatamodeld"] {
        try run(Fixtures.models.appending(path: name).path, "--output", folder.path, "--access", "internal")
      }
      #expect(try names(in: folder) == names(in: Self.generated))
      for name in try names(in: folder) {
        let written = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let compiled = try String(contentsOf: Self.generated.appending(path: name), encoding: .utf8)
        #expect(written == compiled)
      }
    }
  }

  @Test("modelgen writes the requested entities, with the requested access level.")
  func choice() throws {
    try Fixtures.withFolder { folder in
      let model = Fixtures.models.appending(path: "Fleet.xcdatamodel").path
      try run(model, "-o", folder.path, "--entity", "Ship")
      #expect(try names(in: folder) == ["Ship+CoreDataClass.swift", "Ship+CoreDataProperties.swift"])
      let text = try String(contentsOf: folder.appending(path: "Ship+CoreDataClass.swift"), encoding: .utf8)
      #expect(text.contains("\npublic import CoreData\n") && text.contains("\npublic class Ship: NSManagedObject {}"))
    }
  }

  @Test("modelgen prints its assumptions about a model, and writes the classes.")
  func warnings() throws {
    try Fixtures.withFolder { folder in
      let (process, errors) = (Process(), Pipe())
      process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "modelgen")
      process.arguments = [Fixtures.models.appending(path: "Attic.xcdatamodeld").path, "-o", folder.path]
      process.standardError = errors
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let told = try errors.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try Fixtures.atticWarnings() == String(decoding: told, as: UTF8.self))
      #expect(try names(in: folder).contains("AtticBox+CoreDataClass.swift"))
    }
  }

  @Test("modelgen replaces no file that it did not write unless forced, and then writes nothing.")
  func foreignFile() throws {
    try Fixtures.withFolder { folder in
      let model = Fixtures.models.appending(path: "Fleet.xcdatamodel").path
      let own = folder.appending(path: "Ship+CoreDataProperties.swift")
      try Data("// mine".utf8).write(to: own)
      #expect(throws: ExitCode(1)) { try run(model, "-o", folder.path) }
      #expect(try names(in: folder) == [own.lastPathComponent])
      try run(model, "-o", folder.path, "--force")
      #expect(try names(in: folder).count == 4)
      #expect(try String(contentsOf: own, encoding: .utf8).hasPrefix("// Written by modelgen"))
    }
  }

  @Test("modelgen does not touch files that have not changed.")
  func unchanged() throws {
    try Fixtures.withFolder { folder in
      let output = OutputFolder(url: folder)
      var file = SourceFile(name: "A.swift", entity: "A")
      file.write("class A {}")
      let first = try output.write([file], force: false)
      let second = try output.write([file], force: false)
      file.write("class B {}")
      let third = try output.write([file], force: false)
      #expect(first == 1 && second == 0 && third == 1)
    }
  }

  @Test("modelgen ends with 2 for an unreadable model, 1 for an unwritable folder, and 64 for wrong arguments.")
  func status() throws {
    try Fixtures.withFolder { folder in
      let model = Fixtures.models.appending(path: "Fleet.xcdatamodel").path
      #expect(throws: ExitCode(2)) { try run(folder.appending(path: "none.xcdatamodel").path, "-o", folder.path) }
      #expect(throws: ExitCode(2)) { try run(model, "-o", folder.path, "--entity", "Submarine") }
      let bare = folder.appending(path: "contents")
      try Data(#"<model><entity name="A"/></model>"#.utf8).write(to: bare)
      #expect(throws: ExitCode(2)) { try run(bare.path, "-o", folder.path, "--entity", "A") }
      try FileManager.default.removeItem(at: bare)
      #expect(try names(in: folder).isEmpty)
      let file = folder.appending(path: "file")
      try Data().write(to: file)
      #expect(throws: ExitCode(1)) { try run(model, "-o", file.path) }
    }
    for arguments in [[], ["m"], ["m", "--output", ""], ["m", "-o", "o", "--access", "secret"]] {
      let error = try #require(throws: (any Error).self) { try Modelgen.parse(arguments) }
      #expect(Modelgen.exitCode(for: error).rawValue == 64)
    }
  }

  private func reason(_ lines: String...) throws -> String {
    try Fixtures.withFolder { folder in
      let file = folder.appending(path: "contents")
      try Data((["<model>"] + lines + ["</model>"]).joined(separator: "\n").utf8).write(to: file)
      let error = try #require(throws: ModelProblem.self) {
        try ModelClasses(of: ModelSource(at: file), entities: [])
      }
      return error.description.replacing(file.path, with: "contents")
    }
  }

  @Test("modelgen refuses names that no property or class can have, with their line.")
  func names() throws {
    let entity = #"<entity name="A" representedClassName="A">"#
    #expect(
      try reason(entity, #"<attribute name="a-b" attributeType="String"/></entity>"#)
        == "contents:3: \"a-b\" is not a valid name in Swift")
    #expect(
      try reason(#"<entity name="A" representedClassName="1A"/>"#) == "contents:2: \"1A\" is not a valid name in Swift")
  }

  /// The names of the classes' entities and attributes, and the warnings.
  private func written(_ lines: String...) throws -> (names: [String], warnings: [String]) {
    try Fixtures.withFolder { folder in
      let file = folder.appending(path: "contents")
      try Data((["<model>"] + lines + ["</model>"]).joined(separator: "\n").utf8).write(to: file)
      let source = try ModelSource(at: file)
      let classes = try ModelClasses(of: source, entities: []).classes
      return (
        classes.flatMap { [$0.entityName] + $0.attributes.map(\.name) },
        source.warnings.map { $0.description.replacing(file.path, with: "contents") }
      )
    }
  }

  @Test("modelgen omits with a warning what it cannot write, and writes the rest.")
  func leftOut() throws {
    let attribute = #"<attribute name="title" attributeType="String"/>"#
    let taken = try written(
      #"<entity name="A" representedClassName="A">"#, attribute,
      #"<attribute name="isDeleted" attributeType="Boolean"/></entity>"#)
    #expect(taken.names == ["A", "title"])
    #expect(
      taken.warnings == [
        "contents:4: warning: every managed object has a property \"isDeleted\"; the model's property is omitted, use its key"
      ])

    let shared = try written(
      #"<entity name="B" representedClassName=".A"/>"#, #"<entity name="A" representedClassName="A">"#, attribute,
      "</entity>", #"<entity name="C" representedClassName="A"/>"#)
    #expect(shared.names == ["A", "title"])
    #expect(
      shared.warnings
        == [2, 6].map {
          "contents:\($0): warning: the entity is omitted: its class A is written for the entity \"A\""
        })

    let none = try written(#"<entity name="A"/>"#)
    #expect(none.names.isEmpty)
    #expect(none.warnings == ["contents:1: warning: no entity has a class of its own; nothing is written"])
  }

  @Test("modelgen accepts any text as the name of an entity.")
  func entityNames() throws {
    try Fixtures.withFolder { folder in
      let file = folder.appending(path: "contents")
      let text = #"<model><entity name="a&quot;\(b)&#10;&#x202E;ä" representedClassName="A"/></model>"#
      try Data(text.utf8).write(to: file)
      let files = try ModelClasses(of: ModelSource(at: file), entities: []).files(access: .public)
      for file in files { #expect(file.text.contains(#" for the entity a\"\\(b)\u{A}\u{202E}ä. Changes will"#)) }
      #expect(files[1].text.contains(#"NSFetchRequest<A>(entityName: "a\"\\(b)\u{A}\u{202E}ä")"#))
    }
  }

  @Test("modelgen quotes keywords, and accepts a number as a date.")
  func words() throws {
    try Fixtures.withFolder { folder in
      let file = folder.appending(path: "contents")
      let text = """
        <model><entity name="A" representedClassName="A">
        <attribute name="default" attributeType="Date" usesScalarValueType="YES"/>
        <attribute name="id" attributeType="Transformable"/>
        </entity></model>
        """
      try Data(text.utf8).write(to: file)
      let files = try ModelClasses(of: ModelSource(at: file), entities: []).files(access: .public)
      #expect(files[1].text.contains("@NSManaged public var `default`: TimeInterval\n"))
      #expect(
        files[1].text.contains(
          "set { setAttributeValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: \"default\")"))
      #expect(!files[1].text.contains("Identifiable"))
    }
  }
}

import ArgumentParser
import Foundation
import OpenCoreData

/// Writes managed-object classes for a model in Xcode's format. Reads the whole model before it writes any file; each
/// file is replaced as a whole.
@main
struct Modelgen: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "modelgen",
    abstract: "Writes the managed-object classes of a model, as Xcode does, for Apple's platforms and for others.",
    discussion: """
      Reads MODEL, an .xcdatamodeld (its current version), an .xcdatamodel, or the XML file in one, and writes two files \
      for each entity that has a class of its own: Name+CoreDataClass.swift with the class, unless the entity says \
      Category/Extension, and Name+CoreDataProperties.swift with its properties. On Apple's platforms these are the \
      declarations that Xcode writes; elsewhere the same properties go through value(forKey:).

      What has no meaning in the model, although the rest has one without it, is told on standard error as a warning: file, \
      line, and what was assumed. So are properties that managed objects have already, and entities that share the class of \
      another: they are left out.

      A file that modelgen did not write stays as it is, and then nothing is written, unless --force is given.

      Examples:
        modelgen Library.xcdatamodeld --output Sources/App/Model
        modelgen Library.xcdatamodeld -o Model --entity Book --entity Author
        modelgen Library.xcdatamodeld/Old.xcdatamodel -o Old --access internal

      Exit status: 0 done, 1 a file cannot be written, 2 the model cannot be read, or a class cannot be written, 64 wrong arguments.
      """)

  @Argument(help: ArgumentHelp("The model.", valueName: "model"))
  var model: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The folder for the files; made if it is missing.", valueName: "folder"))
  var output: String

  @Option(help: ArgumentHelp("An entity to write the class of; may be repeated. All unless given.", valueName: "name"))
  var entity: [String] = []

  @Option(help: "Who may use the classes.")
  var access = Access.public

  @Flag(help: "Replace files that modelgen did not write.")
  var force = false

  func validate() throws {
    guard !model.isEmpty else { throw ValidationError("The model needs a path.") }
    guard !output.isEmpty else { throw ValidationError("--output needs the path of a folder.") }
  }

  func run() throws {
    do {
      let source = try ModelSource(at: URL(filePath: model))
      defer {
        for warning in source.warnings { FileHandle.standardError.write(Data("\(warning)\n".utf8)) }
      }
      let classes = try ModelClasses(of: source, entities: entity)
      let files = classes.files(access: access)
      let written = try OutputFolder(url: URL(filePath: output)).write(files, force: force)
      print("\(files.count) files in \(output), \(written) of them new or changed")
    } catch {
      FileHandle.standardError.write(Data("modelgen: \(error)\n".utf8))
      throw ExitCode(error is OutputError ? 1 : 2)
    }
  }
}

/// Who may use the generated declarations.
enum Access: String, CaseIterable, ExpressibleByArgument {
  case `public`, `internal`

  /// The access modifier before a declaration.
  var keyword: String { self == .public ? "public " : "" }
}

import ArgumentParser
import Foundation
import OpenCoreData

/// Writes managed-object classes for a model in Xcode's format. Reads the whole model before it writes any file; each
/// file is replaced as a whole.
@main
struct Modelgen: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "modelgen",
    abstract: "Writes the managed-object classes of a model, as Xcode does, for Apple's and other platforms.",
    discussion: """
      Reads MODEL, an .xcdatamodeld (its current version), an .xcdatamodel, or the XML file in one, and writes two \
      files for each entity that has a class of its own: Name+CoreDataClass.swift with the class, unless the entity's \
      code generation is Category/Extension, and Name+CoreDataProperties.swift with its properties. On Apple's \
      platforms these are the declarations that Xcode writes; elsewhere the same properties read and set values by \
      their keys.

      A part of the model that has no meaning, and without which the rest is valid, causes a warning on standard error \
      with the file, the line and the assumption made. Properties that all managed objects already have, and entities \
      that share the class of another entity, cause warnings too, and are omitted.

      If one of the files exists and modelgen did not write it, nothing is written, unless --force is given.

      Examples:
        modelgen Library.xcdatamodeld --output Sources/App/Model
        modelgen Library.xcdatamodeld -o Model --entity Book --entity Author
        modelgen Library.xcdatamodeld/Old.xcdatamodel -o Old --access internal

      Exit status: 0 success, 1 a file cannot be written, 2 the model cannot be read, or a class cannot be generated, \
      64 wrong arguments.
      """)

  @Argument(help: ArgumentHelp("The model.", valueName: "model"))
  var model: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The folder for the files, created if it does not exist.", valueName: "folder"))
  var output: String

  @Option(help: ArgumentHelp("An entity whose class to write; may be repeated. Default: all.", valueName: "name"))
  var entity: [String] = []

  @Option(help: "The access level of the classes.")
  var access = Access.public

  @Flag(help: "Replace files that modelgen did not write.")
  var force = false

  func validate() throws {
    guard !model.isEmpty else { throw ValidationError("The path of the model must not be empty.") }
    guard !output.isEmpty else { throw ValidationError("--output requires the path of a folder.") }
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
